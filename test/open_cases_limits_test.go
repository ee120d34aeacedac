package test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/test/harness"
)

// bothLimits are the numbers of the packaged file, both limiters on.
func bothLimits(c *conf.Config) {
	hundred, ten, five, one := 100, 10, 5, 1
	g, u := &c.RateLimitGlobalIP, &c.RateLimitUserAuth
	g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &hundred, &ten
	u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = true, &five, &one
}

// TestO_29: a flood of rubbish tokens, a tenth of its size.
func TestO_29(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			count := dbtest.Count(t, dbtest.Open(t, engine))
			c := newCloud(t, harness.Options{DB: count, Conf: func(c *conf.Config) {
				bothLimits(c)
				c.KeystoneGo.RememberReads = false // any commit on the server has them read again
			}})
			service, good, revoked := c.as("svc", "p1"), c.as("ana", "p1"), c.as("ana", "p1")
			c.status("revoke", c.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: service, Subject: revoked}), 403)
			c.status("revoke", c.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: revoked, Subject: revoked}), 204)
			cost := func(subject string, want int) int {
				count.Reset()
				c.status("validation", c.validate(service, subject, ""), want)
				return count.Statements
			}
			for i := range 150 {
				none := cost("", 404)
				for _, rubbish := range []string{fmt.Sprint("random text ", i), stranger[:40] + fmt.Sprintf("%04d", i) + stranger[44:], jwt + fmt.Sprint(i)} {
					if n := cost(rubbish, 404); n > none {
						t.Fatalf("%s: %d statements, without a subject %d", rubbish, n, none)
					}
				}
				cost(revoked, 404)
				cost(good, 200)
			}
		})
	}
}

// TestO_30: what must pass, what must stop.
func TestO_30(t *testing.T) {
	t.Run("a user attacked, others not", func(t *testing.T) {
		eachCloud(t, bothLimits, func(c *cloud) {
			service := c.as("svc", "p1")
			var got []int
			for i := range 30 {
				c.pass(time.Second / 3)
				a := c.try("ana", "wrong", "p1")
				got = append(got, a.Status)
				if a.Status == 429 && (!wholeSeconds.MatchString(a.Header.Get("Retry-After")) || a.At(t, "error", "code") != float64(429)) {
					t.Errorf("try %d: Retry-After %q, %s", i, a.Header.Get("Retry-After"), a.Body)
				}
				c.status("a neighbour behind the same address", c.try("ben", "ben-pw", "p1"), 201)
				c.status("a service", c.validate(service, service, ""), 200)
			}
			wrong := len(slices.DeleteFunc(slices.Clone(got), func(s int) bool { return s != 401 }))
			refused := len(slices.DeleteFunc(slices.Clone(got), func(s int) bool { return s != 429 }))
			// A burst of 5, and one for each of the ten seconds.
			if !slices.Equal(got[:5], []int{401, 401, 401, 401, 401}) || wrong > 5+10 || wrong+refused != 30 {
				t.Errorf("statuses %v", got)
			}
		})
	})
	t.Run("a script with failures", func(t *testing.T) {
		eachCloud(t, bothLimits, func(c *cloud) {
			ben := c.as("ben", "p1")
			for i := range 220 {
				c.pass(time.Minute / 220)
				switch {
				case i%11 != 0:
					c.status("good", c.call("GET", "/v3/regions", ben, nil), 200)
				case i/11 < 12:
					c.status("not there", c.call("GET", "/v3/regions/none", ben, nil), 404)
				case i/11 < 18:
					c.status("not allowed", c.call("DELETE", "/v3/regions/RegionOne", ben, nil), 403)
				default:
					c.status("wrong", c.try("ben", "wrong", "p1"), 401)
				}
			}
		})
	})
	t.Run("switched off", func(t *testing.T) {
		eachCloud(t, func(c *conf.Config) {
			bothLimits(c)
			c.RateLimitGlobalIP.Enabled, c.RateLimitUserAuth.Enabled = false, false
		}, func(c *cloud) {
			for range 150 {
				c.bare("wrong", c.try("ana", "wrong", "p1"))
			}
		})
	})
	t.Run("bad values", func(t *testing.T) {
		d := dbtest.Open(t, dbtest.Engines()[0])
		for _, bad := range []int{0, -1, 100_001} {
			for i, set := range []func(*conf.Config){
				func(c *conf.Config) { c.RateLimitGlobalIP.BurstSize = &bad },
				func(c *conf.Config) { c.RateLimitGlobalIP.ReplenishRatePerSecond = &bad },
				func(c *conf.Config) { c.RateLimitUserAuth.BurstSize = &bad },
				func(c *conf.Config) { c.RateLimitUserAuth.ReplenishRatePerSecond = &bad },
			} {
				cfg := conf.Default()
				bothLimits(cfg)
				set(cfg)
				cfg.FernetTokens.KeyRepository = harness.Keys(t)
				cfg.FernetReceipts.KeyRepository = cfg.FernetTokens.KeyRepository
				app, err := wire.Build(context.Background(), cfg, wire.Options{DB: d})
				if err == nil {
					app.Close()
					t.Errorf("%d as value %d: the server starts", bad, i)
				} else if !strings.Contains(err.Error(), "rate_limit_") {
					t.Errorf("%d as value %d: %v names no section", bad, i, err)
				}
			}
		}
	})
}

