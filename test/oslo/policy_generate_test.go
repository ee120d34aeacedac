//go:build interop

package oslo_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// policyGenerator writes rules as operators do, and as nobody should.
type policyGenerator struct {
	r     *rand.Rand
	named []string
	keys  []string // of the target
}

func (g *policyGenerator) chance(p float64) bool { return g.r.Float64() < p }

func one[T any](g *policyGenerator, list ...T) T { return list[g.r.IntN(len(list))] }

// values are those that credentials and targets hold; few, so that they meet.
func (g *policyGenerator) value(depth int) any {
	switch n := g.r.IntN(14); {
	case n < 6:
		return one(g, "u1", "p1", "d1", "admin", "Admin", "member", "None", "True", "", "a b", "é", "İ", "it's", `"q"`, "5", "x\ny", "\u00a0", "ſervice")
	case n == 6:
		return nil
	case n == 7:
		return g.chance(0.5)
	case n == 8:
		return one(g, 0, 1, 5, -7, 1<<40)
	case n == 9:
		return one(g, 1.5, 0.1, 1e20, 1e-7, 100000.0)
	case n == 10 && depth > 0:
		return []any{}
	case n < 12 && depth > 0:
		list := make([]any, 1+g.r.IntN(3))
		for i := range list {
			list[i] = g.value(depth - 1)
		}
		return list
	case depth > 0:
		m := map[string]any{}
		for range 1 + g.r.IntN(2) {
			m[one(g, "id", "domain", "name", "roles")] = g.value(depth - 1)
		}
		if len(m) > 1 && g.chance(0.5) {
			return map[string]any{"id": "d1"} // the order of keys is each one's own when a dict is printed
		}
		return m
	}
	return "u1"
}

var credentialKeys = []string{"user_id", "project_id", "domain_id", "is_admin", "system", "token", "tenant", "n", "a-b", "Ünder"}

func (g *policyGenerator) world(asked int) world {
	w := world{Rules: map[string]any{}, Creds: map[string]any{}, Target: map[string]any{}}
	for _, k := range credentialKeys {
		if g.chance(0.8) {
			w.Creds[k] = g.value(3)
		}
	}
	switch g.r.IntN(12) {
	case 0:
	case 1:
		w.Creds["roles"] = []any{g.value(1), "member"} // a list always: the server makes it
	default:
		w.Creds["roles"] = []any{one(g, "admin", "ADMIN", "member"), one(g, "member", "reader", "İ", "service")}
	}
	if g.chance(0.5) {
		w.Creds["system_scope"] = one[any](g, "all", nil, "", true)
	}
	w.Creds["token"] = map[string]any{
		"project": map[string]any{"domain": map[string]any{"id": g.value(0)}},
		"roles":   []any{map[string]any{"id": "r1"}, map[string]any{"id": g.value(0)}},
		"user":    g.value(1),
	}
	g.keys = []string{"user_id", "target.user.id", "target.user.domain_id", "target.role.name", "x", "flag", "list", "a b", "k)"}
	for _, k := range g.keys {
		if g.chance(0.85) {
			w.Target[k] = plain(g.value(2))
		}
	}
	g.named = []string{"r", "s", "admin_required", "with space", "default", "round", "é"}
	for _, name := range g.named {
		if g.chance(0.8) {
			w.Rules[name] = g.rule()
		}
	}
	if g.chance(0.3) {
		w.Rules["round"] = one(g, "rule:round", "role:admin or rule:round", "not rule:round", "rule:r or rule:asked")
	}
	if g.chance(0.5) {
		w.Default = new(one(g, "default", "r", "nowhere"))
	}
	w.Asked = make([]any, asked)
	for i := range w.Asked {
		w.Asked[i] = g.rule()
	}
	return w
}

// plain keeps dicts of more than one key out of what is printed.
func plain(v any) any {
	if m, ok := v.(map[string]any); ok && len(m) > 1 {
		return "u1"
	}
	return v
}

// rule is a text, now and then a list, and now and then broken.
func (g *policyGenerator) rule() any {
	if g.chance(0.06) {
		return g.list()
	}
	text := g.expression(3)
	if g.chance(0.12) {
		text = g.broken(text)
	}
	return text
}

