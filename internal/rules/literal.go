package rules

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// form says what the left side of a check is.
type form uint8

const (
	unreadable form = iota // Python would stop with a SyntaxError
	literal                // a Python literal
	dotted                 // any other expression: a path into the credentials
)

// readLiteral classifies the left side of a check the way Python's
// ast.literal_eval does and writes a literal as str would. Numbers, strings,
// bytes, None, True, False, lists, tuples and sets are literals. Expressions
// with a call, a subscript or an operator are read as far as it takes to tell
// them from faults; the rarest (comprehensions, starred items, keyword
// arguments) count as faults.
func readLiteral(text string) (string, form) {
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return "", unreadable
	}
	p := exprParser{rest: strings.TrimLeft(text, " \t")}
	v := p.list(0)
	p.skip()
	if p.failed || p.rest != "" {
		return "", unreadable
	}
	if !v.literal {
		return "", dotted
	}
	if v.quoted {
		return v.text, literal
	}
	return v.repr(), literal
}

// expr is what was read: a literal with its text, or anything else.
type expr struct {
	literal bool
	quoted  bool // text is a string's content
	number  bool // may take a sign
	text    string
}

func (e expr) repr() string {
	if e.quoted {
		return quote(e.text)
	}
	return e.text
}

type exprParser struct {
	rest   string
	depth  int
	failed bool
}

func (p *exprParser) fail() expr {
	p.failed, p.rest = true, ""
	return expr{}
}

// skip passes blanks and a comment.
func (p *exprParser) skip() {
	p.rest = strings.TrimLeft(p.rest, " \t\f")
	if strings.HasPrefix(p.rest, "#") {
		p.rest = ""
	}
}

func (p *exprParser) accept(text string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, text)
	if ok {
		p.rest = rest
	}
	return ok
}

// list reads expressions up to the closing bracket (0: the end) and makes a
// tuple of them when there is a comma.
func (p *exprParser) list(end byte) expr {
	var items []expr
	comma := false
	for {
		p.skip()
		if p.rest == "" && end != 0 {
			return p.fail()
		}
		if p.rest == "" || p.rest[0] == end {
			break
		}
		items = append(items, p.operation())
		if comma = p.accept(","); !comma {
			break
		}
	}
	if end != 0 && !p.accept(string(end)) || p.failed {
		return p.fail()
	}
	switch {
	case end == ']':
		return gather("[", items, "]")
	case end == '}' && len(items) == 0:
		return expr{literal: true, text: "{}"}
	case end == '}':
		return gather("{", items, "}")
	case len(items) == 0 && end == 0:
		return p.fail()
	case len(items) == 1 && !comma:
		return items[0]
	case len(items) == 1:
		return gather("(", items, ",)")
	}
	return gather("(", items, ")")
}

func gather(open string, items []expr, end string) expr {
	texts := make([]string, len(items))
	for i, item := range items {
		if !item.literal {
			return expr{}
		}
		texts[i] = item.repr()
	}
	return expr{literal: true, text: open + strings.Join(texts, ", ") + end}
}

var operators = []string{"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "<", ">"}

// operation reads operands joined by operators; more than one is no literal.
func (p *exprParser) operation() expr {
	e := p.operand()
	for !p.failed {
		found := false
		for _, op := range operators {
			if found = p.accept(op); found {
				break
			}
		}
		if !found {
			return e
		}
		p.operand()
		e = expr{}
	}
	return e
}

// operand reads signs, an atom, and what trails it.
func (p *exprParser) operand() expr {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		return p.fail()
	}
	for _, sign := range []string{"-", "+", "~"} {
		if !p.accept(sign) {
			continue
		}
		e := p.operand()
		if !e.number || sign == "~" {
			return expr{}
		}
		e.number = false // one sign only
		if sign == "-" && e.text != "0" {
			e.text = "-" + e.text
		}
		return e
	}
	return p.trailers(p.atom())
}

