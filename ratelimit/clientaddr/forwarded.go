package clientaddr

import (
	"net/netip"
	"strings"
)

// readForwarded reads Forwarded (RFC 7239). Where an element begins can only be
// told from the start of its line, because commas may be quoted; so a line is
// split from the left, and its last elements are then examined from the right.
// A quote that is never closed spoils the element that it stands in, and that
// one reaches to the end of its line, not into the next.
func (w *walk) readForwarded(lines []string) {
	for i := len(lines) - 1; i >= 0; i-- {
		var last [maxHops + 1]string // one more than examined: there are others
		n := 0
		for rest, more := lines[i], true; more; n++ {
			last[n%len(last)], rest, more = cutQuoted(rest, ',')
		}
		for j := n - 1; j >= max(0, n-len(last)); j-- {
			if !w.visit(last[j%len(last)], parseElement) {
				return
			}
		}
	}
}

// parseElement reads the one "for" of an element. Other parameters may hold
// free text, as OpenStack's clients send it in "by", but no stray quote: that
// would mean that the element was not split where its writer meant it to be.
func parseElement(element string) (netip.Addr, bool) {
	node, found := "", false
	for rest, more := element, true; more; {
		var pair string
		pair, rest, more = cutQuoted(rest, ';')
		name, value, has := strings.Cut(trim(pair), "=")
		value, ok := unquote(value)
		if !ok || strings.Contains(name, `"`) {
			return netip.Addr{}, false
		}
		if !strings.EqualFold(name, "for") {
			continue
		}
		if found || !has {
			return netip.Addr{}, false
		}
		node, found = value, true
	}
	return parseNode(node, isNodePort)
}

// cutQuoted is strings.Cut at a separator that stands in no quoted string.
func cutQuoted(s string, sep byte) (before, after string, found bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == sep && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// unquote takes the quotes off a quoted string; escapes stay, since no address
// has any. Text with a quote anywhere else is refused.
func unquote(s string) (string, bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, !strings.Contains(s, `"`)
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return s[1:i], i == len(s)-1
		}
	}
	return "", false
}

// isNodePort accepts a port or the obfuscated one of RFC 7239, 6.3.
func isNodePort(s string) bool {
	rest, ok := strings.CutPrefix(s, "_")
	if !ok {
		return isPort(s)
	}
	return rest != "" && strings.IndexFunc(rest, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c))
	}) < 0
}
