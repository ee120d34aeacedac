package guess

import (
	"sync"
	"time"
)

// pages is into how many parts a book is cut. Each has a lock and a bound of
// its own.
const pages = 8

// mark is what a book notes something under: a keyed hash of one size, in which
// so many bytes may be those of whom it is about.
type mark [16]byte

const ownerBytes = 8

// book notes marks, each for a time and with a count, and at most so many:
// of a full page the mark that was noted least recently goes.
type book struct {
	page [pages]page
}

type page struct {
	mu      sync.Mutex
	index   map[mark]int32
	entries []entry // the first is the head of the ring, and of what is free
	free    int32
	room    int
	evicted uint64
}

// entry is a link of the ring that goes from the newest to the oldest.
type entry struct {
	mark         mark
	until        time.Duration
	count        uint32
	newer, older int32
}

// newBook makes a book of at most about so many marks.
func newBook(most int) *book {
	b := &book{}
	for i := range b.page {
		b.page[i] = page{index: map[mark]int32{}, entries: make([]entry, 1), room: max(most/pages, 1)}
	}
	return b
}

// count is how often a mark was noted without being forgotten; zero when its
// time is over.
func (b *book) count(at int, m mark, now time.Duration) uint32 {
	p := &b.page[at%pages]
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.index[m]
	if !ok || p.entries[i].until <= now {
		return 0
	}
	return p.entries[i].count
}

// note counts a mark, which is then kept until the time given, and tells its
// count.
func (b *book) note(at int, m mark, now, until time.Duration) uint32 {
	p := &b.page[at%pages]
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.index[m]
	switch {
	case !ok:
		i = p.take()
		p.index[m] = i
		p.entries[i].mark, p.entries[i].count = m, 0
	case p.entries[i].until <= now:
		p.entries[i].count = 0
		p.unlink(i)
	default:
		p.unlink(i)
	}
	p.link(i)
	e := &p.entries[i]
	e.until = until
	if e.count < 1<<31 {
		e.count++
	}
	return e.count
}

// forget gives a mark up.
func (b *book) forget(at int, m mark) {
	p := &b.page[at%pages]
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, ok := p.index[m]; ok {
		p.drop(i)
	}
}

// forgetOf gives up all marks that have the first half of this one.
func (b *book) forgetOf(owner mark) {
	for n := range b.page {
		p := &b.page[n]
		p.mu.Lock()
		for m, i := range p.index {
			if [ownerBytes]byte(m[:]) == [ownerBytes]byte(owner[:]) {
				p.drop(i)
			}
		}
		p.mu.Unlock()
	}
}

// len counts the marks, and those that had to go for others.
func (b *book) len() (marks int, evicted uint64) {
	for i := range b.page {
		p := &b.page[i]
		p.mu.Lock()
		marks += len(p.index)
		evicted += p.evicted
		p.mu.Unlock()
	}
	return marks, evicted
}

// take finds an entry that is in no ring.
func (p *page) take() int32 {
	if len(p.index) >= p.room {
		p.evicted++
		p.drop(p.entries[0].newer) // the ring closes: newer than the head is the oldest
	}
	if i := p.free; i != 0 {
		p.free = p.entries[i].older
		return i
	}
	p.entries = append(p.entries, entry{})
	return int32(len(p.entries) - 1)
}

func (p *page) drop(i int32) {
	p.unlink(i)
	delete(p.index, p.entries[i].mark)
	p.entries[i].older, p.free = p.free, i
}

func (p *page) link(i int32) {
	newest := p.entries[0].older
	p.entries[i].newer, p.entries[i].older = 0, newest
	p.entries[newest].newer, p.entries[0].older = i, i
}

func (p *page) unlink(i int32) {
	e := p.entries[i]
	p.entries[e.newer].older, p.entries[e.older].newer = e.older, e.newer
}
