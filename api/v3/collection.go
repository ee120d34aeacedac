package v3

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// hints reads the list's filters, marker and limit from the query. config is
// the list_limit of the resource, 0 for none; the limit that a request asks for
// is bounded by [DEFAULT] max_db_limit.
func (c *Call) hints(config int, names ...string) (hints.Hints, error) {
	pairs := pairsOf(c.r.URL.RawQuery)
	h := hints.Hints{Filters: hints.Parse(pairs, names), Limit: config, Limited: config > 0, Max: c.maxList}
	for _, p := range pairs {
		switch p.Name {
		case "marker":
			h.Marker = &p.Value
		case "limit":
			n, err := strconv.Atoi(strings.TrimSpace(p.Value))
			if err != nil || n < 0 {
				return h, invalid("the limit %q is not a whole number of at least 0", p.Value)
			}
			h.Limit, h.Limited = min(n, c.maxList), true
		}
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
	read  func(context.Context, hints.Hints) (hints.Page[T], error)
	view  func(*Call, T) pyjson.Object
}

// answer reads a list and shows it.
func (l lists[T]) answer(c *Call) (Reply, error) {
	h, err := c.hints(l.limit, l.filters...)
	if err != nil {
		return Reply{}, err
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
	kept := make([]pyjson.Object, 0, len(p.Rows))
	for _, row := range p.Rows {
		if o := view(c, row); hints.Match(o, p.Rest) {
			kept = append(kept, o)
		}
	}
	if h.Limited && !p.Paged && len(kept) > h.Limit {
		kept, p.Truncated = kept[:h.Limit], true
	}
	var next any
	if n := len(kept); p.Truncated && n > 0 {
		if id, isText := kept[n-1].String("id"); isText {
			next = c.nextPage(id, h.Limit)
		}
	}
	return c.list(key, kept, next, p.Truncated)
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
	if items == nil {
		items = []pyjson.Object{}
	}
	body := pyjson.Object{
		{Key: key, Value: items},
		{Key: "links", Value: pyjson.Object{{Key: "next", Value: next}, {Key: "self", Value: c.Self()}, {Key: "previous", Value: nil}}},
	}
	if truncated {
		body = append(body, pyjson.Member{Key: "truncated", Value: true})
	}
	return Reply{Status: http.StatusOK, Body: body}
}
