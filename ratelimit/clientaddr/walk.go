package clientaddr

import (
	"net/netip"
	"strings"
)

// maxEntry is the length of an entry in bytes beyond which it is no address,
// whatever it holds.
const maxEntry = 1024

// walk goes through the entries of a header from the right.
type walk struct {
	trusted []netip.Prefix
	hops    int        // entries examined
	named   bool       // one of them held an address
	client  netip.Addr // the result, when how is Header
	how     How        // why the walk ended; "" at the end of the header
	note    func(Hop)  // told of every entry; nil: nobody is
}

// visit examines the next entry and reports whether to go on to its left. An
// empty entry stands for nothing (RFC 9110, 5.6.1), but is counted: a header
// of commas ends too.
func (w *walk) visit(text string, parse func(string) (netip.Addr, bool)) bool {
	if w.hops == maxHops {
		w.how = TooManyHops
		return w.judged(text, netip.Addr{}, HopBeyond)
	}
	w.hops++
	if len(text) > maxEntry {
		w.how = Malformed
		return w.judged(text[len(text)-maxEntry:], netip.Addr{}, HopMalformed)
	}
	text = trim(text)
	if text == "" {
		return w.judged(text, netip.Addr{}, HopEmpty)
	}
	w.named = true
	addr, ok := parse(text)
	switch {
	case !ok || !isHost(addr):
		w.how = Malformed
		return w.judged(text, netip.Addr{}, HopMalformed)
	case !trusts(w.trusted, addr):
		w.client, w.how = addr, Header
		return w.judged(text, addr, HopClient)
	}
	return w.judged(text, addr, HopProxy)
}

// judged tells what was found of an entry, and whether the walk goes on.
func (w *walk) judged(text string, addr netip.Addr, v Verdict) bool {
	if w.note != nil {
		w.note(Hop{Text: text, Addr: addr, Verdict: v})
	}
	return v == HopProxy || v == HopEmpty
}

// readList reads X-Forwarded-For: the lines are one list, in their order.
func (w *walk) readList(lines []string) {
	for i := len(lines) - 1; i >= 0; i-- {
		rest, entry, more := lines[i], "", true
		for more {
			rest, entry, more = cutLast(rest)
			if !w.visit(entry, parseHop) {
				return
			}
		}
	}
}

// readSingle reads a header that holds one address and comes once.
func (w *walk) readSingle(lines []string) {
	switch len(lines) {
	case 0:
	case 1:
		w.visit(lines[0], parseHop)
	default:
		w.how = Repeated
	}
}

// cutLast splits off the last entry of a list. It looks no further than an
// entry can be long; without a comma there, all of the list is one entry.
func cutLast(s string) (rest, entry string, more bool) {
	from := max(0, len(s)-maxEntry-1)
	if i := strings.LastIndexByte(s[from:], ','); i >= 0 {
		return s[:from+i], s[from+i+1:], true
	}
	return "", s, false
}
