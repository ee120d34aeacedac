package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/listen"
	"github.com/keystone-go/keystone-go/internal/ops"
)

// sockets are what the server listens on.
type sockets struct{ public, admin []net.Listener }

// adminNames are what a socket of the service manager may be called to be the
// admin listener; every other one serves the API.
var adminNames = []string{"metrics", "admin"}

// openSockets takes the sockets of the service manager, and opens what it
// leaves out.
func (p *program) openSockets(ctx context.Context, c conf.KeystoneGo) (s sockets, err error) {
	given, err := listen.Activated(p.env, os.Getpid())
	if err != nil {
		return s, err
	}
	for _, g := range given {
		if g.Name == "uwsgi" {
			return sockets{}, errors.Join(errors.New("socket uwsgi of the service manager: its protocol is not served, only HTTP"), g.Close(), s.close())
		}
		if slices.Contains(adminNames, g.Name) {
			s.admin = append(s.admin, g.Listener)
		} else {
			s.public = append(s.public, g.Listener)
		}
	}
	u, err := unixOf(c)
	if err != nil {
		return sockets{}, errors.Join(err, s.close())
	}
	var faults []error
	switch {
	case len(s.public) > 0:
	case len(c.Listen) == 0:
		faults = append(faults, errors.New("[keystone_go] listen names no address"))
	default:
		if s.public, err = listen.OpenAll(ctx, c.Listen, u); err != nil {
			faults = append(faults, fmt.Errorf("[keystone_go] listen: %w", err))
		}
	}
	if len(s.admin) == 0 && c.AdminListen != "" {
		if s.admin, err = listen.OpenAll(ctx, []string{c.AdminListen}, u); err != nil {
			faults = append(faults, fmt.Errorf("[keystone_go] admin_listen: %w", err))
		}
	}
	if len(faults) > 0 {
		return sockets{}, errors.Join(append(faults, s.close())...)
	}
	if c.SocketPeer == "" && slices.ContainsFunc(s.public, isUnix) {
		slog.WarnContext(ctx, "The API listens on a unix socket and [keystone_go] socket_peer is not set: requests have no client address, and those that limits apply to are answered 503")
	}
	return s, nil
}

func unixOf(c conf.KeystoneGo) (listen.Unix, error) {
	mode, err := strconv.ParseUint(c.SocketMode, 8, 32)
	if err != nil || mode > 0o777 {
		return listen.Unix{}, fmt.Errorf("[keystone_go] socket_mode = %s is no mode in octal, such as 0660", c.SocketMode)
	}
	return listen.Unix{Mode: fs.FileMode(mode), Group: c.SocketGroup}, nil
}

func isUnix(l net.Listener) bool { return l.Addr().Network() == "unix" }

func (s sockets) close() error {
	var err error
	for _, l := range append(s.public, s.admin...) {
		err = errors.Join(err, l.Close())
	}
	return err
}

func addresses(list []net.Listener) []string {
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = l.Addr().String()
	}
	return out
}

// certificates reads the files of TLS; nil where there is to be none.
func certificates(c conf.KeystoneGo, m *ops.Metrics) (*listen.Certificates, error) {
	switch {
	case c.TLSCertFile == "" && c.TLSKeyFile == "":
		if c.TLSClientAuth != string(listen.AuthNone) {
			return nil, fmt.Errorf("[keystone_go] tls_client_auth = %s needs tls_cert_file and tls_key_file", c.TLSClientAuth)
		}
		return nil, nil
	case c.TLSCertFile == "" || c.TLSKeyFile == "":
		return nil, errors.New("[keystone_go] tls_cert_file and tls_key_file need each other")
	}
	version := uint16(tls.VersionTLS12)
	if c.TLSMinVersion == "1.3" {
		version = tls.VersionTLS13
	}
	certs, err := listen.OpenCertificates(listen.TLSConfig{
		CertFile: c.TLSCertFile, KeyFile: c.TLSKeyFile, MinVersion: version,
		ClientCAFile: c.TLSClientCAFile, ClientAuth: listen.ClientAuth(c.TLSClientAuth), Log: slog.Default(),
		Loaded: func(end time.Time) { m.Certificate("public", end) },
	})
	if err != nil {
		return nil, fmt.Errorf("[keystone_go] %w", err)
	}
	return certs, nil
}

// overTLS makes all listeners but unix sockets speak TLS: behind those is a
// proxy on the same host.
func overTLS(list []net.Listener, t *listen.TLS) []net.Listener {
	out := slices.Clone(list)
	for i, l := range out {
		if !isUnix(l) {
			out[i] = t.Wrap(l)
		}
	}
	return out
}
