package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/policy"
)

func TestFilesInOrder(t *testing.T) {
	d := must(t, policy.Config{}, map[string]string{
		"policy.yaml":             "'identity:list_users': role:main\n'identity:get_user': role:main\n'identity:list_regions': role:main\n",
		"policy.d/10-first":       "'identity:get_user': role:first\n'identity:list_regions': role:first\n",
		"policy.d/20-second.json": `{"identity:list_regions": "role:second"}`,
		"policy.d/.hidden.yaml":   "'identity:list_users': role:hidden\n",
		"policy.d/~sub/late.yaml": "'identity:list_users': role:sub\n",
	})
	d.want(true, listUsers, "main")
	d.want(false, listUsers, "hidden", "sub")
	d.want(true, getUser, "first")
	d.want(false, getUser, "main")
	d.want(true, "identity:list_regions", "second")
	d.want(false, "identity:list_regions", "main", "first")
}

func TestDirectoryWithoutFile(t *testing.T) {
	d := must(t, policy.Config{}, map[string]string{"policy.d/x.yaml": "'identity:list_users': role:x"})
	d.want(true, listUsers, "x")
}

func TestAbsoluteNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "own.json")
	if err := os.WriteFile(path, []byte(`{"identity:list_users": "role:x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, policy.Config{PolicyFile: path}, nil).want(true, listUsers, "x")
	must(t, policy.Config{PolicyFile: path + ".gone", PolicyDirs: []string{dir}}, nil).want(true, listUsers, "x")
}

func TestFileForms(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // "yes", "no", or part of the error
	}{
		{``, "no"},
		{"# nothing\n", "no"},
		{"---\n", "no"},
		{"null", "no"},
		{`{}`, "no"},
		{`{"identity:list_users": "role:x"}`, "yes"},
		{"{\n\t\"identity:list_users\":\n\t\t\"role:x\"\n}", "yes"},
		{"identity:list_users: role:x", "yes"},
		{"identity:list_users: >\n  role:nobody or\n  role:x\n", "yes"},
		{"identity:list_users: ''", "yes"},
		{"identity:list_users:", "yes"},
		{"identity:list_users: ~", "yes"},
		{"identity:list_users: []", "yes"},
		{"identity:list_users: [[]]", "no"},
		{"identity:list_users: ['role:x']", "yes"},
		{"identity:list_users: [['role:x', 'role:y']]", "no"},
		{"identity:list_users: [['role:x'], null, ['role:y']]", "yes"},
		{"identity:list_users:\n- - role:y\n- - role:x\n", "yes"},
		{"identity:list_users: '@'", "yes"},
		{"identity:list_users: '!'", "no"},
		{"identity:list_users: !", "no"}, // a tag in YAML, and an empty text to Python
		{"identity:list_users: role:y\nidentity:list_users: role:x", "yes"},
		{"a: &a role:x\nidentity:list_users: *a", "yes"},
		{"mine: role:x\nidentity:list_users: rule:mine", "yes"},
		{"default: role:x\nidentity:list_users: rule:nowhere", "yes"},
		{"identity:list_users: 1", "line 1"},
		{"identity:list_users: true", "is not a rule"},
		{"\nidentity:list_users: {a: b}", "line 2"},
		{"identity:list_users: [1]", "a check is wanted"},
		{"identity:list_users: [[['@']]]", "a check is wanted"},
		{"identity:list_users: &a [*a]", ""},
		{"[a, b]", "a mapping of rule names"},
		{"text", "a mapping of rule names"},
		{"a: '@'\n---\nb: '@'", "more than one document"},
		{"a: [", ""},
		{"a: '@'\n b: '@'", ""},
		{"identity:list_users: @", ""},
		{"[a]: '@'", "not the name of a rule"},
		{"b: &b {x: '@'}\n<<: *b", ""},
	} {
		d, err := open(t, policy.Config{}, map[string]string{"policy.yaml": c.text})
		switch {
		case c.want == "yes" || c.want == "no":
			if err != nil {
				t.Errorf("%q: %v", c.text, err)
				continue
			}
			d.want(c.want == "yes", listUsers, "x")
		case err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "policy.yaml"):
			t.Errorf("%q: got %v, want an error with %q and the file's name", c.text, err, c.want)
		}
	}
}

func TestReload(t *testing.T) {
	d := must(t, policy.Config{EnforceNewDefaults: true}, nil)
	d.want(false, listUsers, "x")

	d.write("policy.yaml", "'identity:list_users': role:x")
	d.want(false, listUsers, "x") // not due yet
	d.later()
	d.want(true, listUsers, "x")

	d.write("policy.d/a.yaml", "'identity:list_users': role:y")
	d.later()
	d.want(false, listUsers, "x")
	d.want(true, listUsers, "y")

	// The same size and another time.
	d.write("policy.d/a.yaml", "'identity:list_users': role:z")
	if err := os.Chtimes(filepath.Join(d.dir, "policy.d/a.yaml"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	d.later()
	d.want(true, listUsers, "z")

	if err := os.Remove(filepath.Join(d.dir, "policy.d/a.yaml")); err != nil {
		t.Fatal(err)
	}
	d.later()
	d.want(true, listUsers, "x")
	if got := d.log.take(); strings.Count(got, "policy files read again") != 4 || strings.Contains(got, "ERROR") {
		t.Errorf("logged\n%s want four reloads and no error", got)
	}
}

func TestReloadKeepsTheLastGood(t *testing.T) {
	d := must(t, policy.Config{EnforceNewDefaults: true}, map[string]string{"policy.yaml": "'identity:list_users': role:x"})
	path := filepath.Join(d.dir, "policy.yaml")
	for _, spoil := range []func(){
		func() { d.write("policy.yaml", "{") },
		func() { d.write("policy.yaml", "'identity:list_users': 5") },
		func() { _ = os.Remove(path) }, // rules must not relax because a file is being exchanged
		func() { d.write("policy.d", "not a directory") },
	} {
		d.log.take()
		spoil()
		for range 3 {
			d.later()
			d.want(true, listUsers, "x")
			d.want(false, listUsers, "y")
		}
		if got := d.log.take(); strings.Count(got, "last good rules stay") != 1 {
			t.Errorf("logged\n%s want one complaint", got)
		}
	}
	_ = os.Remove(filepath.Join(d.dir, "policy.d"))
	d.write("policy.yaml", "'identity:list_users': role:y")
	d.later()
	d.want(true, listUsers, "y")
}

func TestBadFilesStopTheStart(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"file":           {"policy.yaml": "{"},
		"in directory":   {"policy.d/a.yaml": "{"},
		"directory":      {"policy.d": "not a directory"},
		"file directory": {"policy.yaml/x": ""},
	} {
		if _, err := open(t, policy.Config{}, files); err == nil {
			t.Errorf("%s: New gave no error", name)
		}
	}
}

func TestReloadWhileEnforcing(t *testing.T) {
	d := must(t, policy.Config{}, map[string]string{"policy.yaml": "'identity:list_users': role:x and role:n0"})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			creds := policy.Credentials{"roles": []string{"x", "n0"}}
			for range 2000 {
				// Every version of the file lets x in, and none lets y.
				if err := d.Enforce(t.Context(), "identity:get_region", creds, nil); err != nil {
					t.Errorf("identity:get_region: %v", err)
				}
				if err := d.Enforce(t.Context(), listUsers, policy.Credentials{"roles": []string{"y"}}, nil); err == nil {
					t.Error("identity:list_users let y in")
				}
				d.later()
			}
		})
	}
	wg.Go(func() {
		for i := range 50 {
			text := fmt.Sprintf("'identity:list_users': role:x and role:n%d\n", i)
			d.write("next", text)
			if err := os.Rename(filepath.Join(d.dir, "next"), filepath.Join(d.dir, "policy.yaml")); err != nil {
				t.Error(err)
			}
			d.later()
			time.Sleep(time.Millisecond)
		}
	})
	wg.Wait()
	d.later()
	d.want(true, listUsers, "x", "n49")
}
