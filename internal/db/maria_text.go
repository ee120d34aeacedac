package db

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// translated is a text with ? for placeholders, and which argument each takes,
// counted from 0.
type translated struct {
	text  string
	order []int
}

// The translations that were made. Texts are few, but for the lengths of their
// lists; beyond so many none is kept.
const mostTranslated = 10_000

var (
	translations sync.Map // of the text, *translated
	translatedN  atomic.Int64
)

// mariaTranslate writes ? for $1 and the like, and puts arguments in the order
// and number in which the text names them.
func mariaTranslate(text string, args []any) (string, []any, error) {
	t := mariaText(text)
	ordered := make([]any, len(t.order))
	for i, n := range t.order {
		if n < 0 || n >= len(args) {
			return "", nil, fmt.Errorf("a statement with $%d has %d arguments", n+1, len(args))
		}
		ordered[i] = args[n]
	}
	return t.text, ordered, nil
}

func mariaText(text string) *translated {
	if t, ok := translations.Load(text); ok {
		return t.(*translated)
	}
	t := translate(text)
	if translatedN.Load() < mostTranslated {
		if _, known := translations.LoadOrStore(text, t); !known {
			translatedN.Add(1)
		}
	}
	return t
}

// translate reads a text once. In quotes and comments nothing is a placeholder;
// a backslash in a string, which is one letter to the other engines, is doubled.
func translate(text string) *translated {
	t := &translated{}
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			end := i + 1 + strings.IndexByte(text[i+1:], c) + 1
			if end == i+1 {
				end = len(text)
			}
			part := text[i:end]
			if c == '\'' {
				part = strings.ReplaceAll(part, `\`, `\\`)
			}
			b.WriteString(part)
			i = end
		case strings.HasPrefix(text[i:], "--"):
			i += strings.IndexByte(text[i:]+"\n", '\n') // left out
		case c == ' ' && castTo(text[i:]) != "":
			kind := castTo(text[i:])
			b.WriteString(casts[kind])
			i += len(kind)
		case c == '$' && i+1 < len(text) && isDigit(text[i+1]):
			n := 0
			for i++; i < len(text) && isDigit(text[i]); i++ {
				n = n*10 + int(text[i]-'0')
			}
			b.WriteByte('?')
			t.order = append(t.order, n-1)
		default:
			b.WriteByte(c)
			i++
		}
	}
	t.text = b.String()
	return t
}

// casts are the types that a cast has other names for.
var casts = map[string]string{" as varchar)": " as char)", " as bigint)": " as signed)"}

func castTo(text string) string {
	for kind := range casts {
		if strings.HasPrefix(text, kind) {
			return kind
		}
	}
	return ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