func (g *policyGenerator) list() any {
	out := []any{}
	for range g.r.IntN(4) {
		switch g.r.IntN(4) {
		case 0:
			out = append(out, g.check())
		case 1:
			out = append(out, one[any](g, "", []any{}, nil, []any{g.check(), g.check()}))
		default:
			out = append(out, []any{g.check(), one(g, g.check(), "@", "!")})
		}
	}
	return out
}

func (g *policyGenerator) expression(depth int) string {
	if depth == 0 {
		return g.check()
	}
	switch g.r.IntN(7) {
	case 0:
		return g.expression(depth-1) + one(g, " and ", " AND ", "  and\t", "\nand ") + g.expression(depth-1)
	case 1:
		return g.expression(depth-1) + one(g, " or ", " Or ", " or\n") + g.expression(depth-1)
	case 2:
		return one(g, "not ", "NOT ", "not not ") + g.expression(depth-1)
	case 3:
		return one(g, "(", "( ", "((") + g.expression(depth-1) + one(g, ")", " )", "))")
	case 4:
		return "(" + g.expression(depth-1) + ")"
	}
	return g.check()
}

// broken spoils a text in one place.
func (g *policyGenerator) broken(text string) string {
	at := g.r.IntN(len(text) + 1)
	switch g.r.IntN(5) {
	case 0:
		return text[:at] + one(g, " ", "(", ")", "%", "'", `"`, ":", "%(", ")s", "not", " and ", " or ", "\u00a0", "\x1c") + strings.ToValidUTF8(text[at:], "")
	case 1:
		return strings.ToValidUTF8(text[:at], "")
	case 2:
		return text + one(g, " and", " or", " not", ")", " role:admin", " ()")
	case 3:
		return one(g, "and ", ") ", "( ", "'", "") + text
	}
	return one(g, "", "()", "not", "@", "!", "nocolon", `"role:admin"`, "'x'", ":", "a:b:c", " ", "rule:", "role:")
}

func (g *policyGenerator) check() string {
	switch n := g.r.IntN(20); {
	case n < 5:
		return "role:" + one(g, "admin", "ADMIN", "member", "reader", "nobody", "i\u0307", "service", g.right())
	case n < 9:
		return "rule:" + one(g, append(g.named, "nowhere", "asked")...)
	case n == 9:
		return one(g, "@", "!", "@", "!", "ROLE:admin", "nocolon")
	case n < 13:
		return one(g, "'admin'", `"u1"`, "5", "1.0", "True", "None", "['u1']", "[]", "('u1',)", "{'id':'d1'}", "-7", "1e20", "'é'", "b'u1'", "'it''s'", "0x5", "1_0", "5j", "if", "not", "x+1", "lambda", "u'u1'", "r'u1'", "''") + ":" + g.right()
	}
	left := one(g, append(credentialKeys, "token.project.domain.id", "token.roles.id", "token.user.id", "token.user", "token.nope.id", "roles", "domain_id.id", "n.m", "token..id", ".", "system_scope")...)
	return left + ":" + g.right()
}

// right is what follows the colon: fixed, or filled from the target.
func (g *policyGenerator) right() string {
	key := one(g, append(g.keys[:7:7], "missing", "target.user.id")...)
	switch n := g.r.IntN(24); {
	case n < 6:
		return one(g, "u1", "p1", "d1", "admin", "None", "True", "False", "5", "r1", "all", "1", "é", "")
	case n < 20:
		return fmt.Sprintf("%%(%s)s", key)
	case n == 20:
		return one(g, "%%", "100%%", "x%(x)s", "%(x)sy", "%(x)s%(user_id)s", "%(k)", "%(missing)s%")
	case n == 21:
		return fmt.Sprintf("%%(%s)%s", key, one(g, "d", "5s", "-5s", "r", "05d", ".2s", "i", "+d", "u", "a", " d"))
	case n == 22:
		return one(g, "%", "%s", "u1%", "%d", "%(x", "%z", "%(x)z", "%(x)q%(missing)s")
	}
	return fmt.Sprintf("%%(%s)s", key)
}
