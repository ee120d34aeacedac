package oslo_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// generator writes files with every rule of the dialect in play. The same seed
// gives the same files.
type generator struct {
	t       *testing.T
	r       *rand.Rand
	options []*conf.Option
	used    map[string]int // how often each rule was
}

func newGenerator(t *testing.T, seed uint64) *generator {
	g := &generator{t: t, r: rand.New(rand.NewPCG(seed, 0)), used: map[string]int{}}
	for _, o := range conf.Options() {
		if o.Section != "keystone_go" && !strings.HasPrefix(o.Section, "rate_limit") {
			g.options = append(g.options, o)
		}
	}
	return g
}

// file is one file in the making.
type file struct {
	*generator
	text    strings.Builder
	lineEnd string
	last    *conf.Option
}

func (g *generator) chance(p float64) bool { return g.r.Float64() < p }

func pick[T any](g *generator, list ...T) T { return list[g.r.IntN(len(list))] }

// use counts a rule.
func (g *generator) use(rule string) { g.used[rule]++ }

// job writes the files of one configuration.
func (g *generator) job(n int) job {
	dir := g.t.TempDir()
	j := job{name: fmt.Sprintf("generated %d", n), Env: map[string]string{}}
	files := pick(g, 1, 1, 1, 2, 3)
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("%d.conf", i))
		if i > 0 && g.chance(0.5) {
			folder := filepath.Join(dir, fmt.Sprintf("%d.d", i))
			if err := os.Mkdir(folder, 0o700); err != nil {
				g.t.Fatal(err)
			}
			path = filepath.Join(folder, pick(g, "a.conf", "z.conf", "not-read.txt"))
			j.Dirs = append(j.Dirs, folder)
			g.use("a folder of files")
		} else {
			j.Files = append(j.Files, path)
		}
		if i > 0 {
			g.use("several files")
		}
		if err := os.WriteFile(path, []byte(g.file()), 0o600); err != nil {
			g.t.Fatal(err)
		}
	}
	if g.chance(0.2) {
		for range g.r.IntN(6) + 1 {
			o := g.options[g.r.IntN(len(g.options))]
			// Of a value from the environment oslo.config makes a list of
			// its characters; and fatal_deprecations is read by oslo.log
			// while it reads another option.
			if o.Kind != conf.Multi && o.Option != "fatal_deprecations" {
				j.Env[conf.EnvName(o.Name)] = strings.ReplaceAll(g.value(o), "\x00", "")
				g.use("an environment variable")
			}
		}
	}
	return j
}

func (g *generator) file() string {
	f := &file{generator: g, lineEnd: pick(g, "\n", "\n", "\n", "\r\n", "\r")}
	switch f.lineEnd {
	case "\r\n":
		g.use("lines end with CR LF")
	case "\r":
		g.use("lines end with CR")
	}
	if g.chance(0.05) {
		f.beforeAll()
	}
	broken := g.chance(0.08)
	for range g.r.IntN(100) + 10 {
		f.entry()
		if broken && g.chance(0.1) {
			f.broken()
		}
	}
	text := f.text.String()
	if g.chance(0.1) {
		text = strings.TrimSuffix(text, f.lineEnd)
		g.use("no line end at the end")
	}
	return text
}

func (f *file) line(s string) { f.text.WriteString(s + f.lineEnd) }

// beforeAll writes what may not stand before the first section, or may.
func (f *file) beforeAll() {
	rules := map[string]string{
		"an option before any section": "debug = true", "an indented first line": " debug = true",
		"a byte order mark": "\ufeff", "a comment first": "# debug = true", "an empty first line": "",
	}
	names := make([]string, 0, len(rules))
	for n := range rules {
		names = append(names, n)
	}
	slices.Sort(names)
	rule := pick(f.generator, names...)
	f.use(rule)
	if rule == "a byte order mark" {
		f.text.WriteString(rules[rule])
		return
	}
	f.line(rules[rule])
}

// broken writes a line for which oslo.config refuses the whole file.
func (f *file) broken() {
	type fault struct{ rule, text string }
	x := pick(f.generator,
		fault{"a section without its bracket", "[token"}, fault{"a section without a name", "[]"},
		fault{"a comment behind a section", "[DEFAULT] # all"}, fault{"a line without a separator", "debug"},
		fault{"an assignment without a name", "= true"}, fault{"an assignment without a name", ": true"},
		fault{"an indented line after an empty one", f.lineEnd + "  debug = true"},
		fault{"an indented line after a comment", "# c" + f.lineEnd + "\tdebug = true"},
		fault{"bytes that are not UTF-8", "admin_token = \xff\xfe"})
	f.use(x.rule)
	f.line(x.text)
}

