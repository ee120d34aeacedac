package conf_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// TestFilesOfOthers reads configuration files as the tools of the OpenStack
// world write them. Each loads; the number of options that no section has is
// pinned, and what their traps come to.
func TestFilesOfOthers(t *testing.T) {
	unknown := map[string]int{
		"01-kolla-ansible": 0, "02-openstack-helm": 1, "03-openstack-ansible": 0,
		"03b-openstack-ansible.domain-ldap": 0, "04-charm-keystone": 3, "05-devstack": 0,
		"06-sap-helm-charts": 17, "07-openstack-k8s-operators": 0, "08-understack-overlay": 0,
		"09-puppet-tripleo": 0, "10-debian-package": 0,
	}
	files, err := filepath.Glob(testdata + "users/*.conf")
	if err != nil || len(files) != len(unknown) {
		t.Fatalf("found %d files (%v), want %d", len(files), err, len(unknown))
	}
	read := map[string]*conf.Config{}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".conf")
		c, err := conf.Load(conf.Sources{Files: []string{f}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(c.Unknown) != unknown[name] {
			t.Errorf("%s: %d unknown options, want %d: %v", name, len(c.Unknown), unknown[name], c.Unknown)
		}
		read[strings.SplitN(name, "-", 2)[0]] = c
	}
	equal := func(what string, got, want any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	equal("kolla dashboards", read["01"].Federation.TrustedDashboard, []string{"https://dash.example.test/auth/websso/", "https://dash2.example.test/auth/websso/"})
	equal("kolla methods", read["01"].Auth.Methods, []string{"password", "token", "openid", "application_credential"})
	equal("kolla protocol", read["01"].Protocols, map[string]conf.Protocol{"openid": {RemoteIDAttribute: "HTTP_OIDC_ISS"}})
	equal("kolla revoke_by_id", read["01"].Token.RevokeByID, false)
	equal("OSA drivers", read["03"].OsloMessagingNotifications.Driver, []string{"messagingv2", "log"})
	equal("charm body size", read["04"].OsloMiddleware.MaxRequestBodySize, 114688)
	equal("charm proxies", read["04"].OsloMiddleware.EnableProxyHeadersParsing, true)
	equal("charm opt-out", read["04"].Default.NotificationOptOut, []string{""})
	equal("charm regex", read["04"].SecurityCompliance.PasswordRegex, `^(?=.*\d)(?=.*[a-zA-Z]).{7,}$`)
	equal("devstack format", read["05"].Default.LoggingExceptionPrefix, "ERROR %(name)s %(instance)s")
	equal("devstack rounds", *read["05"].Identity.PasswordHashRounds, 4)
	equal("sap quoted", read["06"].Default.NotificationFormat, "cadf")
	equal("sap quoted list", read["06"].Cache.MemcacheServers, []string{"192.0.2.41:11211", "192.0.2.42:11211"})
	equal("sap plugins", read["06"].Auth.External+" "+read["06"].Auth.Password, "cc_x509 cc_password")
	equal("operator tight", read["07"].FernetTokens.MaxActiveKeys, 5)
	equal("tripleo connection", read["09"].Database.Connection, "mysql+pymysql://keystone:SECRET@192.0.2.60/keystone?read_default_file=/etc/my.cnf.d/tripleo.cnf&read_default_group=tripleo")
	equal("debian dirs", read["10"].OsloPolicy.PolicyDirs, []string{"/etc/keystone/policy.d"})
}

// TestManyComments reads 116 kB of comments, the size of a packaged file.
func TestManyComments(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 116<<10; i++ {
		fmt.Fprintf(&b, "# Comment %d of a file that a package installs, with $words and [brackets]\n#option_%d = value\n\n", i, i)
	}
	b.WriteString("[token]\nexpiration = 60\n")
	file := write(t, "keystone.conf", b.String())
	best := time.Hour
	for range 5 {
		start := time.Now()
		c, err := conf.Load(conf.Sources{Files: []string{file}})
		best = min(best, time.Since(start))
		if err != nil || c.Token.Expiration != 60 {
			t.Fatalf("got %v, %v", c, err)
		}
	}
	t.Logf("%d bytes in %v", b.Len(), best)
	if best > 50*time.Millisecond {
		t.Errorf("took %v, want at most 50ms", best)
	}
}
