package v3

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// CORS is the section [cors]: who may call from the pages of another origin
// (the filter of oslo.middleware). Without an origin nobody may.
type CORS struct {
	Origins     []string // allowed_origin; "*" is any
	Credentials bool     // allow_credentials
	Expose      []string // expose_headers
	MaxAge      int      // max_age, seconds; 0 is not said
	Methods     []string // allow_methods
	Headers     []string // allow_headers, beside those that are always allowed
}

// alwaysAllowed are oslo.middleware's simple headers.
var alwaysAllowed = []string{
	"Accept", "Accept-Language", "Content-Type", "Cache-Control", "Content-Language", "Expires", "Last-Modified", "Pragma",
}

// header is a request's header as WSGI sees it: several of one name are one.
func header(r *http.Request, name string) (value string, there bool) {
	all := r.Header.Values(name)
	return strings.Join(all, ","), len(all) > 0
}

// concerns reports whether the answer to a request may need headers.
func (c CORS) concerns(r *http.Request) bool {
	return len(c.Origins) > 0 && len(r.Header.Values("Origin")) > 0
}

// apply adds to the headers of an answer what its request needs.
func (c CORS) apply(r *http.Request, h http.Header) {
	origin, there := header(r, "Origin")
	if !there {
		return
	}
	if !slices.Contains(c.Origins, origin) {
		if !slices.Contains(c.Origins, "*") {
			return
		}
		origin = "*"
	}
	if r.Method == http.MethodOptions {
		c.preflight(r, h, origin)
		return
	}
	vary := "Origin"
	if before := h.Get("Vary"); before != "" {
		vary = before + ",Origin"
	}
	c.allow(h, origin, vary)
	if len(c.Expose) > 0 {
		h.Set("Access-Control-Expose-Headers", strings.Join(c.Expose, ","))
	}
}

func (c CORS) allow(h http.Header, origin, vary string) {
	h.Set("Vary", vary)
	h.Set("Access-Control-Allow-Origin", origin)
	if c.Credentials {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
}

// preflight answers whether a method and headers may be used; what may not is
// left without an answer.
func (c CORS) preflight(r *http.Request, h http.Header, origin string) {
	method, asked := header(r, "Access-Control-Request-Method")
	if !asked || !slices.Contains(c.Methods, method) {
		return
	}
	text, _ := header(r, "Access-Control-Request-Headers")
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		same := func(allowed string) bool { return strings.EqualFold(allowed, name) }
		if !slices.ContainsFunc(c.Headers, same) && !slices.ContainsFunc(alwaysAllowed, same) {
			return
		}
		names = append(names, name)
	}
	c.allow(h, origin, "Origin")
	if c.MaxAge != 0 {
		h.Set("Access-Control-Max-Age", strconv.Itoa(c.MaxAge))
	}
	h.Set("Access-Control-Allow-Methods", method)
	if len(names) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(names, ","))
	}
}
