package test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// event is a call and its answer, with when the one went out and the other came
// in.
type event struct {
	ask, answer string
	from, to    int64
	idle        bool // it changes nothing, whatever the state
}

// mostPlaces bounds the search: legal histories were seen to need 80,000, and what
// is wrong can have more than anybody could wait for.
const mostPlaces = 1_000_000

// serial reports whether the answers are those of one call after another, in
// some order that has no call before one that was answered before it was sent.
// step says what comes of an event in a state, and whether its answer is right
// there.
// Where there is none, what could not come next in the longest that was found is
// given, and the state there.
func serial[S comparable](start S, events []event, step func(S, event) (S, bool)) (ok bool, where S, stuck []event) {
	events = slices.Clone(events)
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.to, b.to) })
	type place struct {
		done  string
		state S
	}
	seen := map[place]bool{}
	most := -1
	var from func(done []byte, state S) bool
	from = func(done []byte, state S) bool {
		var branches []int
		for again := true; again; {
			again = false
			branches = branches[:0]
			var tried []event
			for i := range events {
				e := events[i]
				if done[i] != 0 || !first(events, done, e) {
					continue
				}
				if _, right := step(state, e); !right {
					continue
				}
				if e.idle {
					// It may as well come now.
					done[i], again = 1, true
					continue
				}
				alike := func(o event) bool { return o.ask == e.ask && o.answer == e.answer }
				if !slices.ContainsFunc(tried, alike) { // of those alike the one that ended first
					tried = append(tried, e)
					branches = append(branches, i)
				}
			}
		}
		if !slices.Contains(done, 0) {
			return true
		}
		at := place{string(done), state}
		if seen[at] || len(seen) == mostPlaces {
			return false
		}
		seen[at] = true
		if n := bytes.Count(done, []byte{1}); n > most {
			most, stuck, where = n, nil, state
			for i, e := range events {
				if done[i] == 0 && first(events, done, e) {
					stuck = append(stuck, e)
				}
			}
		}
		for _, i := range branches {
			next, _ := step(state, events[i])
			rest := slices.Clone(done)
			rest[i] = 1
			if from(rest, next) {
				return true
			}
		}
		return false
	}
	ok = from(make([]byte, len(events)), start)
	return ok, where, stuck
}

// first reports whether no event that is still to come ended before e began.
func first(events []event, done []byte, e event) bool {
	for i, o := range events { // by their ends
		if done[i] == 0 {
			return o.to >= e.from
		}
	}
	return true
}

// TestSerial: what tells histories that cannot be from those that can.
func TestSerial(t *testing.T) {
	// A thing that is there or not. "make" and "drop" say whether they did
	// something, "look" whether it is there; "put" never says no.
	step := func(there bool, e event) (bool, bool) {
		yes := e.answer == "yes"
		switch e.ask {
		case "put":
			return true, true
		case "make":
			return true, yes != there
		case "drop":
			return false, yes == there
		}
		return there, yes == there
	}
	for _, c := range []struct {
		name, events string // each with when it began and ended
		want         bool
	}{
		{"one after another", "make yes 0 1, look yes 2 3, drop yes 4 5, look no 6 7", true},
		{"seen before it was made", "look yes 0 1, make yes 2 3", false},
		{"seen while it was made", "look yes 0 2, make yes 1 3", true},
		{"gone after it was made", "make yes 0 1, look no 2 3", false},
		{"made twice", "make yes 0 3, make yes 1 2", false},
		{"made twice, dropped in between", "make yes 0 9, make yes 1 2, drop yes 1 9", true},
		{"made twice, dropped later", "make yes 0 9, make yes 1 2, drop yes 10 11", false},
		{"dropped twice", "make yes 0 1, drop yes 2 4, drop yes 2 4", false},
		{"one of two drops", "make yes 0 1, drop yes 2 4, drop no 2 4", true},
		{"back and forth", "make yes 0 1, look no 2 9, look yes 3 4, drop yes 2 9, look yes 5 6", true},
		{"back and forth and back", "make yes 0 1, look no 2 3, look yes 4 5, drop yes 2 9", false},
		{"the wrong order of two", "look no 0 1, make yes 2 3, make no 2 3, drop no 4 5", false},
		{"put where it is, and where it is not", "put yes 0 1, put yes 2 9, drop yes 3 4, look yes 5 6", true},
		{"put too early", "put yes 0 1, put yes 2 3, drop yes 4 5, look yes 6 7", false},
	} {
		if got, _, _ := serial(false, history(t, c.events), step); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	// Many at once, and an impossible one among them: neither takes long.
	var text []string
	for i := range 20 {
		for _, what := range []string{"make yes", "drop yes", "look yes", "look no", "make no"} {
			text = append(text, fmt.Sprint(what, " ", i, " ", 1000+i))
		}
	}
	many := strings.Join(text, ", ")
	if ok, _, _ := serial(false, history(t, many), step); !ok {
		t.Error("many at once are no order")
	}
	if ok, _, stuck := serial(false, history(t, many+", look yes 3000 3001"), step); ok || len(stuck) == 0 {
		t.Error("as many drops as there were, and it is there in the end")
	}
}

func history(t *testing.T, text string) []event {
	t.Helper()
	var out []event
	for part := range strings.SplitSeq(text, ", ") {
		var e event
		if _, err := fmt.Sscan(part, &e.ask, &e.answer, &e.from, &e.to); err != nil {
			t.Fatal(err)
		}
		e.idle = e.ask == "look" || e.answer == "no"
		out = append(out, e)
	}
	return out
}
