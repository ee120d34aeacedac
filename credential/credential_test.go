package credential_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/credential"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// credentials are those of a database, under keys of their own in dir.
func credentials(t *testing.T, d db.DB, limit int) (s credential.Credentials, dir string) {
	t.Helper()
	dir = t.TempDir() + "/keys"
	if err := fernet.Setup(dir, owner); err != nil {
		t.Fatal(err)
	}
	v, err := fernet.OpenVault(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	return credential.Credentials{DB: d, Vault: v, UserLimit: limit}, dir
}

func fresh(id, user, kind, blob string) credential.Credential {
	return credential.Credential{ID: id, UserID: user, Type: kind, Blob: &blob}
}

// What lies in the table is what Python Keystone reads and writes, in each of
// its forms.
func TestForms(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		s, dir := credentials(t, d, -1)
		k := ring(t, dir)
		for i, c := range []struct{ kind, blob, plain, changed, seen string }{
			{"cert", "not é", "not é", "a", "a"},
			{"ec2", `{"access":"é"}`, `"{\"access\":\"\u00e9\"}"`, `{"access":"a","n":1.50}`, `{"access": "a", "n": 1.5}`},
			{"EC2", `{"access":"x"}`, `{"access":"x"}`, `{"access":"y"}`, `{"access":"y"}`},
		} {
			id := fmt.Sprint(i, c.kind)
			if err := s.Create(t.Context(), fresh(id, "u", c.kind, c.blob)); err != nil {
				t.Fatal(err)
			}
			if plain, hash := opened(t, d, id, k); plain != c.plain || hash != k.Hash() {
				t.Errorf("%s: stored is %s under %s, want %s", c.kind, plain, hash, c.plain)
			}
			if got := read(t, s, id); *got.Blob != c.blob {
				t.Errorf("%s: read is %s", c.kind, *got.Blob)
			}
			if _, err := s.Update(t.Context(), read(t, s, id), c.changed); err != nil {
				t.Fatal(err)
			}
			if plain, _ := opened(t, d, id, k); plain != c.changed {
				t.Errorf("%s: stored is %s, want %s", c.kind, plain, c.changed)
			}
			if got := read(t, s, id); *got.Blob != c.seen {
				t.Errorf("%s: read is %s, want %s", c.kind, *got.Blob, c.seen)
			}
		}
	})
}

func read(t *testing.T, s credential.Credentials, id string) credential.Credential {
	t.Helper()
	c, err := s.Get(t.Context(), id)
	if err == nil && c.Blob != nil {
		t.Error("a blob is there before it was opened")
	}
	if err == nil {
		c, err = s.Open(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An error about a blob holds nothing of it.
func TestNoBlobInErrors(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		const secret = "s3cret"
		s, dir := credentials(t, d, -1)
		store(t, d, "broken", secret, ring(t, dir))
		put(t, d, "foreign", "gAAAAA"+secret, "x")
		if _, err := d.Exec(t.Context(), `update credential set type = 'ec2' where id = 'broken'`); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"broken", "foreign"} {
			c, err := s.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Open(c)
			if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), id) {
				t.Errorf("%s: %v", id, err)
			}
			if id == "foreign" && !errors.Is(err, fernet.ErrInvalid) {
				t.Errorf("%s: %v is not ErrInvalid", id, err)
			}
		}
		if _, err := fresh("", "u", "ec2", secret).Identify(nil); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("no JSON: %v", err)
		}
	})
}

