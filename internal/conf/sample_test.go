package conf_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// TestSampleIsFresh compares the packaged file with what the structs say.
func TestSampleIsFresh(t *testing.T) {
	var want bytes.Buffer
	if err := conf.WriteSample(&want); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../etc/keystone.conf")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("etc/keystone.conf is stale; write it anew: go run ./cmd/keystone-go config sample > etc/keystone.conf")
	}
}

// TestSampleMeansDefaults: the packaged file changes the limiters alone, to
// the values it shows.
func TestSampleMeansDefaults(t *testing.T) {
	var b bytes.Buffer
	if err := conf.WriteSample(&b); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, b.String())
	if len(c.Unknown)+len(c.WithoutEffect)+len(c.Deprecated) > 0 {
		t.Errorf("unknown %v, without effect %v, deprecated %v", c.Unknown, c.WithoutEffect, c.Deprecated)
	}
	ip, user := c.RateLimitGlobalIP, c.RateLimitUserAuth
	if !ip.Enabled || *ip.BurstSize != 100 || *ip.ReplenishRatePerSecond != 10 {
		t.Errorf("[rate_limit_global_ip]: %+v", ip)
	}
	if user.Enabled || *user.BurstSize != 5 || *user.ReplenishRatePerSecond != 1 {
		t.Errorf("[rate_limit_user_auth]: %+v", user)
	}
	defaults := conf.Default().Settings()
	for i, s := range c.Settings() {
		if strings.HasPrefix(s.Section, "rate_limit") {
			continue
		}
		if d := defaults[i]; s.Text() != d.Text() {
			t.Errorf("%s: the sample says %s, the default is %s", s.Name, s.Text(), d.Text())
		}
	}
}

// TestGivenValuesSurvive: what is written into a sample is read back.
func TestGivenValuesSurvive(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		want := rapid.OneOf(rapid.StringMatching(`[^\r\n]*`), rapid.StringMatching(`[ "'$a-c{}\\.#;=:]*`)).Draw(r, "value")
		want = strings.ReplaceAll(want, `\$`, "$")
		var b bytes.Buffer
		if err := conf.WriteSample(&b, conf.Given{Name: conf.Name{Section: "database", Option: "connection"}, Value: want}); err != nil {
			r.Fatal(err)
		}
		file := dir + "/keystone.conf"
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			r.Fatal(err)
		}
		c, err := conf.Load(conf.Sources{Files: []string{file}})
		if err != nil {
			r.Fatal(err)
		}
		if c.Database.Connection != want {
			r.Errorf("wrote %q, read %q", want, c.Database.Connection)
		}
	})
}
