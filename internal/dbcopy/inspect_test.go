package dbcopy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// alter writes what a foreign key would forbid.
func alter(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	err := db.Alter(t.Context(), d, func(c db.Conn) error {
		_, err := c.Exec(t.Context(), text, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
}

// TestRefusals: each thing that a target cannot hold is named before anything
// is written, and is the only thing that is named.
func TestRefusals(t *testing.T) {
	long := strings.Repeat("é", 65)
	for name, c := range map[string]struct {
		into  db.Dialect
		write string
		args  []any
		want  string // "" for none
	}{
		"over-long id":       {db.Postgres, `insert into "user" (id, domain_id) values ($1, 'default')`, []any{long}, `user.id has values of more than 64 letters (1): id "` + long + `"`},
		"just long enough":   {db.Postgres, `insert into "user" (id, domain_id) values ($1, 'default')`, []any{long[2:]}, ""},
		"NUL":                {db.Postgres, `insert into policy (id, type, blob) values ('p', 'x', 'a' || char(0))`, nil, `policy.blob has text with a NUL, or that is no UTF-8 (1): id "p"`},
		"no UTF-8":           {db.Postgres, `insert into policy (id, type, blob) values ('p', 'x', cast(x'ff' as text))`, nil, `policy.blob has text with a NUL, or that is no UTF-8 (1): id "p"`},
		"big number":         {db.Postgres, `insert into revocation_event (id, issued_before, revoked_at) values (3000000000, '2020-01-01 00:00:00.000000', '2020-01-01 00:00:00.000000')`, nil, `revocation_event.id has numbers beyond 32 bits (1): id "3000000000"`},
		"kind of assignment": {db.Postgres, `insert into assignment (type, actor_id, target_id, role_id, inherited) select 'X', 'a', 't', min(id), 0 from role`, nil, `assignment.type has values other than UserProject, GroupProject, UserDomain, GroupDomain (1): type "X", actor_id "a"`},
		"broken reference":   {db.Postgres, `insert into project_tag (project_id, name) values ('gone', 'a'), ('gone', 'b')`, nil, `project_tag.project_id names rows of project that are not there (2)`},
		"broken pair":        {db.Postgres, `insert into nonlocal_user (domain_id, name, user_id) values ('gone', 'a', 'gone')`, nil, `nonlocal_user.user_id, domain_id names rows of user that are not there (1)`},
		"role of nobody":     {db.SQLite, `insert into assignment (type, actor_id, target_id, role_id, inherited) values ('UserProject', 'a', 't', 'gone', 0)`, nil, `assignment.role_id names rows of role that are not there (1)`},
		"the same elsewhere": {db.Postgres, `insert into assignment (type, actor_id, target_id, role_id, inherited) values ('UserProject', 'a', 't', 'gone', 0)`, nil, ""},

		"case":           {db.MariaDB, `insert into role (id, name) values ('r1', 'Straße'), ('r2', 'STRASE ')`, nil, `role has rows whose name, domain_id differ in case, accents or trailing blanks alone (2): name "Straße", domain_id "<<null>>"; name "STRASE ", domain_id "<<null>>"`},
		"accent":         {db.MariaDB, `insert into role (id, name) values ('r1', 'Zoë'), ('r2', 'zoe')`, nil, `(2): name "Zoë"`},
		"case of ids":    {db.MariaDB, `insert into role (id, name) values ('r1', 'x'), ('R1', 'y')`, nil, `role has rows whose id differ in case, accents or trailing blanks alone (2): id "R1"; id "r1"`},
		"other names":    {db.MariaDB, `insert into role (id, name) values ('r1', 'x'), ('r2', ' x'), ('r3', 'x y'), ('r4', 'xy')`, nil, ""},
		"null is unique": {db.MariaDB, `insert into access_rule (user_id, service, path, method, external_id) values ('u', null, 'p', 'm', '1'), ('u', null, 'P', 'm', '2')`, nil, ""},
		"emoji":          {db.MariaDB, `insert into role (id, name) values ('r1', '😀')`, nil, `role.name has letters of four bytes, such as emoji, which MariaDB's columns do not hold (1): id "r1"`},
		"long text":      {db.MariaDB, `insert into policy (id, type, blob) values ('p', 'x', $1)`, []any{strings.Repeat("é", 32768)}, `policy.blob has texts of more than 65535 bytes, which MariaDB's columns do not hold (1): id "p"`},
		"text that fits": {db.MariaDB, `insert into policy (id, type, blob) values ('p', 'x', $1)`, []any{strings.Repeat("é", 32767)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			from := dbtest.OpenRecorded(t, "sqlite")
			alter(t, from, c.write, c.args...)
			x := newTrial(from, from)
			x.To, x.Into = nil, c.into
			err := x.Run(t.Context(), true)
			refused := 0
			for _, f := range x.report.Findings {
				if f.Refused {
					refused++
				}
			}
			switch {
			case c.want == "":
				if err != nil || refused != 0 {
					t.Errorf("%v: %s", err, x.found())
				}
			case !errors.Is(err, ErrRefused) || refused != 1 || !strings.Contains(x.found(), c.want):
				t.Errorf("%v: %swant %s", err, x.found(), c.want)
			}
			to := empty(t, string(c.into))
			err = newTrial(from, to).Run(t.Context(), false)
			switch {
			case c.want == "":
				if err != nil {
					t.Errorf("a real run: %v", err)
				}
			case !errors.Is(err, ErrRefused):
				t.Errorf("a real run: %v", err)
			case dbtest.Schema(t, to) != "":
				t.Error("the target was written to")
			}
		})
	}
}

// TestFold: all letters that are the same to MariaDB are the same to us, and no
// others in the alphabets that names are written in.
func TestFold(t *testing.T) {
	weights := mariaWeights(t, dbtest.Open(t, "mariadb"))
	theirs, ours := map[string]rune{}, map[string]rune{}
	for r := rune(1); r <= 0xffff; r++ {
		w, ok := weights[r]
		if !ok || r == ' ' {
			continue
		}
		f := fold(string(r))
		if first, ok := theirs[w]; !ok {
			theirs[w] = r
		} else if fold(string(first)) != f {
			t.Errorf("%q and %q (%U) are the same to MariaDB alone", first, r, r)
		}
		first, ok := ours[f]
		if !ok {
			ours[f] = r
		} else if weights[first] != w && (r < 0x180 || r >= 0x3b1 && r < 0x3ca || r >= 0x400 && r < 0x460 || !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Coptic, unicode.Georgian, unicode.Cherokee, unicode.Glagolitic)) {
			t.Errorf("%q and %q (%U) are the same to us alone", first, r, r)
		}
	}
	for _, pair := range [][2]string{{"a", "a  "}, {"Straße", "STRASE "}, {"Ærø", "ærØ"}} {
		if fold(pair[0]) != fold(pair[1]) {
			t.Errorf("%q and %q", pair[0], pair[1])
		}
	}
}

// mariaWeights are the numbers by which MariaDB compares letters.
func mariaWeights(t *testing.T, d db.DB) map[rune]string {
	t.Helper()
	weights := map[rune]string{}
	for first := rune(0); first < 0x10000; first += 0x400 {
		var parts []string
		var letters []rune
		var args []any
		for r := max(first, 1); r < first+0x400; r++ {
			if utf8.ValidRune(r) {
				letters, args = append(letters, r), append(args, string(r))
				parts = append(parts, fmt.Sprintf("hex(weight_string(convert($%d using utf8mb3) collate utf8mb3_general_ci))", len(args)))
			}
		}
		if len(letters) == 0 {
			continue
		}
		all, err := db.One(t.Context(), d, db.Query[string]{Text: `select concat_ws(',', ` + strings.Join(parts, ", ") + `)`, Args: args, Scan: db.ScanText})
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range strings.Split(all, ",") {
			weights[letters[i]] = w
		}
	}
	return weights
}

// TestOtherCaseThere: what MariaDB takes for a reference is none where the case
// counts.
func TestOtherCaseThere(t *testing.T) {
	from := dbtest.OpenRecorded(t, "mariadb")
	exec(t, from, `insert into project_tag (project_id, name) values ('DEFAULT', 'a')`)
	for engine, refused := range map[string]bool{"postgres": true, "sqlite": true, "mariadb": false} {
		x := newTrial(from, empty(t, engine))
		err := x.Run(t.Context(), false)
		if refused != errors.Is(err, ErrRefused) || refused != strings.Contains(x.found(), "project_tag.project_id names rows of project that are not there (1)") || !refused && err != nil {
			t.Errorf("to %s: %v: %s", engine, err, x.found())
		}
		if refused != strings.Contains(x.found(), "Names of projects and domains with capitals have to be written exactly so from now on") {
			t.Errorf("to %s: %s", engine, x.found())
		}
	}
}

// TestUnreadable: what is no value of its column ends the run, and names the
// table but not the value.
func TestUnreadable(t *testing.T) {
	from := dbtest.OpenRecorded(t, "sqlite")
	alter(t, from, `update password set created_at = 'the s3cret' where id = (select min(id) from password)`)
	err := newTrial(from, empty(t, "postgres")).Run(t.Context(), false)
	if err == nil || !strings.Contains(err.Error(), "row 1 of password") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

// TestWarnings: what means something else there, or stays behind, is told, and
// does not keep the copy from being made.
func TestWarnings(t *testing.T) {
	from := dbtest.OpenRecorded(t, "sqlite")
	exec(t, from, `create table keystone_go_rate_limit (id integer)`)
	exec(t, from, `create table somebodys (id integer)`)
	exec(t, from, `update password set password_hash = 'plain s3cret' where id = (select min(id) from password)`)
	exec(t, from, `update password set password_hash = null where id = (select max(id) from password)`)
	exec(t, from, `update "group" set name = 'Ärzte' where id = (select min(id) from "group")`)
	exec(t, from, `update password set created_at = $1`, time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC))
	exec(t, from, `update password set created_at = $1 where id = (select min(id) from password)`, time.Date(2024, 1, 2, 3, 4, 5, 6000, time.UTC))
	inspected := func(source, target db.Dialect) string {
		t.Helper()
		x := newTrial(from, from)
		i := &inspector{from: source, to: target}
		err := db.Snapshot(t.Context(), from, func(c db.Conn) (err error) {
			x.report, err = i.inspect(t.Context(), c)
			return err
		})
		if err != nil || x.report.Refused() {
			t.Fatalf("%v: %s", err, x.found())
		}
		if strings.Contains(x.found(), "s3cret") {
			t.Errorf("a hash is told: %s", x.found())
		}
		return x.found()
	}
	for _, c := range []struct {
		source, target db.Dialect
		want, not      []string
	}{
		{
			db.SQLite, db.Postgres,
			[]string{"own are not copied (1): keystone_go_rate_limit", "are not Keystone's are not copied (1): somebodys", "password.password_hash has hashes of schemes that are no longer read (1): local_user_id "},
			[]string{"capitals", "fractions"},
		},
		{db.MariaDB, db.Postgres, []string{`Names of groups with capitals have to be written exactly so from now on (1): "Ärzte"`}, []string{"fractions"}},
		{db.SQLite, db.MariaDB, []string{"password.created_at loses fractions of seconds (1)"}, []string{"capitals"}},
		{db.MariaDB, db.MariaDB, nil, []string{"capitals"}},
	} {
		got := inspected(c.source, c.target)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s to %s: %swant %s", c.source, c.target, got, w)
			}
		}
		for _, w := range c.not {
			if strings.Contains(got, w) {
				t.Errorf("%s to %s: %snot %s", c.source, c.target, got, w)
			}
		}
	}
	to := empty(t, "postgres")
	newTrial(from, to).must(t)
	if s := dbtest.Schema(t, to); strings.Contains(s, "somebodys") || strings.Contains(s, "keystone_go") {
		t.Error("a table that is not Keystone's was copied")
	}
}

// TestManyRows: a report names the first of many.
func TestManyRows(t *testing.T) {
	from := dbtest.OpenRecorded(t, "sqlite")
	exec(t, from, `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500) insert into project_tag (project_id, name) select 'default', 'tag ' || i || $1 from n`, strings.Repeat("x", 260))
	x := newTrial(from, from)
	x.To, x.Into = nil, db.Postgres
	if err := x.Run(t.Context(), true); !errors.Is(err, ErrRefused) {
		t.Fatal(err)
	}
	if f := x.report.Findings[0]; f.Rows != 2500 || len(f.Items) != maxItems {
		t.Errorf("%d rows, %d named", f.Rows, len(f.Items))
	}
}
