package db

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// endpoint is where a URL leads.
type endpoint struct {
	User, Password, Database string
	Hosts                    []string
	TLS                      bool
	Runtime                  map[string]string
}

func TestPostgresURLs(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE", "PGSSLMODE", "PGAPPNAME", "PGOPTIONS"} {
		t.Setenv(name, "")
	}
	for address, want := range map[string]endpoint{
		"postgresql://keystone:secret@db.example:5433/keystone":                          {User: "keystone", Password: "secret", Database: "keystone", Hosts: []string{"db.example:5433"}},
		"postgres://keystone@db.example/keystone":                                        {User: "keystone", Database: "keystone", Hosts: []string{"db.example:5432"}},
		"postgresql+psycopg2://k:p%40ss%2Fw%25rd%3A@h/db":                                {User: "k", Password: "p@ss/w%rd:", Database: "db", Hosts: []string{"h:5432"}},
		"postgresql+psycopg://u%40corp:a:b/c?d@h/db":                                     {User: "u@corp", Password: "a:b/c?d", Database: "db", Hosts: []string{"h:5432"}},
		"postgresql+asyncpg://k:a+b%20c'\\@[::1]:6000/db":                                {User: "k", Password: `a+b c'\`, Database: "db", Hosts: []string{"::1:6000"}},
		"POSTGRESQL://k:p@h/db":                                                          {User: "k", Password: "p", Database: "db", Hosts: []string{"h:5432"}},
		"postgresql://k:p@/db?host=/var/run/postgresql":                                  {User: "k", Password: "p", Database: "db", Hosts: []string{"/var/run/postgresql:5432"}},
		"postgresql:///db?host=/tmp&port=6432&user=k&password=q%26%3D":                   {User: "k", Password: "q&=", Database: "db", Hosts: []string{"/tmp:6432"}},
		"postgresql://k:p@/db?host=a:5433&host=b:5434":                                   {User: "k", Password: "p", Database: "db", Hosts: []string{"a:5433", "b:5434"}},
		"postgresql://k:p@/db?host=a,b&port=5433,5434":                                   {User: "k", Password: "p", Database: "db", Hosts: []string{"a:5433", "b:5434"}},
		"postgresql://k:p@/db?host=a&host=b:5434&port=1":                                 {User: "k", Password: "p", Database: "db", Hosts: []string{"a:1", "b:5434"}},
		"postgresql://k@h/db?sslmode=require":                                            {User: "k", Database: "db", Hosts: []string{"h:5432"}, TLS: true},
		"postgresql://k@h/db?application_name=it%27s&options=-c%20search_path%3Dks":      {User: "k", Database: "db", Hosts: []string{"h:5432"}, Runtime: map[string]string{"application_name": "it's", "options": "-c search_path=ks"}},
		"postgresql://k@h/db?keepalives_idle=30&client_encoding=utf8&gssencmode=disable": {User: "k", Database: "db", Hosts: []string{"h:5432"}},
		"postgresql://k@h/a'b\\c":                                                        {User: "k", Database: `a'b\c`, Hosts: []string{"h:5432"}},
	} {
		got, err := leadsTo(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if want.Runtime == nil {
			want.Runtime = map[string]string{"application_name": "keystone-go"}
		}
		want.Runtime["timezone"] = "UTC"
		if want.Runtime["application_name"] == "" {
			want.Runtime["application_name"] = "keystone-go"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", address, diff)
		}
	}
}

// leadsTo takes a URL as far as it goes without a server.
func leadsTo(address string) (endpoint, error) {
	a, err := parseURL(address)
	if err != nil {
		return endpoint{}, err
	}
	cfg, err := pgConfig(a, Config{}.withDefaults())
	if err != nil {
		return endpoint{}, err
	}
	c := cfg.ConnConfig
	e := endpoint{User: c.User, Password: c.Password, Database: c.Database, Runtime: c.RuntimeParams}
	e.TLS = c.TLSConfig != nil && len(c.Fallbacks) == 0
	hosts := []string{c.Host + ":" + strconv.Itoa(int(c.Port))}
	for _, f := range c.Fallbacks {
		if h := f.Host + ":" + strconv.Itoa(int(f.Port)); h != hosts[len(hosts)-1] {
			hosts = append(hosts, h)
		}
	}
	e.Hosts = hosts
	return e, nil
}

func TestURLsThatAreRefused(t *testing.T) {
	for address, want := range map[string]string{
		"":                                   "no URL",
		"keystone.db":                        "no URL",
		"oracle://k:hush@h":                  `databases of "oracle": this build runs on postgresql://, mysql:// (MariaDB) and sqlite://`,
		"hush me://x":                        "no URL",
		"postgresql://k:hush@[::1/db":        "",
		"postgresql://k:hu%sh@h/db":          "percent escape",
		"postgresql://k:hush@h:port/db":      "",
		"postgresql://k:hush@h/db?sslcrl=/x": "sslcrl",
		"postgresql://k:hush@h/db?default_query_exec_mode=no": "",
		"postgresql://k:hush@h/db?sslmode=no":                 "",
		"sqlite://":                                           "in memory",
		"sqlite:///:memory:":                                  "in memory",
		"sqlite://rel.db":                                     "three slashes",
		"sqlite:///x.db?mode=ro":                              `"mode"`,
		"sqlite:///x.db?timeout=soon":                         "seconds",
	} {
		_, err := Open(t.Context(), Config{URL: address})
		if err == nil {
			t.Errorf("%s: no error", address)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, want it to say %q", address, err, want)
		}
		if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "hu%sh") {
			t.Errorf("%s: the error shows the password: %q", address, err)
		}
	}
}

func TestSQLitePaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for address, want := range map[string]string{
		"sqlite:///rel.db":                     dir + "/rel.db",
		"sqlite:////var/lib/ks.db":             "/var/lib/ks.db",
		"sqlite+pysqlite:///a%20b#c.db":        dir + "/a%20b#c.db",
		"sqlite:////tmp/x.db?timeout=2.5":      "/tmp/x.db",
		"sqlite:////x?check_same_thread=False": "/x",
		"sqlite:////srv/ünï cödé/key@stone.db": "/srv/ünï cödé/key@stone.db",
		"sqlite:///sub:dir/with@sign/stone.db": dir + "/sub:dir/with@sign/stone.db",
	} {
		a, err := parseURL(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		got, _, err := litePath(a)
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", address, got, err, want)
		}
	}
	odd := dir + "/50% ?#&=+ü.db"
	d, err := openSQLite(address{database: odd}, Config{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if i, err := os.Stat(odd); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("the new file: %v, %v, want it for its owner alone", i, err)
	}
	var name string
	rows, err := d.Query(t.Context(), `select file from pragma_database_list`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() || rows.Scan(&name) != nil || name != odd {
		t.Errorf("opened %q, want %q", name, odd)
	}
}
