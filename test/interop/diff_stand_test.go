//go:build interop

package interop_test

import (
	"context"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
	"github.com/keystone-go/keystone-go/test/interop/diff"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// stand is what the comparisons start from: the recorded database of a small
// cloud, brought to the newest release by Python, with the actors' users in
// it. Each comparison gets two copies of it, one a server, so that what is
// written at one is never seen by the other and both stay in the same state.
// They share the keys: a token is valid at both.
type stand struct {
	*peer.Env
	template string            // the name of the database to copy
	vars     map[string]string // ids and tokens
	actors   []actor
	families []family
}

// methods are those of the recorded tokens; the place in the list is the bit
// in a token.
const methods = "external,password,token,oauth1,mapped,application_credential,totp"

func newStand(t *testing.T) *stand {
	t.Helper()
	credentials := filepath.Join(t.TempDir(), "credential-keys")
	if err := os.CopyFS(credentials, os.DirFS(harness.Testdata("peer/credential-keys"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(credentials, 0o700); err != nil {
		t.Fatal(err)
	}
	keys := harness.Keys(t)
	s := &stand{vars: map[string]string{"garbage": "gAAAAABgarbage"}, families: loadFamilies(t)}
	s.Env = peer.Start(t, peer.Options{GoFirst: true, Stopped: true, Processes: 2, Conf: peer.Conf{
		"DEFAULT":         {"debug": "false"},
		"auth":            {"methods": methods},
		"credential":      {"key_repository": credentials},
		"federation":      {"remote_id_attribute": "HTTP_X_FED_IDP"},
		"fernet_tokens":   {"key_repository": keys},
		"fernet_receipts": {"key_repository": keys},
	}})
	s.template = s.name() + "_template"
	s.create(t, s.template, "")
	d, err := db.Open(t.Context(), db.Config{URL: s.address(s.template)})
	if err != nil {
		t.Fatal(err)
	}
	err = dbtest.LoadZed(t.Context(), d)
	d.Close()
	if err != nil {
		t.Fatal(err)
	}
	python := s.python(t, s.template)
	python.MustManage(t, "db_sync")
	// A new user: a new password for the recorded admin would end his tokens.
	python.MustManage(t, "bootstrap", "--bootstrap-username", "boot", "--bootstrap-project-name", "boot", "--bootstrap-password", peer.Password)
	if err := python.Start(); err != nil {
		t.Fatal(err)
	}
	s.populate(t, python)
	if err := python.Stop(); err != nil {
		t.Fatal(err)
	}
	return s
}

// compare starts both servers on copies of the template, with changes to their
// configuration, others to Python's alone, and statements that are run on the
// copies first, and gives the run.
func (s *stand) compare(t *testing.T, name string, changes, pythons peer.Conf, first ...string) *diff.Run {
	t.Helper()
	lists, err := diff.LoadLists("diff_listed", harness.Testdata("../../docs/divergences.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, database := range []string{s.name() + "_py_" + name, s.name() + "_go_" + name} {
		s.create(t, database, s.template)
		s.alter(t, database, first)
	}
	python := s.python(t, s.name()+"_py_"+name, changes, pythons)
	s.Go.Conf = s.python(t, s.name()+"_go_"+name, changes).Conf
	for _, server := range []*peer.Server{python, s.Go} {
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the log of %s:\n%s", server.Name, server.Log())
			}
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	return &diff.Run{
		Reference: strings.TrimPrefix(python.URL, "http://"), Ours: strings.TrimPrefix(s.Go.URL, "http://"),
		Vars: s.vars, Lists: lists.For(name),
	}
}

// python is a Python Keystone on a database.
func (s *stand) python(t *testing.T, database string, changes ...peer.Conf) *peer.Server {
	t.Helper()
	conf := peer.Conf{"database": {"connection": s.address(database)}}
	for _, c := range changes {
		maps.Copy(conf, c)
	}
	server, err := s.SecondPython(database, 2, conf)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// create makes a database, which goes with the test.
func (s *stand) create(t *testing.T, name, template string) {
	t.Helper()
	statement := "create database " + name
	if template != "" {
		statement += " template " + template
	}
	if _, err := s.DB.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	t.Cleanup(func() {
		if _, err := s.DB.Exec(context.Background(), "drop database if exists "+name+" with (force)"); err != nil {
			t.Errorf("drop database %s: %v", name, err)
		}
	})
}

// alter runs statements on a database.
func (s *stand) alter(t *testing.T, database string, statements []string) {
	t.Helper()
	if len(statements) == 0 {
		return
	}
	d, err := db.Open(t.Context(), db.Config{URL: s.address(database)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, text := range statements {
		if _, err := d.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// name is that of the Env's own database.
func (s *stand) name() string {
	return s.Database[strings.LastIndexByte(s.Database, '/')+1:]
}

func (s *stand) address(database string) string {
	u, err := url.Parse(s.Database)
	if err != nil {
		return ""
	}
	u.Path = "/" + database
	return u.String()
}
