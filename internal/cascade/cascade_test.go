package cascade_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// row is a revocation event as it stands.
type row struct {
	User, Project, Trust, Audit, Other *string
	Issued, Revoked                    time.Time
	Expires                            *time.Time
}

func rows(t *testing.T, d db.DB) []row {
	t.Helper()
	all, err := db.All(t.Context(), d, db.Query[row]{
		Text: `select user_id, project_id, trust_id, audit_id,
  coalesce(domain_id, role_id, consumer_id, access_token_id, audit_chain_id), issued_before, revoked_at, expires_at
from revocation_event order by id`,
		Scan: func(r db.Row) (w row, err error) {
			err = r.Scan(&w.User, &w.Project, &w.Trust, &w.Audit, &w.Other, &w.Issued, &w.Revoked, &w.Expires)
			return w, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func send(t *testing.T, d db.DB, r cascade.Revoker, e cascade.Revocation) {
	t.Helper()
	var b db.Batch
	r.Revoke(&b, e)
	if err := d.Send(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
}

// TestRevoke sets what is asked and leaves the rest null; times are whole
// seconds of UTC.
func TestRevoke(t *testing.T) {
	now := time.Date(2026, 11, 30, 13, 0, 0, 999999999, time.FixedZone("", 3600))
	cut := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := func(v string) *string { return &v }
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		r := cascade.Revoker{Keep: time.Hour, Now: func() time.Time { return now }}
		send(t, d, r, cascade.Revocation{UserID: "u"})
		send(t, d, r, cascade.Revocation{ProjectID: "p", TrustID: "t"})
		send(t, d, r, cascade.Revocation{AuditID: "a"})
		want := []row{
			{User: s("u"), Issued: cut, Revoked: cut},
			{Project: s("p"), Trust: s("t"), Issued: cut, Revoked: cut},
			{Audit: s("a"), Issued: cut, Revoked: cut},
		}
		if diff := cmp.Diff(want, rows(t, d)); diff != "" {
			t.Errorf("events: want -, got +\n%s", diff)
		}
	})
}

// TestPrune takes the events out that are older than the time they are kept,
// and no others, with every new event.
func TestPrune(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	keep := time.Hour + 30*time.Minute
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for _, age := range []time.Duration{keep + time.Second, keep, keep - time.Second, 0} {
			if _, err := d.Exec(t.Context(), `insert into revocation_event (user_id, issued_before, revoked_at) values ($1, $2, $2)`, age.String(), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		send(t, d, cascade.Revoker{Keep: keep, Now: func() time.Time { return now }}, cascade.Revocation{UserID: "new"})
		var got []string
		for _, r := range rows(t, d) {
			got = append(got, *r.User)
		}
		if diff := cmp.Diff([]string{"1h30m0s", "1h29m59s", "0s", "new"}, got); diff != "" {
			t.Errorf("events that are left: want -, got +\n%s", diff)
		}
	})
}
