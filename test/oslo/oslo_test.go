// Package oslo_test reads the same files with internal/conf and with the real
// oslo.config: every value must be equal, and what one refuses the other must
// refuse. The options are those of a table, which make interop compares with
// Python Keystone. In the same way it decides by the same rules with
// internal/rules and with the real oslo.policy.
package oslo_test

import (
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
)

const (
	generatedFiles = 300
	leastCompared  = 100_000
	seed           = 20260717
)

// TestEqualToOslo compares every option of the files that other projects
// write and of generated ones.
func TestEqualToOslo(t *testing.T) {
	equalToPython(t, python(t, "../../build/venv/bin", "make test", "read.py", current, retired))
}

func equalToPython(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	jobs := usersFiles(t)
	g := newGenerator(t, seed)
	for i := range generatedFiles {
		jobs = append(jobs, g.job(i))
	}
	g.complete(t)
	c := comparison{t: t}
	for i, r := range converse[job, reading](t, cmd, jobs) {
		c.job(jobs[i], r)
	}
	t.Logf("figure: oslo.config: compared %d values of %d options in %d configurations: %d set in the file, %d refused by both, %d configurations unreadable to both; "+
		"%d empty numbers and %d numbers beyond 64 bits refused here alone",
		c.values, len(conf.Options()), len(jobs), c.set, c.refused, c.unreadable, c.empty, c.big)
	if c.values < leastCompared {
		t.Errorf("compared %d values, want at least %d", c.values, leastCompared)
	}
	for what, n := range map[string]int{"refusals": c.refused, "unreadable files": c.unreadable, "empty numbers": c.empty, "large numbers": c.big} {
		if n == 0 {
			t.Errorf("no %s were met", what)
		}
	}
}

func usersFiles(t *testing.T) []job {
	t.Helper()
	files, err := filepath.Glob(data + "users/*.conf")
	if err != nil || len(files) != 11 {
		t.Fatalf("%d files of others (%v), want 11", len(files), err)
	}
	var jobs []job
	for _, f := range files {
		path, err := filepath.Abs(f)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job{Files: []string{path}, name: filepath.Base(f)})
	}
	return jobs
}

// comparison counts what was compared.
type comparison struct {
	t                                            *testing.T
	values, set, refused, unreadable, empty, big int
}

func (c *comparison) job(j job, python reading) {
	sources := conf.Sources{Files: j.Files, Dirs: j.Dirs}
	for k, v := range j.Env {
		sources.Env = append(sources.Env, k+"="+v)
	}
	ours, faults := conf.Examine(sources)
	byOption := map[string]conf.Fault{}
	unreadable := conf.Faults{}
	for _, f := range faults {
		if f.Option == "" {
			unreadable = append(unreadable, f)
		}
		byOption[f.Section+"/"+f.Option] = f
	}
	if python.Fatal != nil || len(unreadable) > 0 {
		if python.Fatal == nil {
			c.t.Errorf("%s: refused as a whole, and oslo.config reads it:\n%v", j.name, unreadable)
		}
		if len(unreadable) == 0 {
			c.t.Errorf("%s: oslo.config refuses it as a whole: %s", j.name, *python.Fatal)
		}
		c.unreadable++
		return
	}
	big := false // one that others may refer to
	for key, f := range byOption {
		big = big || isBig(f, python.Values[key].Value)
	}
	for _, s := range ours.Settings() {
		key := s.Section + "/" + s.Option
		p, known := python.Values[key]
		if !known {
			if s.Section != "keystone_go" && !strings.HasPrefix(s.Section, "rate_limit") {
				c.t.Errorf("%s: %s is no option of Python's", j.name, key)
			}
			continue
		}
		c.values++
		if s.File != "" {
			c.set++
		}
		fault, isFault := byOption[key]
		switch {
		case p.Error != nil && isFault:
			c.refused++
		case p.Error != nil:
			c.t.Errorf("%s: %s = %v, and oslo.config refuses it: %s", j.name, key, s.Value, *p.Error)
		case isFault:
			c.stricter(j.name, key, fault, p.Value, big)
		case !equal(s.Value, p.Value):
			c.t.Errorf("%s: %s = %#v, and oslo.config has %#v", j.name, key, s.Value, p.Value)
		}
	}
}

// isBig tells a refusal because of a number beyond 64 bits.
func isBig(f conf.Fault, python any) bool {
	text, _ := python.(string)
	return len(strings.Trim(text, "-0123456789")) == 0 && len(text) > 18 && strings.Contains(f.Message, "out of range")
}

// stricter allows the two refusals that oslo.config does not have: an empty
// number, where Python has None and falls over it when it is used, and a number
// beyond 64 bits, or a reference to one.
func (c *comparison) stricter(name, key string, f conf.Fault, python any, big bool) {
	switch {
	case python == nil && strings.HasPrefix(f.Message, "the value is empty"):
		c.empty++
	case isBig(f, python), big && strings.HasSuffix(f.Message, "is not valid itself"):
		c.big++
	default:
		c.t.Errorf("%s: %s is refused (%s), and oslo.config has %#v", name, key, f.Message, python)
	}
}

// equal compares a typed value with what JSON carried.
func equal(ours, python any) bool {
	switch v := ours.(type) {
	case int:
		return python == float64(v) || python == strconv.Itoa(v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return python == map[bool]string{true: "nan"}[math.IsNaN(v)] || math.IsInf(v, 1) && python == "inf" || math.IsInf(v, -1) && python == "-inf"
		}
		return python == v
	case []string:
		list, ok := python.([]any)
		if !ok || len(list) != len(v) {
			return false
		}
		for i := range v {
			if list[i] != v[i] {
				return false
			}
		}
		return true
	case map[string][]string:
		dict, ok := python.(map[string]any)
		if !ok || len(dict) != len(v) {
			return false
		}
		for k := range v {
			if !equal(v[k], dict[k]) {
				return false
			}
		}
		return true
	case map[string]string:
		dict, ok := python.(map[string]any)
		if !ok || len(dict) != len(v) {
			return false
		}
		for k := range v {
			if dict[k] != v[k] {
				return false
			}
		}
		return true
	}
	return ours == python
}
