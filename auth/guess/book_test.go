package guess

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model is a page of a book, told by a list from the oldest to the newest.
type model struct {
	room int
	list []entry
}

func (m *model) find(k mark) int {
	return slices.IndexFunc(m.list, func(e entry) bool { return e.mark == k })
}

func (m *model) count(k mark, now time.Duration) uint32 {
	if i := m.find(k); i >= 0 && m.list[i].until > now {
		return m.list[i].count
	}
	return 0
}

func (m *model) note(k mark, now, until time.Duration) uint32 {
	e := entry{mark: k, count: m.count(k, now) + 1, until: until}
	m.forget(k)
	if len(m.list) == m.room {
		m.list = m.list[1:]
	}
	m.list = append(m.list, e)
	return e.count
}

func (m *model) forget(k mark) {
	if i := m.find(k); i >= 0 {
		m.list = slices.Delete(m.list, i, i+1)
	}
}

// TestBook holds one page against its model.
func TestBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(1, 6).Draw(t, "room")
		b, m := newBook(room*pages), &model{room: room}
		var now time.Duration
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 3).Draw(t, "pass"))
			k := mark{byte(rapid.IntRange(0, 8).Draw(t, "mark"))}
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0:
				b.forget(3, k)
				m.forget(k)
			case 1:
				if got, want := b.count(3, k, now), m.count(k, now); got != want {
					t.Fatalf("count %d, want %d", got, want)
				}
			default:
				until := now + time.Duration(rapid.IntRange(0, 9).Draw(t, "until"))
				if got, want := b.note(3, k, now, until), m.note(k, now, until); got != want {
					t.Fatalf("noted %d times, want %d", got, want)
				}
			}
			if n, _ := b.len(); n != len(m.list) {
				t.Fatalf("%d marks, want %d", n, len(m.list))
			}
		}
		if p := &b.page[3]; len(p.entries) > room+1 {
			t.Fatalf("%d entries for %d marks", len(p.entries)-1, room)
		}
	})
}