// entry writes a section and one of its options, once or more.
func (f *file) entry() {
	o := f.options[f.r.IntN(len(f.options))]
	if f.last != nil && f.chance(0.35) { // often one of the section before
		var same []*conf.Option
		for _, c := range f.options {
			if c.Section == f.last.Section {
				same = append(same, c)
			}
		}
		o = pick(f.generator, same...)
		f.use("a section that is repeated")
	}
	f.last = o
	name := o.Name
	if len(o.Was) > 0 && f.chance(0.4) {
		name = pick(f.generator, o.Was...)
		f.use("an older name")
		if f.chance(0.3) {
			f.section(o.Section)
			f.assignment(o, o.Option)
			f.use("an older name beside the name")
		}
	}
	f.section(name.Section)
	times := pick(f.generator, 1, 1, 1, 2, 3)
	if times > 1 {
		f.use("an option that is repeated")
		if o.Kind == conf.Multi {
			f.use("values that are kept beside one another")
		}
	}
	for range times {
		f.between()
		f.assignment(o, name.Option)
	}
}

func (f *file) section(name string) {
	switch {
	case name == "DEFAULT" && f.chance(0.1):
		name = pick(f.generator, "default", "Default")
		f.use("DEFAULT in other letters")
	case name != "DEFAULT" && f.chance(0.2):
		name = pick(f.generator, strings.ToUpper(name), strings.ToUpper(name[:1])+name[1:])
		f.use("a section in other letters")
	case f.chance(0.02):
		name = pick(f.generator, " "+name+" ", name+"]", "["+name)
		f.use("a section with more in its name")
	}
	f.line("[" + name + "]" + pick(f.generator, "", "", " ", "\t"))
}

// between writes what ends a running value and nothing else.
func (f *file) between() {
	if !f.chance(0.15) {
		return
	}
	type filler struct{ rule, text string }
	x := pick(f.generator,
		filler{"a comment with #", "# debug = true"}, filler{"a comment with ;", ";debug = true"},
		filler{"an empty line", ""}, filler{"a line of blanks", " \t "}, filler{"a line of odd blanks", "\f"},
		filler{"a line of odd blanks", "\u00a0\u2003"})
	f.use(x.rule)
	f.line(x.text)
}

func (f *file) assignment(o *conf.Option, key string) {
	if f.chance(0.03) {
		key = pick(f.generator, "unknown", "two words", "-", `"quoted"`, "`tick`", "k[1]", strings.ToUpper(key), key+".x", "ключ")
		f.use("a name that no option has")
	}
	separator := pick(f.generator, " = ", " = ", "=", ":", " : ", " =", "= ", "\t=\t", " =  \t ")
	if strings.Contains(separator, ":") {
		f.use("a colon for =")
	}
	value := f.quoted(f.value(o))
	f.line(key + separator + value + pick(f.generator, "", "", "", " ", "\t", "\x1c", "\u00a0"))
	for f.chance(0.12) {
		text := pick(f.generator, "x,", "y", "# not a comment", "; neither", "a = b", "[token]", "10", `"q"`, ", z", "$debug", "sql", "é")
		f.use("a value over several lines")
		if strings.HasPrefix(text, "#") || strings.HasPrefix(text, ";") || strings.HasPrefix(text, "[") {
			f.use("a further line that looks like something else")
		}
		f.line(pick(f.generator, " ", "\t", "    ", " \t ") + text)
	}
}

// quoted puts quotes around some values, or what looks like it.
func (f *file) quoted(value string) string {
	if !f.chance(0.12) {
		return value
	}
	type quotes struct{ rule, left, right string }
	q := pick(f.generator,
		quotes{"double quotes", `"`, `"`}, quotes{"single quotes", "'", "'"}, quotes{"a quote alone", `"`, ""},
		quotes{"a quote alone", "", "'"}, quotes{"unlike quotes", `"`, "'"}, quotes{"quotes with blanks inside", `" `, ` "`},
		quotes{"quotes twice", `""`, `""`}, quotes{"ticks", "`", "`"})
	f.use(q.rule)
	return q.left + value + q.right
}

// complete checks that no rule was left out.
func (g *generator) complete(t *testing.T) {
	t.Helper()
	for _, rule := range []string{
		"a folder of files", "several files", "an environment variable", "lines end with CR LF", "lines end with CR",
		"no line end at the end", "an option before any section", "an indented first line", "a byte order mark",
		"a comment first", "an empty first line", "a section without its bracket", "a section without a name",
		"a comment behind a section", "a line without a separator", "an assignment without a name",
		"an indented line after an empty one", "an indented line after a comment", "bytes that are not UTF-8",
		"a section that is repeated", "an older name", "an older name beside the name", "an option that is repeated",
		"values that are kept beside one another", "DEFAULT in other letters", "a section in other letters",
		"a section with more in its name", "a comment with #", "a comment with ;", "an empty line", "a line of blanks",
		"a line of odd blanks", "a name that no option has", "a colon for =", "a value over several lines",
		"a further line that looks like something else", "double quotes", "single quotes", "a quote alone",
		"unlike quotes", "quotes with blanks inside", "quotes twice", "ticks",
	} {
		if g.used[rule] == 0 {
			t.Errorf("no generated file has %s", rule)
		}
	}
	for _, list := range []map[string][]string{odd, typed} {
		for kind := range list {
			if g.used[kind] < len(list[kind]) {
				t.Errorf("%s: %d values written, want at least %d", kind, g.used[kind], len(list[kind]))
			}
		}
	}
}
