package rules

import (
	"fmt"
	"strings"
	"unicode"
)

// Parse compiles the text of a rule. The empty text allows everybody; a text
// that cannot be read refuses everybody, and err then says what is wrong with
// it, for the log.
func Parse(text string) (c Check, err error) {
	if text == "" {
		return always, nil
	}
	p := parser{tokens: tokenize(text)}
	c, err = p.or()
	if err == nil && p.pos < len(p.tokens) {
		err = fmt.Errorf("%q is one too many", p.tokens[p.pos].text)
	}
	if err != nil {
		return never, fmt.Errorf("rule %q is read as a refusal: %w", text, err)
	}
	return c, nil
}

// ParseList compiles the old form of a rule: a list of alternatives, each a
// check or a list of checks that must all hold. No alternatives at all allow
// everybody. An error is a value that the language has no meaning for.
func ParseList(rule []any) (Check, error) {
	if len(rule) == 0 {
		return always, nil
	}
	var alternatives []Check
	for _, inner := range rule {
		var list []any
		switch v := inner.(type) {
		case nil:
		case string:
			if v != "" {
				list = []any{v}
			}
		case []any:
			list = v
		default:
			return never, fmt.Errorf("a rule cannot hold %v", inner)
		}
		if len(list) == 0 {
			continue
		}
		all := make([]Check, len(list))
		for i, item := range list {
			text, ok := item.(string)
			if !ok {
				return never, fmt.Errorf("a rule cannot hold %v", item)
			}
			all[i] = compile(text)
		}
		alternatives = append(alternatives, And(all...))
	}
	if len(alternatives) == 0 {
		return never, nil
	}
	return Or(alternatives...), nil
}

type tokenKind uint8

const (
	tokenCheck tokenKind = iota
	tokenAnd
	tokenOr
	tokenNot
	tokenOpen
	tokenClose
	tokenString // quoted as a whole: no production uses it
)

type token struct {
	kind tokenKind
	text string
}

// blank is white space as Python's regular expressions see it.
func blank(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// tokenize splits at white space and peels parentheses off the outside of each
// word, so that those of %(name)s stay.
func tokenize(text string) []token {
	var out []token
	for _, word := range strings.FieldsFunc(text, blank) {
		inner := strings.TrimLeft(word, "(")
		for range len(word) - len(inner) {
			out = append(out, token{tokenOpen, "("})
		}
		if inner == "" {
			continue
		}
		bare := strings.TrimRight(inner, ")")
		if bare != "" {
			out = append(out, wordToken(inner, bare))
		}
		for range len(inner) - len(bare) {
			out = append(out, token{tokenClose, ")"})
		}
	}
	return out
}

// wordToken takes the word with its closing parentheses, which count when it is
// asked whether quotes enclose it, and without.
func wordToken(inner, bare string) token {
	switch strings.ToLower(bare) {
	case "and":
		return token{tokenAnd, bare}
	case "or":
		return token{tokenOr, bare}
	case "not":
		return token{tokenNot, bare}
	}
	first, last := inner[0], inner[len(inner)-1]
	if len(inner) >= 2 && first == last && (first == '"' || first == '\'') {
		return token{tokenString, bare}
	}
	return token{tokenCheck, bare}
}

// parser reads: or = and {"or" and}; and = unary {"and" unary};
// unary = "not" unary | "(" or ")" | check.
type parser struct {
	tokens []token
	pos    int
	depth  int
}

func (p *parser) accept(kind tokenKind) bool {
	if p.pos < len(p.tokens) && p.tokens[p.pos].kind == kind {
		p.pos++
		return true
	}
	return false
}

func (p *parser) or() (Check, error) { return p.chain(tokenOr, p.and, Or) }

func (p *parser) and() (Check, error) { return p.chain(tokenAnd, p.unary, And) }

func (p *parser) chain(by tokenKind, operand func() (Check, error), joined func(...Check) Check) (Check, error) {
	var checks []Check
	for {
		c, err := operand()
		if err != nil {
			return never, err
		}
		checks = append(checks, c)
		if !p.accept(by) {
			return joined(checks...), nil
		}
	}
}

func (p *parser) unary() (Check, error) {
	p.depth++
	defer func() { p.depth-- }()
	switch {
	case p.depth > maxNesting:
		return never, ErrEndless
	case p.accept(tokenNot):
		c, err := p.unary()
		if err != nil {
			return never, err
		}
		return negate(c), nil
	case p.accept(tokenOpen):
		c, err := p.or()
		if err == nil && !p.accept(tokenClose) {
			err = fmt.Errorf("a parenthesis is not closed")
		}
		return c, err
	case p.accept(tokenCheck):
		return compile(p.tokens[p.pos-1].text), nil
	case p.pos < len(p.tokens):
		return never, fmt.Errorf("%q stands where a check should", p.tokens[p.pos].text)
	default:
		return never, fmt.Errorf("a check is missing at the end")
	}
}
