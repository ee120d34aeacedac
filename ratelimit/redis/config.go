package redis

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Config says which server to use. Only URL is needed.
type Config struct {
	// URL is redis://[user:password@]host[:port][/database], rediss:// for
	// TLS, or unix:///path. For Sentinel and Cluster it may name several hosts,
	// with commas between them.
	URL string
	// SentinelMaster is the name of the primary that the hosts, which are
	// Sentinels then, are asked for. Their own credentials are the options
	// sentinel_username and sentinel_password of the URL.
	SentinelMaster string
	// Cluster says that the hosts are of a Redis Cluster.
	Cluster bool
	// CAFile, CertFile and KeyFile are PEM files: who signed the server's
	// certificate, instead of the system's authorities, and what the server is
	// shown, if it asks. ServerName replaces the host's name in the check.
	CAFile, CertFile, KeyFile, ServerName string
	// Secret keys the hashes that stand in the server for addresses and names.
	// Processes share a quota only if they have the same.
	Secret []byte
	// Prefix begins the name of every key; "keystone-go:ratelimit" when empty.
	Prefix string
	// Budget bounds one decision (50 ms when 0), DialTimeout one connection
	// (100 ms when 0).
	Budget, DialTimeout time.Duration
	// PoolSize is the most connections to a server, ten a core when 0.
	PoolSize int
	// Observe is told how each call to the server went: Done, Broke, Gone for a
	// caller that went away, or Spared when the breaker let nobody ask. It must
	// not wait; nil means that nobody is told.
	Observe func(outcome string, took time.Duration)
}

// How a call to the server went.
const (
	Done   = "done"
	Broke  = "error"
	Gone   = "gone"
	Spared = "breaker"
)

// What Config leaves out.
const (
	usualPrefix = "keystone-go:ratelimit"
	usualBudget = 50 * time.Millisecond
	usualDial   = 100 * time.Millisecond
	usualPort   = "6379"
	sentinels   = "26379"
)

func (c Config) withDefaults() Config {
	if c.Prefix == "" {
		c.Prefix = usualPrefix
	}
	if c.Budget <= 0 {
		c.Budget = usualBudget
	}
	if c.DialTimeout <= 0 {
		c.DialTimeout = usualDial
	}
	if c.PoolSize <= 0 {
		c.PoolSize = 10 * runtime.GOMAXPROCS(0)
	}
	return c
}

// target is a URL taken apart.
type target struct {
	network          string // tcp or unix
	hosts            []string
	user, password   string
	sentinelUser     string
	sentinelPassword string
	database         int
	encrypted        bool
	sentinel         bool
}

var errURL = errors.New("redis: the URL is not redis://[user:password@]host[:port][/database], rediss://… or unix:///path")

// parse reads the URL by hand: several hosts are more than net/url takes. Its
// errors quote nothing, since a password may be anywhere in what was misread.
func (c Config) parse() (target, error) {
	t := target{network: "tcp", sentinel: c.SentinelMaster != ""}
	scheme, rest, ok := strings.Cut(c.URL, "://")
	if !ok {
		return t, errURL
	}
	rest, query, _ := strings.Cut(rest, "?")
	if err := t.options(query); err != nil {
		return t, err
	}
	// The password may hold anything but a bare slash; the last @ ends it.
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if err := t.credentials(authority[:at]); err != nil {
			return t, err
		}
		authority = authority[at+1:]
	}
	switch strings.ToLower(scheme) {
	case "unix":
		if authority != "" || path == "" || t.sentinel || c.Cluster {
			return t, errURL
		}
		t.network, t.hosts = "unix", []string{"/" + path}
		return t, nil
	case "redis":
	case "rediss":
		t.encrypted = true
	default:
		return t, errURL
	}
	return t, errors.Join(t.servers(authority), t.number(path, c.Cluster), t.modes(c.Cluster))
}

func (t *target) options(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("redis: the options of the URL cannot be read")
	}
	for k, v := range values {
		switch k {
		case "sentinel_username":
			t.sentinelUser = v[len(v)-1]
		case "sentinel_password":
			t.sentinelPassword = v[len(v)-1]
		default:
			return errors.New("redis: the URL takes no options but sentinel_username and sentinel_password")
		}
	}
	return nil
}

func (t *target) credentials(text string) error {
	user, password, both := strings.Cut(text, ":")
	var err1, err2 error
	t.user, err1 = url.PathUnescape(user)
	t.password, err2 = url.PathUnescape(password)
	if err1 != nil || err2 != nil {
		return errors.New("redis: the credentials in the URL have a broken percent escape")
	}
	if !both {
		return errors.New("redis: the URL has a user and no password; a password alone is written :password@")
	}
	return nil
}

func (t *target) servers(list string) error {
	port := usualPort
	if t.sentinel {
		port = sentinels
	}
	for host := range strings.SplitSeq(list, ",") {
		if host == "" {
			return errURL
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		if _, p, err := net.SplitHostPort(host); err != nil {
			return errURL
		} else if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return errors.New("redis: a port in the URL is not in 1..65535")
		}
		t.hosts = append(t.hosts, host)
	}
	return nil
}

func (t *target) number(path string, cluster bool) error {
	if path == "" {
		return nil
	}
	n, err := strconv.Atoi(path)
	if err != nil || n < 0 {
		return errors.New("redis: the database in the URL is not a number")
	}
	if cluster && n != 0 {
		return errors.New("redis: a cluster has the database 0 alone")
	}
	t.database = n
	return nil
}

func (t *target) modes(cluster bool) error {
	switch {
	case cluster && t.sentinel:
		return errors.New("redis: Sentinel and Cluster exclude each other")
	case len(t.hosts) > 1 && !cluster && !t.sentinel:
		return errors.New("redis: several hosts are for Sentinel or Cluster")
	}
	return nil
}

// tls makes the settings of an encrypted connection; nil for a plain one.
func (c Config) tls(t target) (*tls.Config, error) {
	if !t.encrypted {
		if c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" {
			return nil, errors.New("redis: certificates are given for a URL without TLS: it begins with rediss:// then")
		}
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("redis: the authorities: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("redis: %s holds no certificate", c.CAFile)
		}
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		return nil, errors.New("redis: a certificate and its key go together")
	}
	if c.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("redis: the own certificate: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}
