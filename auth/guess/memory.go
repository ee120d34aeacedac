package guess

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// Memory is what is known of users and addresses beside what they owe. It is
// of this process: another one meets a user's address anew.
type Memory struct {
	secret []byte
	now    func() time.Duration
	// trusted are the pairs of a user and an address of his; failing count the
	// failures in a row of a pair; tried are the pairs of an address and whom
	// it tried in vain, passwords those of a password and whom it did not fit.
	trusted, failing, tried, passwords *book
}

// Known counts what a Memory holds, and what it gave up for room.
type Known struct {
	Trusted, Failing, Tried, Passwords int
	Evicted                            uint64
}

// Sizes bound what a Memory holds: at most about so many marks of each kind,
// 10,000 where a number is zero.
type Sizes struct{ Trusted, Failing, Tried int }

const usual = 10_000

// NewMemory makes an empty one. A clock that is nil is ratelimit.Monotonic.
func NewMemory(s Sizes, now func() time.Duration) *Memory {
	if now == nil {
		now = ratelimit.Monotonic
	}
	book := func(most int) *book {
		if most == 0 {
			most = usual
		}
		return newBook(most)
	}
	return &Memory{
		secret: []byte(uuid.Hex() + uuid.Hex()), now: now,
		trusted: book(s.Trusted), failing: book(s.Failing), tried: book(s.Tried), passwords: book(s.Tried),
	}
}

// Known counts what is held now.
func (m *Memory) Known() Known {
	var k Known
	into := map[string]*int{"trusted": &k.Trusted, "failing": &k.Failing, "tried": &k.Tried, "passwords": &k.Passwords}
	m.Each(func(kind string, marks int, evicted uint64) {
		*into[kind], k.Evicted = marks, k.Evicted+evicted
	})
	return k
}

// Each counts by kind: trusted, failing, tried, passwords.
func (m *Memory) Each(f func(kind string, marks int, evicted uint64)) {
	for _, b := range []struct {
		kind string
		book *book
	}{{"trusted", m.trusted}, {"failing", m.failing}, {"tried", m.tried}, {"passwords", m.passwords}} {
		marks, evicted := b.book.len()
		f(b.kind, marks, evicted)
	}
}

// mark is the keyed hash of texts: nobody can find two that share it, and it
// shows no name in a dump of the memory.
func (m *Memory) mark(texts ...string) (k mark) {
	mac := hmac.New(sha256.New, m.secret)
	for _, t := range texts {
		mac.Write([]byte(t))
		mac.Write([]byte(between))
	}
	copy(k[:], mac.Sum(nil))
	return k
}

// markOf is the mark of somebody at a place. Its first half is the same for all
// places of his, so that his marks can be found again.
func (m *Memory) markOf(who, place string) (k mark) {
	owner, both := m.mark(who), m.mark(who, place)
	copy(k[:ownerBytes], owner[:])
	copy(k[ownerBytes:], both[:])
	return k
}

// noted tells whether a mark is in a book, noteFor notes it there and counts how
// often it was. The pages are by the second half: the marks of one who is tried
// from everywhere are on all of them.
func (m *Memory) noted(b *book, k mark) bool { return b.count(int(k[ownerBytes]), k, m.now()) > 0 }

func (m *Memory) noteFor(b *book, k mark, d time.Duration) uint32 {
	now := m.now()
	return b.note(int(k[ownerBytes]), k, now, now+d)
}

// page is the one on which all pairs of a trusted user stand: whoever may log in
// himself, and so can fill a page from many addresses, pushes out the marks of
// an eighth of the users at most.
func (k mark) page() int { return int(k[0]) }

// network is an address as a limiter cuts it.
func network(l *ratelimit.Limiter, addr netip.Addr) string {
	k := l.Address(addr).Bytes()
	return string(k[:])
}
