package v3

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

// cleanPrefix brings [keystone_go] path_prefix to the form /a/b, or "".
func cleanPrefix(p string) string {
	if p = strings.Trim(p, "/"); p == "" {
		return ""
	}
	return "/" + p
}

// cleanPath gives the path that is routed: decoded, without the prefix,
// without a slash at its end. A path outside the prefix, with a doubled slash
// or with a NUL is nobody's.
func (a *API) cleanPath(u *url.URL) (string, bool) {
	path := u.Path
	if strings.Contains(path, "//") || strings.Contains(path, "\x00") {
		return "", false
	}
	path, ok := strings.CutPrefix(path, a.cfg.PathPrefix)
	if !ok || path != "" && path[0] != '/' {
		return "", false
	}
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		path = "/"
	}
	// Python's WSGI servers replace what is no UTF-8 in a path as well.
	return strings.ToValidUTF8(path, "\uFFFD"), true
}

var (
	versionEnd = regexp.MustCompile(`/v(3|2\.0)/*$`)
	schemeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)
	hostForm   = regexp.MustCompile(`^[A-Za-z0-9._:\[\]-]+$`)
)

// baseURL is where the client reaches the server: [DEFAULT] public_endpoint,
// or scheme, host and prefix of the request (base_url in
// keystone/server/flask/common.py), without a slash at the end.
func (a *API) baseURL(r *http.Request, how clientaddr.How) string {
	if a.cfg.PublicEndpoint != "" {
		return strings.TrimRight(a.cfg.PublicEndpoint, "/")
	}
	scheme, host, prefix := "http", r.Host, a.cfg.PathPrefix
	if r.TLS != nil {
		scheme = "https"
	}
	// Where the proxies are known, nobody else may say what the links are.
	if !a.cfg.ProxiesListed || how != clientaddr.Peer {
		if v := lastValue(r.Header, "X-Forwarded-Proto"); schemeForm.MatchString(v) {
			scheme = v
		}
		if a.cfg.ParseProxy {
			scheme, host = proxied(r, scheme, host)
			if v := lastValue(r.Header, "X-Forwarded-Prefix"); v != "" {
				prefix = cleanPrefix(v)
			}
		}
	}
	switch strings.ToLower(scheme) {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	prefix = strings.TrimRight(versionEnd.ReplaceAllString(prefix, ""), "/")
	return scheme + "://" + host + prefix
}

// proxied is what proxies say of scheme and host (oslo.middleware's
// HTTPProxyToWSGI): the first of Forwarded, which is the one that clients see,
// and without it X-Forwarded-Host.
func proxied(r *http.Request, scheme, host string) (string, string) {
	said := map[string]string{"host": lastValue(r.Header, "X-Forwarded-Host")}
	if forwarded, _ := header(r, "Forwarded"); forwarded != "" {
		clear(said)
		first, _, _ := strings.Cut(forwarded, ",")
		for pair := range strings.SplitSeq(first, ";") {
			name, value, _ := strings.Cut(pair, "=")
			said[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	if v := said["proto"]; schemeForm.MatchString(v) {
		scheme = v
	}
	if v := said["host"]; hostForm.MatchString(v) {
		host = v
	}
	return scheme, host
}

// lastValue is the part of a comma list that the nearest proxy wrote.
func lastValue(h http.Header, name string) string {
	all := h.Values(name)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}
