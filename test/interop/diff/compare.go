package diff

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// equalHeaders are compared by value.
var equalHeaders = []string{
	"Content-Type", "Vary", "Www-Authenticate", "Location", "Allow", "Content-Encoding",
	"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Retry-After",
}

// transport are headers of the connection and of the web server.
var transport = []string{"Connection", "Content-Length", "Date", "Keep-Alive", "Server", "Transfer-Encoding"}

// Compare lists what differs, one line a difference, each beginning with what
// it is about: "status", "header NAME", "body" or a path such as $.error.code.
// a is the reference. method is the request's.
func Compare(method string, a, b Answer) []string {
	if a.Broken != "" || b.Broken != "" {
		if (a.Broken == "") != (b.Broken == "") {
			return []string{fmt.Sprintf("broken: %q, here %q", brief(a), brief(b))}
		}
		return nil
	}
	var out []string
	if a.Status != b.Status {
		// The rest differs then, and says nothing.
		return []string{fmt.Sprintf("status: %s, here %s", brief(a), brief(b))}
	}
	for _, h := range equalHeaders {
		want, got := a.Header.Get(h), b.Header.Get(h)
		if h == "Allow" {
			want, got = sorted(want), sorted(got)
		}
		if want != got {
			out = append(out, fmt.Sprintf("header %s: %q, here %q", h, want, got))
		}
	}
	for _, h := range otherHeaders(a, b) {
		// Others hold a new value in each answer; that both have one counts.
		if there, here := a.Header.Get(h) != "", b.Header.Get(h) != ""; there != here {
			out = append(out, fmt.Sprintf("header %s: there %v, here %v", h, there, here))
		}
	}
	if method == "HEAD" {
		return out
	}
	return append(out, bodies(method, a, b)...)
}

// otherHeaders are those of either answer that are not compared by value. A 204
// has no length by RFC 9110, which Python's servers send nevertheless.
func otherHeaders(a, b Answer) []string {
	out := []string{}
	if a.Status != http.StatusNoContent {
		out = append(out, "Content-Length")
	}
	for _, header := range []http.Header{a.Header, b.Header} {
		for name := range header {
			if !slices.Contains(transport, name) && !slices.Contains(equalHeaders, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func brief(a Answer) string {
	if a.Broken != "" {
		return a.Broken
	}
	var e struct{ Error struct{ Message string } }
	if json.Unmarshal([]byte(a.Body), &e) == nil && e.Error.Message != "" {
		return fmt.Sprintf("%d (%.100s)", a.Status, hideTokens(e.Error.Message))
	}
	return strconv.Itoa(a.Status)
}

var fernetToken = regexp.MustCompile(`gAAAAA[A-Za-z0-9_=-]+`)

// hideTokens keeps secrets out of what is printed.
func hideTokens(s string) string { return fernetToken.ReplaceAllString(s, "gAAAAA…") }

func sorted(s string) string {
	l := strings.Split(s, ", ")
	sort.Strings(l)
	return strings.Join(l, ", ")
}

func bodies(method string, a, b Answer) []string {
	var want, got any
	if json.Unmarshal([]byte(a.Body), &want) != nil {
		if a.Body != b.Body {
			return []string{fmt.Sprintf("body: %.160q, here %.160q", hideTokens(a.Body), hideTokens(b.Body))}
		}
		return nil
	}
	if err := json.Unmarshal([]byte(b.Body), &got); err != nil {
		return []string{fmt.Sprintf("body: JSON, here %.160q", hideTokens(b.Body))}
	}
	var out []string
	if strings.HasSuffix(a.Body, "\n") != strings.HasSuffix(b.Body, "\n") {
		out = append(out, "body: the line end behind it")
	}
	if spaced(a.Body) != spaced(b.Body) {
		out = append(out, "body: the spaces between its parts")
	}
	m := masker{method: method, status: a.Status}
	differ("$", m.normal("$", want), m.normal("$", got), &out)
	return out
}

// spaced tells Python's two ways to write JSON apart: ", " and ",".
func spaced(body string) bool { return strings.Contains(body, `": `) }

// masker turns a body into what is compared.
type masker struct {
	method string
	status int
}

func (m masker) normal(path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = m.normal(path+"."+k, x)
		}
		if life, known := lifetime(v); known && path == "$.token" && m.method == "POST" {
			out["lifetime"] = life
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = m.normal(fmt.Sprintf("%s[%d]", path, i), x)
		}
		if unordered.MatchString(path) {
			sort.SliceStable(out, func(i, j int) bool { return text(out[i]) < text(out[j]) })
		}
		return out
	case string:
		for _, r := range Masks {
			if r.covers(m, path, v) {
				return "<" + r.Name + ">"
			}
		}
	}
	return v
}

// lifetime is how long a token of a password will live: its times are masked.
// The two are taken one after the other, and may be a second apart.
func lifetime(token map[string]any) (string, bool) {
	if !reflect.DeepEqual(token["methods"], []any{"password"}) {
		return "", false
	}
	var at [2]time.Time
	for i, k := range []string{"issued_at", "expires_at"} {
		s, _ := token[k].(string)
		var err error
		if at[i], err = time.Parse(time.RFC3339, s); err != nil {
			return "", false
		}
	}
	return at[1].Sub(at[0]).Round(10 * time.Second).String(), true
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return hideTokens(string(b))
}

// differ lists the differences of two normal bodies.
func differ(path string, want, got any, out *[]string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := []string{}
		for k := range w {
			keys = append(keys, k)
		}
		for k := range g {
			if _, both := w[k]; !both {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			x, inWant := w[k]
			y, inGot := g[k]
			switch {
			case !inGot:
				*out = append(*out, fmt.Sprintf("%s.%s: %.160s, missing here", path, k, text(x)))
			case !inWant:
				*out = append(*out, fmt.Sprintf("%s.%s: missing, here %.160s", path, k, text(y)))
			default:
				differ(path+"."+k, x, y, out)
			}
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			differ(fmt.Sprintf("%s[%d]", path, i), w[i], g[i], out)
		}
		return
	}
	if !reflect.DeepEqual(want, got) {
		*out = append(*out, fmt.Sprintf("%s: %.160s, here %.160s", path, text(want), text(got)))
	}
}