// folderOf writes key files of the given contents.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestO_32: a key folder that others have lived in.
func TestO_32(t *testing.T) {
	keys := make([]string, 3)
	for i := range keys {
		dir := filepath.Join(t.TempDir(), "fresh")
		if err := fernet.Setup(dir, fernet.Owner{UID: -1, GID: -1}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "1"))
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = strings.TrimSpace(string(text))
	}
	dir := folderOf(t, map[string]string{
		"0": keys[0], "129": keys[1], "130": keys[2] + "\n", "128": "", ".tmp": "half a ke", "README": "Do not touch.",
	})
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	c := newCloud(t, harness.Options{Engine: "sqlite", Keys: dir})
	slog.SetDefault(before)
	if !strings.Contains(log.String(), "file=128") {
		t.Errorf("no warning about 128: %s", log.String())
	}
	under := func(key string) *cloud {
		d := *c
		d.Server = harness.New(t, harness.Options{DB: c.DB, Keys: folderOf(t, map[string]string{"1": key}), Bare: true, Now: c.now, Tick: c.tick})
		return &d
	}
	admin, mine := c.Admin(), c.as("ana", "p1")
	ofStaged, ofOld := under(keys[0]).as("ana", "p1"), under(keys[1]).as("ana", "p1")
	c.status("a token of a node that has rotated", c.validate(admin, ofStaged, ""), 200)
	c.status("a token of the key before", c.validate(admin, ofOld, ""), 200)
	newest := under(keys[2])
	c.status("a token of here, elsewhere under key 130", newest.validate(newest.Admin(), mine, ""), 200)

	if err := fernet.Rotate(dir, 3, fernet.Owner{UID: -1, GID: -1}); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return strings.TrimSpace(string(text))
	}
	if read("131") != keys[0] || read("130") != keys[2] || read("129") != "" || read("0") == keys[0] || len(read("0")) != 44 {
		entries, _ := os.ReadDir(dir)
		t.Errorf("after a rotation: %v", entries)
	}
	if read("README") != "Do not touch." {
		t.Error("the rotation touched README")
	}
	c.pass(2 * time.Second)
	now := c.as("ana", "p1")
	rotated := under(keys[0])
	c.status("a new token, elsewhere under what was staged", rotated.validate(rotated.Admin(), now, ""), 200)
	c.status("a token of 130", c.validate(c.Admin(), mine, ""), 200)
	c.status("a token of the dropped key", c.validate(c.Admin(), ofOld, ""), 404)
}
