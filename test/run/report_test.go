package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines are the events of one go test -json, "action package test output".
func lines(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		f := strings.SplitN(e, " ", 4)
		for len(f) < 4 {
			f = append(f, "")
		}
		b.WriteString(`{"Action":"` + f[0] + `","Package":"` + f[1] + `","Test":"` + f[2] + `","Output":"` + f[3] + `\n"}` + "\n")
	}
	return b.String()
}

type counts struct{ Passed, Failed, Skipped, Postgres int }

func TestReport(t *testing.T) {
	tests := []struct {
		name   string
		in     string
		want   counts
		faults []string
		shown  string

		mariadb bool
	}{
		{
			name: "subtests count, their parent does not",
			in:   lines("pass p TestA/sqlite", "pass p TestA/postgres", "pass p TestA", "pass p TestB", "pass p"),
			want: counts{3, 0, 0, 1},
		},
		{
			name: "each way of talking to Postgres is Postgres",
			in:   lines("pass p TestA/sqlite", "pass p TestA/postgres_exec", "pass p TestA/postgres_simple_protocol", "pass p TestA", "pass p"),
			want: counts{3, 0, 0, 2},
		},
		{
			name:   "figures are shown though the test passes",
			in:     lines("output p TestA     a_test.go:12: figure: 3 values compared", "output p TestA no figure: 4", "pass p TestA", "output p  figure: 5 lines", "pass p"),
			want:   counts{1, 0, 0, 0},
			faults: []string{"FAIL: no test ran on Postgres"},
			shown:  "     3 values compared\n     5 lines\n",
		},
		{
			name:   "a parent that fails by itself is a failure",
			in:     lines("pass p TestA/postgres", "output p TestA the parent's own words", "fail p TestA", "fail p"),
			want:   counts{1, 1, 0, 1},
			faults: []string{"FAIL: 1 tests failed"},
			shown:  "the parent's own words",
		},
		{
			name:   "a failed subtest is one failure",
			in:     lines("output p TestA/postgres got 1, want 2", "fail p TestA/postgres", "fail p TestA", "fail p"),
			want:   counts{0, 1, 0, 1},
			faults: []string{"FAIL: 1 tests failed"},
			shown:  "got 1, want 2",
		},
		{
			name:   "a package that does not build",
			in:     `{"Action":"build-output","ImportPath":"p","Output":"p.go:1: undefined: x\n"}` + "\n" + `{"Action":"fail","Package":"p","FailedBuild":"p"}` + "\n",
			want:   counts{0, 1, 0, 0},
			faults: []string{"FAIL: 1 tests failed", "FAIL: no test ran on Postgres"},
			shown:  "undefined: x",
		},
		{
			name:   "SQLite alone is not enough",
			in:     lines("pass p TestA/postgres", "pass p TestB/sqlite", "pass p"),
			want:   counts{2, 0, 0, 1},
			faults: []string{"FAIL: ran on SQLite but not on Postgres: p TestB"},
		},
		{
			name:    "nor are SQLite and Postgres, where MariaDB is asked for",
			in:      lines("pass p TestA/mariadb", "pass p TestB/sqlite", "pass p TestB/postgres", "pass p TestC/sqlite", "pass p TestC/mariadb", "pass p"),
			want:    counts{5, 0, 0, 1},
			faults:  []string{"FAIL: ran on SQLite but not on Postgres: p TestC", "FAIL: ran on SQLite but not on MariaDB: p TestB"},
			mariadb: true,
		},
		{
			name:    "nothing ran on MariaDB",
			in:      lines("pass p TestA/postgres", "pass p"),
			want:    counts{1, 0, 0, 1},
			faults:  []string{"FAIL: no test ran on MariaDB"},
			mariadb: true,
		},
		{
			name:   "a skip is told, and is a failure where the run is strict",
			in:     lines("output p TestA/postgres needs a server", "skip p TestA/postgres", "pass p TestA", "pass p TestB", "pass p"),
			want:   counts{1, 0, 1, 0},
			faults: []string{"FAIL: 1 tests were skipped", "FAIL: no test ran on Postgres"},
			shown:  "skipped: p TestA/postgres: needs a server",
		},
		{
			name:   "nothing ran",
			in:     lines("skip p"),
			want:   counts{},
			faults: []string{"FAIL: no test ran", "FAIL: no test ran on Postgres"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out)
			if err := r.read(strings.NewReader(test.in)); err != nil {
				t.Fatal(err)
			}
			faults := r.faults(true, test.mariadb, true)
			if diff := cmp.Diff(test.want, counts{r.passed, r.failed, r.skipped, r.postgres}); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if test.faults == nil {
				test.faults = []string{}
			}
			if diff := cmp.Diff(test.faults, append([]string{}, faults...)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if !strings.Contains(out.String(), test.shown) {
				t.Errorf("shown: got\n%s\nwant it to hold %q", &out, test.shown)
			}
		})
	}
}

func TestFuzzTargets(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/a_test.go", "package a\n\nfunc FuzzOne(f *testing.F) {}\n\nfunc FuzzTwo(f *testing.F) {}\n")
	write("a/a.go", "package a\n\nfunc FuzzNot(f *testing.F) {}\n")
	write("other/go.mod", "module other\n")
	write("other/b_test.go", "package other\n\nfunc FuzzElsewhere(f *testing.F) {}\n")
	t.Chdir(root)

	got, err := fuzzTargets(".")
	if err != nil {
		t.Fatal(err)
	}
	want := []target{{"./a", "FuzzOne"}, {"./a", "FuzzTwo"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(target{})); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

func TestOnlyLate(t *testing.T) {
	for said, want := range map[string]bool{
		"--- FAIL: FuzzOne (61.04s)\n    context deadline exceeded\n":                                                                   true,
		"--- FAIL: FuzzOne (2.00s)\n    a_test.go:9: wrong\n    Failing input written to testdata/fuzz/FuzzOne/29\n":                    false,
		"--- FAIL: FuzzOne (2.00s)\n    a_test.go:9: context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzOne/1\n": false,
		"--- FAIL: FuzzOne (0.00s)\n    a_test.go:9: the seed is wrong\n":                                                               false,
	} {
		if got := onlyLate(said); got != want {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
}
