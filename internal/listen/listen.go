// Package listen opens the sockets that the servers answer on.
package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// Unix says who may connect to unix sockets: their mode, and a group's name or
// number, "" for the process's own.
type Unix struct {
	Mode  fs.FileMode
	Group string
}

// IsUnix reports whether an address is a unix socket's.
func IsUnix(address string) bool { return strings.HasPrefix(address, unixPrefix) }

const unixPrefix = "unix:"

// Open opens a listener: ":5000", "127.0.0.1:5000", "[::1]:5000", or
// "unix:/run/keystone/api.sock". A unix socket that nobody listens on any more
// is replaced.
func Open(ctx context.Context, address string, u Unix) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, unixPrefix)
	var lc net.ListenConfig
	if !isUnix {
		l, err := lc.Listen(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", address, err)
		}
		return l, nil
	}
	if err := clearSocket(ctx, path); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	l, err := u.listen(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// listen makes the socket for its owner alone at first, so that nobody
// connects who may not in the end.
func (u Unix) listen(ctx context.Context, path string) (net.Listener, error) {
	gid := -1
	if u.Group != "" {
		var err error
		if gid, err = groupID(u.Group); err != nil {
			return nil, err
		}
	}
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) { failed = syscall.Fchmod(int(fd), 0o600) })
		return errors.Join(err, failed)
	}}
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if gid >= 0 {
		err = os.Chown(path, -1, gid)
	}
	if err == nil {
		err = os.Chmod(path, u.Mode)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func groupID(name string) (int, error) {
	if g, err := user.LookupGroup(name); err == nil {
		name = g.Gid
	}
	gid, err := strconv.Atoi(name)
	if err != nil || gid < 0 {
		return 0, fmt.Errorf("there is no group %q", name)
	}
	return gid, nil
}

// clearSocket removes a socket that an ended process left behind.
func clearSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return errors.New("a file that is no socket is in the way")
	}
	var d net.Dialer
	if c, err := d.DialContext(ctx, "unix", path); err == nil {
		return errors.Join(errors.New("another process listens there"), c.Close())
	}
	return os.Remove(path)
}

// OpenAll opens every address, or none.
func OpenAll(ctx context.Context, addresses []string, u Unix) ([]net.Listener, error) {
	var out []net.Listener
	var faults []error
	for _, a := range addresses {
		l, err := Open(ctx, a, u)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, l)
	}
	if len(faults) == 0 {
		return out, nil
	}
	for _, l := range out {
		faults = append(faults, l.Close())
	}
	return nil, errors.Join(faults...)
}
