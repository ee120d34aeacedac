package rules

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// strings reads string literals that stand side by side. It reports false, and
// reads nothing, when none stands here.
func (p *exprParser) strings() (expr, bool) {
	var all string
	bytes, formatted, count := false, false, 0
	for {
		p.skip()
		prefix, mark, ok := opening(p.rest)
		if !ok {
			break
		}
		low := strings.ToLower(prefix)
		isBytes := strings.Contains(low, "b")
		if count > 0 && isBytes != bytes {
			return p.fail(), true
		}
		bytes, formatted = isBytes, formatted || strings.Contains(low, "f")
		p.rest = p.rest[len(prefix)+len(mark):]
		content, ok := p.content(mark, strings.Contains(low, "r"), isBytes)
		if !ok {
			return p.fail(), true
		}
		all += content
		count++
	}
	switch {
	case count == 0:
		return expr{}, false
	case formatted:
		return expr{}, true
	case bytes:
		return expr{literal: true, text: "b" + quoteBytes(all)}, true
	}
	return expr{literal: true, quoted: true, text: all}, true
}

// opening recognises a prefix and the quotes that open a string.
func opening(s string) (prefix, mark string, ok bool) {
	i := strings.IndexAny(s, `'"`)
	if i < 0 || i > 2 {
		return "", "", false
	}
	prefix = s[:i]
	switch strings.ToLower(prefix) {
	case "", "r", "u", "b", "f", "br", "rb", "fr", "rf":
	default:
		return "", "", false
	}
	mark = s[i : i+1]
	if triple := strings.Repeat(mark, 3); strings.HasPrefix(s[i:], triple) {
		mark = triple
	}
	return prefix, mark, true
}

// content reads up to the closing mark.
func (p *exprParser) content(mark string, raw, bytes bool) (string, bool) {
	var b strings.Builder
	for p.rest != "" {
		if rest, ok := strings.CutPrefix(p.rest, mark); ok {
			p.rest = rest
			return b.String(), true
		}
		c := p.rest[0]
		switch {
		case c == '\n' && len(mark) == 1, c >= utf8.RuneSelf && bytes:
			return "", false
		case c == '\\' && raw:
			if len(p.rest) < 2 {
				return "", false
			}
			b.WriteString(p.rest[:2])
			p.rest = p.rest[2:]
		case c == '\\':
			if !p.escape(&b, bytes) {
				return "", false
			}
		default:
			b.WriteByte(c)
			p.rest = p.rest[1:]
		}
	}
	return "", false
}

var simpleEscapes = map[byte]string{
	'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f",
	'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

// escape reads a backslash and what it stands for; an unknown one stays as it is.
func (p *exprParser) escape(b *strings.Builder, bytes bool) bool {
	if len(p.rest) < 2 {
		return false
	}
	c := p.rest[1]
	if text, ok := simpleEscapes[c]; ok {
		b.WriteString(text)
		p.rest = p.rest[2:]
		return true
	}
	digits, base := 0, 16
	switch {
	case c == 'x':
		digits = 2
	case c == 'u' && !bytes:
		digits = 4
	case c == 'U' && !bytes:
		digits = 8
	case c == 'N' && !bytes:
		return false
	case c >= '0' && c <= '7':
		octal, _ := split(p.rest[1:min(4, len(p.rest))], "01234567")
		digits, base = len(octal), 8
		p.rest = `\x` + p.rest[1:]
	default:
		b.WriteString(p.rest[:2])
		p.rest = p.rest[2:]
		return true
	}
	if len(p.rest) < 2+digits {
		return false
	}
	n, err := strconv.ParseUint(p.rest[2:2+digits], base, 32)
	if err != nil || n > utf8.MaxRune || !bytes && !utf8.ValidRune(rune(n)) {
		return false
	}
	p.rest = p.rest[2+digits:]
	if bytes {
		b.WriteByte(byte(n))
	} else {
		b.WriteRune(rune(n))
	}
	return true
}

// quoteBytes is the repr of a bytes object without its b.
func quoteBytes(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	q := quote(string(runes))
	var b strings.Builder
	for _, r := range q {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		b.WriteString(`\x` + strconv.FormatInt(int64(r), 16))
	}
	return b.String()
}
