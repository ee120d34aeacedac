package conf

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzPlainForm: whatever the file, ini.v1 gives back exactly what the line
// reader decided.
func FuzzPlainForm(f *testing.F) {
	files, err := filepath.Glob("../../test/testdata/conf/users/*.conf")
	if err != nil || len(files) == 0 {
		f.Fatalf("no files to start from: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, value := range []string{
		"", " = ", "= x # y", "= x ; y", `= "a"`, `= 'a'`, "= `a`", `= """a"""`, `= "`, `= "half`, `= abc\`, "= a\n b", "= a\n\tb=c\n  # d",
		": x", ": a=b", "= a:b", "= %(x)s", "= $log_dir", "= ${token.expiration}", "= $$", `= \$`, "= ${x", "= $x", "=\n", "= \x00", "= \xff", "= é",
		"= x\r\n y\r\n", "= x\r y", "= a\n[b]\nc = d", "= a\nlog_file = b", "= a\n\nlog_file : ", "= x\x1c", "= \u00a0x", "= x\u2028y", `= a\nb`, `= \x41`,
	} {
		f.Add("[DEFAULT]\nlog_file " + value + "\n")
		f.Add("[default]\n- " + value + "\n[DEFAULT.sub]\n\"log_file\" " + value)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := readLines("fuzz", text)
		d, err := newDocument("fuzz", r.entries)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want := map[Name][]raw{}
		odd := 0
		for _, e := range r.entries {
			if plainName(e.key) && plainName(e.section) {
				n := Name{e.section, e.key}
				want[n] = append(want[n], raw{e.value, "fuzz", e.line})
			} else {
				odd++
			}
		}
		if len(d.lines) != len(want) || len(d.odd) != odd {
			t.Errorf("%q: %d names and %d odd ones, want %d and %d", text, len(d.lines), len(d.odd), len(want), odd)
		}
		for n, values := range want {
			if got := d.values(n); !slices.Equal(got, values) {
				t.Errorf("%q: %s is %+v, want %+v", text, n, got, values)
			}
		}
	})
}
