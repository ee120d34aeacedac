package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Databases are named prefix_owner_number; an owner is a process, which holds
// a lock of the server as long as it lives.
const prefix = "keystone_go_test_"

// opTimeout bounds what is done to one database.
const opTimeout = time.Minute

// server is a server with databases of this process, and a connection to
// administer it.
type server struct {
	engine
	url    string
	admin  db.DB
	owner  uint32
	number atomic.Int64

	mu    sync.Mutex
	spare []string // databases as good as new
}

// engine is what servers of one engine do in their own way.
type engine struct {
	// names lists the databases whose name is like $1.
	names string
	// hold takes the lock of an owner, if nobody has it.
	hold func(ctx context.Context, c db.Conn, owner uint32) (bool, error)
	// free gives it back, nil where the transaction does.
	free func(ctx context.Context, c db.Conn, owner uint32)
	// force has a database dropped though somebody is connected to it.
	force string
}

func newServer(e engine, c db.Config) (*server, error) {
	s := &server{engine: e, url: c.URL}
	var id [4]byte
	_, _ = rand.Read(id[:])
	s.owner = binary.BigEndian.Uint32(id[:]) >> 1
	var err error
	if s.admin, err = db.Open(context.Background(), c); err != nil {
		return nil, err
	}
	return s, errors.Join(s.claim(), s.sweep())
}

// claim takes the lock that tells other processes not to sweep our databases.
// It is held by a transaction that ends with the process.
func (s *server) claim() error {
	held := make(chan error, 1)
	go func() {
		ctx := context.Background()
		held <- s.admin.Tx(ctx, func(c db.Conn) error {
			if ours, err := s.hold(ctx, c, s.owner); err != nil || !ours {
				return errors.Join(err, errors.New("another process has our number"))
			}
			held <- nil
			select {}
		})
	}()
	return <-held
}

// sweep drops what processes left that are no more.
func (s *server) sweep() error {
	ctx := context.Background()
	return s.admin.Tx(ctx, func(c db.Conn) error {
		names, err := db.All(ctx, c, db.Query[string]{Text: s.names, Args: []any{db.EscapeLike(prefix) + "%"}, Scan: db.ScanText})
		if err != nil {
			return err
		}
		for _, name := range names {
			var owner uint32
			if _, err := fmt.Sscanf(name, prefix+"%d_", &owner); err != nil || owner == s.owner {
				continue
			}
			dead, err := s.hold(ctx, c, owner)
			if err != nil {
				return err
			}
			if !dead {
				continue
			}
			_ = s.dropNow(ctx, name) // another process may sweep as well
			if s.free != nil {
				s.free(ctx, c, owner)
			}
		}
		return nil
	})
}

// inside opens another database of the server for f.
func (s *server) inside(ctx context.Context, name string, f func(db.DB) error) error {
	d, err := db.Open(ctx, db.Config{URL: s.database(name), MaxPoolSize: 1})
	if err != nil {
		return err
	}
	defer d.Close()
	return f(d)
}

// database gives the URL of another database on the server.
func (s *server) database(name string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		return s.url
	}
	u.Path = "/" + name
	// A socket's URL has no host, which the standard library writes with one
	// slash too few.
	return strings.Replace(u.String(), ":/"+name, ":///"+name, 1)
}

func (s *server) freshName() string {
	return fmt.Sprintf("%s%d_%d", prefix, s.owner, s.number.Add(1))
}

// once makes a database that is dropped with the test.
func (s *server) once(t testing.TB, fill func(ctx context.Context, name string) error) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	name := s.freshName()
	t.Cleanup(func() { s.drop(t, name) })
	if err := fill(ctx, name); err != nil {
		t.Fatal(fmt.Errorf("dbtest: a database: %w", err))
	}
	return s.database(name)
}

// copied gives a spare database, or makes a new one. It is kept for the next test
// if restore can take all rows out again and finds the schema as it was: ten
// times faster than to drop it and copy another.
func (s *server) copied(t testing.TB, fill func(ctx context.Context, name string) error, restore func(ctx context.Context, d db.DB) (bool, error)) string {
	t.Helper()
	name := s.taken()
	if name == "" {
		ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
		defer cancel()
		name = s.freshName()
		if err := fill(ctx, name); err != nil {
			t.Fatal(fmt.Errorf("dbtest: a database: %w", err))
		}
	}
	t.Cleanup(func() {
		if t.Failed() || !s.renewed(name, restore) {
			s.drop(t, name)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spare = append(s.spare, name)
	})
	return s.database(name)
}

// taken gives a spare one, or "".
func (s *server) taken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.spare)
	if n == 0 {
		return ""
	}
	name := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return name
}

func (s *server) renewed(name string, restore func(ctx context.Context, d db.DB) (bool, error)) (same bool) {
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	err := s.inside(ctx, name, func(d db.DB) (err error) {
		same, err = restore(ctx, d)
		return err
	})
	return err == nil && same
}

func (s *server) dropNow(ctx context.Context, name string) error {
	_, err := s.admin.Exec(ctx, `drop database if exists `+name+s.force)
	return err
}

func (s *server) drop(t testing.TB, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	if err := s.dropNow(ctx, name); err != nil {
		t.Errorf("dbtest: drop %s: %v", name, err)
	}
}
