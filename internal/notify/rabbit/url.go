package rabbit

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// host is one broker of a transport_url, and who we are to it.
type host struct{ address, name, user, password string }

// address is a transport_url, taken apart as oslo.messaging does it.
type address struct {
	hosts []host
	vhost string
	query url.Values
}

// Errors never hold the URL: there are passwords in it.
var (
	errScheme = errors.New("transport_url: only rabbit:// is served")
	errPort   = errors.New("transport_url: the port of a host is no number")
)

// parse reads rabbit://user:password@host:port,user:password@host:port/vhost.
// Go's own URLs know one host alone.
func parse(text string) (address, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || scheme != "rabbit" && scheme != "kombu" {
		return address{}, errScheme
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	a := address{vhost: unquoted(path)}
	if a.vhost == "" {
		a.vhost = "/"
	}
	a.query, _ = url.ParseQuery(query)
	for one := range strings.SplitSeq(authority, ",") {
		if one == "" {
			continue
		}
		h, err := parseHost(one)
		if err != nil {
			return address{}, err
		}
		a.hosts = append(a.hosts, h)
	}
	if a.hosts == nil {
		h, _ := parseHost("localhost")
		a.hosts = []host{h}
	}
	return a, nil
}

func parseHost(text string) (host, error) {
	h := host{user: "guest", password: "guest"}
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		user, password, _ := strings.Cut(text[:i], ":")
		if user != "" {
			h.user, h.password = unquoted(user), unquoted(password)
		}
		text = text[i+1:]
	}
	name, port := text, "5672"
	if n, p, err := net.SplitHostPort(text); err == nil {
		name, port = n, p
	}
	h.name = strings.Trim(name, "[]")
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return h, errPort
	}
	if h.name == "" {
		h.name = "localhost"
	}
	h.address = net.JoinHostPort(h.name, port)
	return h, nil
}

func unquoted(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// override puts what the URL's query says in the place of options, as oslo.messaging
// lets it: rabbit://…?ssl=1&ssl_ca_file=….
func (o *Options) override(q url.Values) error {
	for name, values := range q {
		v := strings.Join(values, ",")
		on, err := truth(v)
		switch name {
		case "ssl":
			o.TLS.On = on
		case "ssl_version":
			o.TLS.Version, err = v, nil
		case "ssl_ca_file":
			o.TLS.CAFile, err = v, nil
		case "ssl_cert_file":
			o.TLS.CertFile, err = v, nil
		case "ssl_key_file":
			o.TLS.KeyFile, err = v, nil
		case "amqp_durable_queues":
			o.Durable = on
		case "amqp_auto_delete":
			o.AutoDelete = on
		case "rabbit_quorum_queue":
			o.Quorum = on
		default:
			err = nil // others concern parts of oslo.messaging that are not here
		}
		if err != nil {
			return fmt.Errorf("transport_url: %s is neither true nor false", name)
		}
	}
	return nil
}

// truth reads a flag as oslo.config does.
func truth(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "1", "on", "yes":
		return true, nil
	case "false", "0", "off", "no":
		return false, nil
	}
	return false, errors.New("no truth value")
}