// Those that come at once do not pass by the limit together.
func TestUserLimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for _, statement := range []string{
			`insert into project (id, name, extra, enabled, domain_id, is_domain) values ('d', 'd', '{}', $1, '<<keystone.domain.root>>', $1)`,
			`insert into "user" (id, domain_id, enabled, extra) values ('u', 'd', $1, '{}')`,
		} {
			if _, err := d.Exec(t.Context(), statement, true); err != nil {
				t.Fatal(err)
			}
		}
		s, _ := credentials(t, d, 3)
		var all sync.WaitGroup
		errs := make([]error, 12)
		for i := range errs {
			all.Go(func() { errs[i] = s.Create(t.Context(), fresh(fmt.Sprint("c", i), "u", "cert", "b")) })
		}
		all.Wait()
		made := 0
		for _, err := range errs {
			switch {
			case err == nil:
				made++
			case !fault.Is(err, fault.Forbidden) || err.Error() != "Unable to create additional credentials, maximum of 3 already exceeded for user.":
				t.Error(err)
			}
		}
		if made != 3 {
			t.Errorf("%d were made, want 3", made)
		}
		if err := s.Create(t.Context(), fresh("other", "nobody", "cert", "b")); err != nil {
			t.Errorf("for another: %v", err)
		}
		s.UserLimit = 0
		if err := s.Create(t.Context(), fresh("none", "new", "cert", "b")); !fault.Is(err, fault.Forbidden) {
			t.Errorf("under a limit of none: %v", err)
		}
	})
}

// TestCost pins what each call sends: round trips, statements, writes; a
// transaction has two of its own.
func TestCost(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		c := dbtest.Count(t, d)
		s, _ := credentials(t, c, -1)
		within := s
		within.UserLimit = 5
		var at credential.Credential
		key := `{"access": "a"}`
		for i, x := range []struct {
			want string
			kind fault.Kind
			do   func(context.Context) error
		}{
			{"1 1 1", 0, func(ctx context.Context) error { return s.Create(ctx, fresh("a", "u", "ec2", key)) }},
			{"1 1 1", fault.Conflict, func(ctx context.Context) error { return s.Create(ctx, fresh("a", "u", "ec2", key)) }},
			{"5 5 1", 0, func(ctx context.Context) error { return within.Create(ctx, fresh("b", "u", "cert", "b")) }},
			{"1 1 0", 0, func(ctx context.Context) (err error) { at, err = s.Get(ctx, "a"); return err }},
			{"0 0 0", 0, func(context.Context) error { _, err := s.Open(at); return err }},
			{"1 1 1", 0, func(ctx context.Context) error { _, err := s.Update(ctx, at, key); return err }},
			{"0 0 0", fault.BadRequest, func(ctx context.Context) error {
				_, err := s.Update(ctx, at, `{"access": "a", "trust_id": "t"}`)
				return err
			}},
			{"1 1 0", 0, func(ctx context.Context) error { _, err := s.List(ctx, hints.Hints{}); return err }},
			{"1 1 1", 0, func(ctx context.Context) error { return s.Delete(ctx, "a") }},
			{"1 1 1", fault.NotFound, func(ctx context.Context) error { return s.Delete(ctx, "a") }},
			{"1 1 1", fault.NotFound, func(ctx context.Context) error { _, err := s.Update(ctx, at, key); return err }},
			{"1 1 0", fault.NotFound, func(ctx context.Context) error { _, err := s.Get(ctx, "a"); return err }},
		} {
			c.Reset()
			if err := x.do(t.Context()); x.kind == 0 && err != nil || x.kind != 0 && !fault.Is(err, x.kind) {
				t.Errorf("%d: %v", i, err)
			}
			if got := fmt.Sprint(c.RoundTrips, c.Statements, c.Writes); got != x.want {
				t.Errorf("%d: %s round trips, statements and writes, want %s: %q", i, got, x.want, c.Texts)
			}
		}
	})
}

// Extra attributes are kept, and marks are written over what was sent.
func TestExtraAndMarks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		s, _ := credentials(t, d, -1)
		n, err := fresh("", "u", "ec2", `{"access": "a", "trust_id": "forged"}`).Identify(pyjson.Object{{Key: "trust_id", Value: "t"}})
		if err != nil {
			t.Fatal(err)
		}
		n.Extra = pyjson.Object{{Key: "size", Value: "5"}}
		if err := s.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		got := read(t, s, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb")
		if size, _ := got.Extra.String("size"); size != "5" || *got.Blob != `{"access": "a", "trust_id": "t"}` {
			t.Errorf("%+v %s", got.Extra, *got.Blob)
		}
	})
}
