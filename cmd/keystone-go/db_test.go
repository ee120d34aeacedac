package main

import (
	"net"
	"os"
	"strings"
	"testing"
)

func TestDBSync(t *testing.T) {
	p := newPlace(t)
	p.run(t, "db_version").expect(t, "db_version of nothing", 0, "None\n", "")
	p.run(t, "db_sync", "--check").expect(t, "db_sync --check of nothing", 2, "not up to date", "")
	p.run(t, "db_sync", "--contract").expect(t, "contract before expand", 1, "", "run db_sync --expand first")
	p.run(t, "db_sync", "--migrate").expect(t, "db_sync --migrate", 0, "There is nothing to do", "")
	p.run(t, "db_sync", "--expand").expect(t, "db_sync --expand", 0, "", "")
	p.run(t, "db_sync", "--contract").expect(t, "db_sync --contract", 0, "", "")
	p.run(t, "db_sync", "--check").expect(t, "db_sync --check", 0, "up to date", "")
	p.run(t, "db_sync").expect(t, "db_sync at head", 0, "", "")
	if r := p.must(t, "db_version"); len(strings.TrimSpace(r.out)) != 12 {
		t.Errorf("db_version: got %q, want a revision", r.out)
	}
	p.run(t, "db_sync", "29e87d24a316").expect(t, "db_sync with a version", 1, "", "a version cannot be given")

	fresh := newPlace(t)
	fresh.run(t, "db_sync").expect(t, "db_sync", 0, "", "")
	fresh.run(t, "db_sync", "--check").expect(t, "db_sync --check", 0, "up to date", "")
}

// TestDatabaseThatIsNotThere: one line without the password.
func TestDatabaseThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for connection, says := range map[string]string{
		"postgresql://keystone:hunter2@" + address + "/keystone": "",
		"sqlite:////nonexistent/keystone.db":                     "",
		"mysql+pymysql://keystone:hunter2@" + address + "/k":     "",
		"oracle://keystone:hunter2@" + address + "/k":            "postgresql",
		"": "[database] connection is not set",
	} {
		p := newPlace(t, "[database]", "max_retries = 0", "connection = "+connection)
		for _, args := range [][]string{{"db_sync"}, {"db_sync", "--check"}, {"db_version"}, {"bootstrap", "--bootstrap-password", "x"}, {"serve"}} {
			if args[0] == "serve" {
				p.must(t, "fernet_setup")
			}
			r := p.run(t, args...)
			r.expect(t, connection+" "+args[0], 1, "", "keystone-go: ")
			lines := strings.Split(strings.TrimSuffix(r.err, "\n"), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, "keystone-go: ") || !strings.Contains(last, says) || strings.Contains(r.err, "hunter2") {
				t.Errorf("%s %s: stderr %q", connection, args[0], r.err)
			}
			if args[0] != "serve" && len(lines) != 1 {
				t.Errorf("%s %s: stderr %q, want one line", connection, args[0], r.err)
			}
		}
		if _, err := os.Stat(p.dir + "/keystone.db"); err == nil {
			t.Errorf("%s: another database was made", connection)
		}
	}
}
