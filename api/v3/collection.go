package v3

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// wholeNumber is what Python's int() takes, of ASCII digits, for a number.
var wholeNumber = regexp.MustCompile(`^[+-]?[0-9]+(_[0-9]+)*$`)

// hints reads the list's filters, marker and limit from the query. config is
// the list_limit of the resource, 0 for none; the limit that a request asks for
// is bounded by [DEFAULT] max_db_limit.
func (c *Call) hints(config int, names ...string) (hints.Hints, error) {
	pairs := pairsOf(c.r.URL.RawQuery)
	h := hints.Hints{Filters: hints.Parse(pairs, names), Limit: config, Limited: config > 0, Max: c.maxList}
	if v := c.Query("marker"); v != "" {
		h.Marker = &v
	}
	if v := c.Query("limit"); v != "" {
		v = strings.TrimSpace(v)
		n, _ := strconv.Atoi(strings.ReplaceAll(v, "_", "")) // the nearest, where it is beyond any number
		if !wholeNumber.MatchString(v) || n < 0 {
			return h, invalid("the limit %q is not a whole number of at least 0", v)
		}
		h.Limit, h.Limited = min(n, c.maxList), true
	}
	return h, nil
}

// filterAttributes are the parameters that a rule may look at: those that the
// row knows.
func (c *Call) filterAttributes() pyjson.Object {
	out := pyjson.Object{}
	for _, f := range c.route.Query.fields {
		if v, found := c.query[f.name]; found {
			out = append(out, pyjson.Member{Key: f.name, Value: v[0]})
		}
	}
	return out
}

// pairsOf splits a query in its order, which url.Values does not keep. A pair
// that does not decode is left out.
func pairsOf(raw string) []hints.Pair {
	var out []hints.Pair
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		k, v, _ := strings.Cut(part, "=")
		name, err1 := url.QueryUnescape(k)
		value, err2 := url.QueryUnescape(v)
		if err1 == nil && err2 == nil {
			out = append(out, hints.Pair{Name: name, Value: value})
		}
	}
	return out
}

// lists are the lists of one resource.
type lists[T any] struct {
	key string // of the collection in the answer
	// filters are the attributes that a query may ask for.
	filters []string
	// limit is the resource's list_limit, 0 for none.
	limit int
	// fixed is set where a request cannot ask for another limit than that, as
	// Python Keystone has it of users and groups.
	fixed bool
	read  func(context.Context, hints.Hints) (hints.Page[T], error)
	view  func(*Call, T) pyjson.Object
}

// answer reads a list and shows it.
func (l lists[T]) answer(c *Call) (Reply, error) {
	h, err := c.hints(l.limit, l.filters...)
	if err != nil {
		return Reply{}, err
	}
	if l.fixed && l.limit > 0 {
		h.Limit = l.limit
	}
	p, err := l.read(c.Ctx(), h)
	if err != nil {
		return Reply{}, err
	}
	return collection(c, l.key, p, h, l.view), nil
}

// collection shows a page: it asks the filters that are left over, cuts to the
// limit and links to the next page (wrap_collection in
// keystone/server/flask/common.py).
func collection[T any](c *Call, key string, p hints.Page[T], h hints.Hints, view func(*Call, T) pyjson.Object) Reply {
	l := newListing(key, len(p.Rows))
	var last pyjson.Object
	for _, row := range p.Rows {
		o := view(c, row)
		if !hints.Match(o, p.Rest) {
			continue
		}
		if h.Limited && !p.Paged && l.count == h.Limit {
			p.Truncated = true
			break
		}
		l.add(o)
		last = o
	}
	var next any
	if p.Truncated {
		if id, isText := last.String("id"); isText {
			next = c.nextPage(id, h.Limit)
		}
	}
	return l.end(c, next, p.Truncated)
}

// nextPage is the address of the list after the id: the query's parameters,
// each with its first value.
func (c *Call) nextPage(id string, limit int) string {
	var out []string
	set := map[string]string{"marker": id, "limit": strconv.Itoa(limit)}
	seen := map[string]bool{}
	for _, p := range append(pairsOf(c.r.URL.RawQuery), hints.Pair{Name: "marker"}, hints.Pair{Name: "limit"}) {
		if seen[p.Name] {
			continue
		}
		seen[p.Name] = true
		if v, ours := set[p.Name]; ours {
			p.Value = v
		}
		out = append(out, url.QueryEscape(p.Name)+"="+url.QueryEscape(p.Value))
	}
	return c.base + c.r.URL.Path + "?" + strings.Join(out, "&")
}

// list is the answer of a collection. next is nil or the next page's address.
func (c *Call) list(key string, items []pyjson.Object, next any, truncated bool) Reply {
	l := newListing(key, len(items))
	for _, o := range items {
		l.add(o)
	}
	return l.end(c, next, truncated)
}

// listing writes the answer of a collection one by one: as objects, a long list
// takes many times the memory of its text.
type listing struct {
	body        []byte
	count, most int
}

// newListing begins one of at most so many items.
func newListing(key string, most int) *listing {
	body := pyjson.Append(append(make([]byte, 0, 1024), '{'), key)
	return &listing{body: append(body, ": ["...), most: most}
}

func (l *listing) add(o pyjson.Object) {
	start := len(l.body)
	if l.count > 0 {
		l.body = append(l.body, ", "...)
	}
	l.body = pyjson.Append(l.body, o)
	if l.count++; l.count == 1 {
		// The others are about as long as the first.
		size := len(l.body) - start + len(", ")
		l.body = slices.Grow(l.body, (size+size/16)*(l.most-1)+1024)
	}
}

// end closes the list; next is nil or the next page's address.
func (l *listing) end(c *Call, next any, truncated bool) Reply {
	links := pyjson.Object{{Key: "links", Value: pyjson.Object{{Key: "next", Value: next}, {Key: "self", Value: c.Self()}, {Key: "previous", Value: nil}}}}
	if truncated {
		links = append(links, pyjson.Member{Key: "truncated", Value: true})
	}
	l.body = append(l.body, "], "...)
	from := len(l.body)
	l.body = pyjson.Append(l.body, links)
	l.body = append(l.body[:from], l.body[from+len("{"):]...)
	return Reply{Status: http.StatusOK, Body: append(l.body, '\n')}
}
