package db

import (
	"strconv"
	"strings"
)

// In gives a list of n placeholders, the first of them $from: "($3, $4)". For
// none it gives "(null)", which no value is in; nothing is "not in" it either,
// so an empty exclusion has to be left out by the caller.
func In(n, from int) string {
	if n <= 0 {
		return "(null)"
	}
	b := make([]byte, 0, 2+n*6)
	for i := range n {
		if i > 0 {
			b = append(b, ", $"...)
		} else {
			b = append(b, "($"...)
		}
		b = strconv.AppendInt(b, int64(from+i), 10)
	}
	return string(append(b, ')'))
}

// EscapeLike makes s match only itself in a pattern: `like $1 escape '!'`.
func EscapeLike(s string) string { return likeEscapes.Replace(s) }

var likeEscapes = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// Where collects conditions and their arguments. The zero value has none;
// Args may be given before, when the text ahead of the clause uses some.
type Where struct {
	Args  []any
	conds []string
}

// And adds a condition in which each ? stands for the next argument; a ? in
// quotes is left alone. With too few or too many arguments the engine refuses
// the statement.
func (w *Where) And(cond string, args ...any) {
	w.conds = append(w.conds, w.number(cond, args))
}

// AndIn adds "column in (…)"; with no values nothing matches.
func (w *Where) AndIn(column string, values []string) {
	from := len(w.Args) + 1
	for _, v := range values {
		w.Args = append(w.Args, v)
	}
	w.conds = append(w.conds, column+" in "+In(len(values), from))
}

// Arg adds an argument and gives its placeholder, for text outside of And.
func (w *Where) Arg(v any) string {
	w.Args = append(w.Args, v)
	return "$" + strconv.Itoa(len(w.Args))
}

// String is "" or " where a and b".
func (w *Where) String() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " where " + strings.Join(w.conds, " and ")
}

// Conditions is "a and b", or "" without any.
func (w *Where) Conditions() string { return strings.Join(w.conds, " and ") }

// number writes $n for each ?.
func (w *Where) number(cond string, args []any) string {
	var b strings.Builder
	var quote rune
	next := 0
	for _, c := range cond {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '?':
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(len(w.Args) + 1 + next))
			next++
			continue
		}
		b.WriteRune(c)
	}
	w.Args = append(w.Args, args...)
	return b.String()
}
