// Package golden replays requests recorded from a Python Keystone against the
// server and compares the answers.
package golden

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// Exchange is one recorded request with its answer.
type Exchange struct {
	Name    string
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         *string
		Fill         []any // prefix, character, how often, suffix
	}
	Response struct {
		Status  int
		Headers [][2]string
		Body    string
		JSON    any
		Error   string
	}
	Varies []string
}

// body is what was sent.
func (x Exchange) body() string {
	if f := x.Request.Fill; len(f) == 4 {
		return f[0].(string) + strings.Repeat(f[1].(string), int(f[2].(float64))) + f[3].(string)
	}
	if x.Request.Body == nil {
		return ""
	}
	return *x.Request.Body
}

func (x Exchange) header(name string) string {
	for _, h := range x.Response.Headers {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// answer is what the server gave.
type answer struct {
	status int
	header func(string) string
	body   string
}

// compared are the headers that clients act on.
var compared = []string{"Content-Type", "Vary", "WWW-Authenticate", "Location", "Allow"}

// present are headers whose value is new each time.
var present = []string{"X-Subject-Token", "Openstack-Auth-Receipt", "X-Openstack-Request-Id"}

// differences lists what differs; none means that a client cannot tell the two
// servers apart.
func (x Exchange) differences(a answer) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if a.status != x.Response.Status {
		add("status %d, want %d", a.status, x.Response.Status)
	}
	for _, h := range compared {
		got, want := a.header(h), x.header(h)
		if h == "Allow" {
			got, want = sortedList(got), sortedList(want)
		}
		if got != want {
			add("header %s: %q, want %q", h, got, want)
		}
	}
	for _, h := range present {
		if (a.header(h) == "") != (x.header(h) == "") {
			add("header %s: %q, want %q", h, a.header(h), x.header(h))
		}
	}
	if x.Request.Method == "HEAD" || x.Response.JSON == nil {
		if x.Response.JSON == nil && x.Request.Method != "HEAD" && a.body != x.Response.Body {
			add("body %.120q, want %.120q", a.body, x.Response.Body)
		}
		return out
	}
	var got any
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		return append(out, fmt.Sprintf("body is no JSON: %.120q", a.body))
	}
	if strings.HasSuffix(x.Response.Body, "\n") != strings.HasSuffix(a.body, "\n") {
		add("the line end behind the body differs")
	}
	return append(out, x.compareJSON(got)...)
}

func sortedList(s string) string {
	l := strings.Split(s, ", ")
	sort.Strings(l)
	return strings.Join(l, ", ")
}

func (x Exchange) compareJSON(got any) []string {
	want := normal(x.Response.JSON, "$", x.Varies)
	got = normal(got, "$", x.Varies)
	if reflect.DeepEqual(want, got) {
		return nil
	}
	var out []string
	diff("$", want, got, &out)
	if len(out) > 8 {
		out = append(out[:8], "…")
	}
	return out
}

// unordered are lists that come out of Python sets or unsorted reads.
var unordered = regexp.MustCompile(`\$\.token\.(roles|methods|catalog|service_providers)$|\.catalog$|\.endpoints$|required_auth_methods|\$\.(projects|domains|regions)$|\.tags$|error\.identity\.methods$`)

// schemaText is jsonschema's own wording, which is no contract.
var schemaText = regexp.MustCompile(`Failed validating|does not have enough properties|is not of type|is a required property`)

func normal(v any, path string, varies []string) any {
	if slices.Contains(varies, "body "+path) {
		return "<varies>"
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = normal(x, path+"."+k, varies)
		}
		return out
	case []any:
		// In a list without order it was the order that varied.
		sorts := unordered.MatchString(path)
		if sorts {
			varies = nil
		}
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = normal(x, fmt.Sprintf("%s[%d]", path, i), varies)
		}
		if sorts {
			sort.SliceStable(out, func(i, j int) bool { return text(out[i]) < text(out[j]) })
		}
		return out
	case string:
		if path == "$.error.message" && schemaText.MatchString(v) {
			return "<schema>"
		}
	}
	return v
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func diff(path string, want, got any, out *[]string) {
	w, wok := want.(map[string]any)
	g, gok := got.(map[string]any)
	if wok && gok {
		for k := range w {
			if _, there := g[k]; !there {
				*out = append(*out, path+"."+k+": missing")
				continue
			}
			diff(path+"."+k, w[k], g[k], out)
		}
		for k := range g {
			if _, there := w[k]; !there {
				*out = append(*out, path+"."+k+": not expected")
			}
		}
		return
	}
	wl, wok := want.([]any)
	gl, gok := got.([]any)
	if wok && gok && len(wl) == len(gl) {
		for i := range wl {
			diff(fmt.Sprintf("%s[%d]", path, i), wl[i], gl[i], out)
		}
		return
	}
	if !reflect.DeepEqual(want, got) {
		*out = append(*out, fmt.Sprintf("%s: %.160s, want %.160s", path, text(got), text(want)))
	}
}