func (p *exprParser) trailers(e expr) expr {
	for !p.failed {
		switch {
		case p.accept("("):
			p.list(')')
		case p.accept("["):
			p.skip()
			if strings.HasPrefix(p.rest, "]") {
				return p.fail()
			}
			p.list(']')
		case p.accept("."):
			p.skip()
			if word := p.word(); word == "" || keywords[word] {
				return p.fail()
			}
		default:
			return e
		}
		e = expr{}
	}
	return e
}

func (p *exprParser) atom() expr {
	p.skip()
	if p.rest == "" {
		return p.fail()
	}
	switch c := p.rest[0]; {
	case c == '(':
		p.rest = p.rest[1:]
		return p.list(')')
	case c == '[':
		p.rest = p.rest[1:]
		return p.list(']')
	case c == '{':
		p.rest = p.rest[1:]
		return p.list('}')
	case strings.HasPrefix(p.rest, "..."):
		p.rest = p.rest[3:]
		return expr{literal: true, text: "Ellipsis"}
	case c >= '0' && c <= '9', c == '.':
		return p.number()
	}
	if e, ok := p.strings(); ok {
		return e
	}
	word := p.word()
	switch {
	case word == "None" || word == "True" || word == "False":
		return expr{literal: true, text: word}
	case word == "" || keywords[word]:
		return p.fail()
	}
	return expr{}
}

var keywords = func() map[string]bool {
	m := make(map[string]bool)
	for _, word := range strings.Fields(`False None True and as assert async await
		break class continue def del elif else except finally for from global if
		import in is lambda nonlocal not or pass raise return try while with yield`) {
		m[word] = true
	}
	return m
}()

func (p *exprParser) word() string {
	end := len(p.rest)
	for i, r := range p.rest {
		letter := r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
		if letter || i > 0 && (unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Pc)) {
			continue
		}
		end = i
		break
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

// number reads an integer of any base or a float, digits parted by underscores.
func (p *exprParser) number() expr {
	end := 0
	for end < len(p.rest) {
		c := p.rest[end]
		sign := (c == '+' || c == '-') && !strings.HasPrefix(p.rest, "0x") && !strings.HasPrefix(p.rest, "0X") &&
			end > 0 && (p.rest[end-1] == 'e' || p.rest[end-1] == 'E')
		if !sign && c != '.' && c != '_' && !isAlnum(c) && c < utf8.RuneSelf {
			break
		}
		end++
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	if strings.HasSuffix(text, "_") || strings.Contains(text, "__") || strings.Contains(text, "._") || strings.Contains(text, "_.") {
		return p.fail()
	}
	plain := strings.ReplaceAll(text, "_", "")
	return p.value(plain)
}

// value reads the digits; the value of an imaginary number ends in j.
func (p *exprParser) value(plain string) expr {
	if c := plain[len(plain)-1]; c|0x20 == 'j' && !strings.ContainsAny(plain, "xX") {
		f, err := strconv.ParseFloat(plain[:len(plain)-1], 64)
		if err != nil && f == 0 || strings.ContainsAny(plain, "nNpP") {
			return p.fail()
		}
		return expr{literal: true, text: strings.TrimSuffix(float(f), ".0") + "j"}
	}
	base := 10
	if len(plain) > 1 && plain[0] == '0' && isAlnum(plain[1]) && plain[1] > '9' && plain[1]|0x20 != 'e' {
		base = 0
	}
	if n, ok := new(big.Int).SetString(plain, base); ok && len(plain) <= 4300 {
		if base == 10 && plain[0] == '0' && strings.Trim(plain, "0") != "" {
			return p.fail() // 017 was octal in Python 2
		}
		return expr{literal: true, number: true, text: n.String()}
	}
	f, err := strconv.ParseFloat(plain, 64)
	if base == 0 || strings.ContainsAny(plain, "nNpPxX") || !strings.ContainsAny(plain, ".eE") || err != nil && f == 0 {
		return p.fail()
	}
	return expr{literal: true, number: true, text: float(f)}
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
