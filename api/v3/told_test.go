package v3_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// listener keeps what it is told.
type listener struct{ heard []string }

func (*listener) Name() string { return "listener" }
func (*listener) Close()       {}

func (l *listener) Send(_ context.Context, m notify.Message) error {
	payload, _ := m.Body.Object("payload")
	id, _ := payload.String("resource_info")
	l.heard = append(l.heard, strings.TrimPrefix(m.Type, "identity.")+" "+id)
	return nil
}

type elsewhere struct{}

func (elsewhere) IdentityService(context.Context) (string, error) { return "", nil }
func (elsewhere) Domain(context.Context, string, string) (notify.Domain, error) {
	return notify.Domain{}, nil
}

// told gives what others are told of while f runs.
func told(t *testing.T, d db.DB, f func(*stand)) []string {
	t.Helper()
	var l listener
	var n *notify.Notifier
	st := newStand(t, setup{db: d, change: func(c *v3.Config) {
		n = notify.New(notify.Config{Basic: true, Queue: 100, Drivers: []notify.Driver{&l}, Directory: elsewhere{}, Log: c.Log, Now: time.Now})
		c.Notify = n
	}})
	f(st)
	n.Close() // and what waited is sent
	return l.heard
}

func (s *stand) answers(status int, method, path, body string) {
	s.t.Helper()
	if w := s.do(call{method: method, path: path, token: "tok-admin", body: body}); w.Code != status {
		s.t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}

// TestToldOfDomainGone tells of all that goes with a domain, what stands below
// first, and of nothing that stays.
func TestToldOfDomainGone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		const project = `insert into project (id, name, domain_id, parent_id, is_domain, enabled) values ($1, $1, $2, $3, $4, $5)`
		for _, p := range []struct{ id, domain, parent any }{
			{"d1", "<<keystone.domain.root>>", nil},
			{"d2", "<<keystone.domain.root>>", nil},
			{"on", "<<keystone.domain.root>>", nil},
			{"a", "d1", "d1"},
			{"b", "d1", "a"},
			{"c", "d1", "b"},
			{"e", "d1", "d1"},
			{"x", "d2", "d2"},
		} {
			exec(t, d, project, p.id, p.domain, p.parent, p.parent == nil, p.parent != nil || p.id == "on")
		}
		for _, g := range [][2]string{{"g1", "d1"}, {"g2", "d2"}} {
			exec(t, d, `insert into "group" (id, domain_id, name) values ($1, $2, $1)`, g[0], g[1])
		}
		for _, u := range [][2]string{{"u1", "d1"}, {"u2", "d2"}, {"u0", "d1"}} {
			exec(t, d, `insert into "user" (id, domain_id) values ($1, $2)`, u[0], u[1])
		}
		want := []string{
			"project.deleted c", "project.deleted b", "project.deleted a", "project.deleted e",
			"group.deleted g1", "user.deleted u0", "user.deleted u1", "project.deleted d1", "domain.deleted d1",
		}
		got := told(t, d, func(s *stand) {
			s.answers(http.StatusForbidden, "DELETE", "/v3/domains/on", "")
			s.answers(http.StatusNoContent, "DELETE", "/v3/domains/d1", "")
			s.answers(http.StatusNotFound, "DELETE", "/v3/domains/d1", "")
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("told (-want +got)\n%s", diff)
		}
		got = told(t, d, func(s *stand) { s.answers(http.StatusNoContent, "DELETE", "/v3/projects/d2", "") })
		if diff := cmp.Diff([]string{"project.deleted x", "group.deleted g2", "user.deleted u2", "project.deleted d2", "domain.deleted d2"}, got); diff != "" {
			t.Errorf("told of a domain as a project (-want +got)\n%s", diff)
		}
	})
}

// TestToldOfWhatWent: what comes into a domain and what leaves it while its
// deletion waits is told of as it was when that came to it.
func TestToldOfWhatWent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		exec(t, d, `insert into project (id, name, domain_id, is_domain, enabled) values ('d1', 'd1', '<<keystone.domain.root>>', $1, $2)`, true, false)
		exec(t, d, `insert into "user" (id, domain_id) values ('leaves', 'd1')`)
		got := told(t, d, func(s *stand) {
			gone := make(chan struct{})
			if err := d.Tx(t.Context(), func(c db.Conn) error {
				var b db.Batch
				// As who makes users holds their domain.
				b.Exec(`update project set description = 'held' where id = 'd1'`)
				b.Exec(`delete from "user" where id = 'leaves'`)
				b.Exec(`insert into "user" (id, domain_id) values ('comes', 'd1')`)
				if err := c.Send(t.Context(), &b); err != nil {
					return err
				}
				go func() {
					defer close(gone)
					s.answers(http.StatusNoContent, "DELETE", "/v3/domains/d1", "")
				}()
				select {
				case <-gone:
					return errors.New("the deletion did not wait")
				case <-time.After(200 * time.Millisecond):
					return nil
				}
			}); err != nil {
				t.Error(err)
			}
			<-gone
		})
		if !slices.Equal(got, []string{"user.deleted comes", "project.deleted d1", "domain.deleted d1"}) {
			t.Errorf("told %q", got)
		}
	})
}

// TestToldOfRegion tells of the region that an endpoint made, where it made
// one.
func TestToldOfRegion(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		exec(t, d, `insert into service (id, type, enabled) values ('s', 'x', $1)`, true)
		endpoint := func(service, region string) string {
			return pyjson.Encode(pyjson.Object{{Key: "endpoint", Value: pyjson.Object{
				{Key: "service_id", Value: service}, {Key: "interface", Value: "public"}, {Key: "url", Value: "http://x"}, {Key: "region", Value: region},
			}}})
		}
		got := told(t, d, func(s *stand) {
			s.answers(http.StatusBadRequest, "POST", "/v3/endpoints", endpoint("none", "r1"))
			s.answers(http.StatusCreated, "POST", "/v3/endpoints", endpoint("s", "r1"))
			s.answers(http.StatusCreated, "POST", "/v3/endpoints", endpoint("s", "r1"))
			s.answers(http.StatusNotFound, "PATCH", "/v3/endpoints/none", endpoint("s", "r2"))
		})
		for i := range got {
			got[i], _, _ = strings.Cut(got[i], " ")
		}
		if !slices.Equal(got, []string{"region.created", "endpoint.created", "endpoint.created"}) {
			t.Errorf("told %q", got)
		}
	})
}
