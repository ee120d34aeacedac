package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// read gives a page as a reader sees its words.
func page(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "").Replace(string(text))
}

// TestMan: every command with every flag is in the page, every option that has
// an effect in the other.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	call{}.run(t, "man", dir).expect(t, "man", 0, "", "")
	p, _, _ := call{}.program()
	commands := 0
	for _, name := range []string{"keystone-go", "keystone-manage"} {
		text := page(t, dir, name+".1")
		if !strings.HasPrefix(text, `.TH "`+strings.ToUpper(name)+`" "1"`) {
			t.Errorf("%s.1 begins with %.60q", name, text)
		}
		eachCommand(p.root(), func(c *cobra.Command) {
			commands++
			title := strings.TrimPrefix(c.CommandPath(), "keystone-go ")
			if !strings.Contains(text, `.SS "`+title) {
				t.Errorf("%s.1 has not %s", name, title)
			}
			c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				if f.Name != "help" && !strings.Contains(text, "--"+f.Name) {
					t.Errorf("%s.1 has not --%s of %s", name, f.Name, title)
				}
			})
		})
		if strings.Contains(text, "/"+"home/") || strings.Contains(text, os.TempDir()) {
			t.Errorf("%s.1 names a folder of this machine", name)
		}
	}
	if commands < 60 {
		t.Errorf("%d commands were looked for", commands)
	}
	if text := page(t, dir, "keystone-status.1"); !strings.Contains(text, `.SS "upgrade check"`) {
		t.Errorf("keystone-status.1 has not upgrade check:\n%s", text)
	}
	text := page(t, dir, "keystone.conf.5")
	for _, o := range slices.Concat(conf.Options(), conf.RouteOptions()) {
		if o.Effect == "yes" && !strings.Contains(text, ".B \""+o.Option+"\"\n") {
			t.Errorf("keystone.conf.5 has not %s", o.Name)
		}
	}
	macro := regexp.MustCompile(`^\.(TH|SH|SS|TP|B|PP)( "|$)`)
	files, _ := filepath.Glob(dir + "/*")
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !macro.MatchString(line) {
				t.Errorf("%s has a line that is read as a macro: %s", filepath.Base(f), line)
			}
		}
	}
	call{}.run(t, "man").expect(t, "no folder given", 2, "", "accepts 1 arg(s)")
	call{}.run(t, "man", filepath.Join(dir, "none")).expect(t, "no such folder", 1, "", "keystone-go: ")
}

func eachCommand(c *cobra.Command, f func(*cobra.Command)) {
	for _, below := range c.Commands() {
		if below.HasSubCommands() {
			eachCommand(below, f)
		} else if below.Name() != "help" && !below.Hidden {
			f(below)
		}
	}
}

func TestCompletion(t *testing.T) {
	for shell, mark := range map[string]string{"bash": "__start_keystone-go", "zsh": "#compdef keystone-go", "fish": "complete -c keystone-go"} {
		call{}.run(t, "completion", shell).expect(t, shell, 0, mark, "")
	}
	for typed, want := range map[string]string{
		"fernet_": "fernet_rotate\tRotate the keys of tokens and receipts\nfernet_setup\tMake the keys of tokens and receipts\n",
		"trust_":  "trust_flush\t",
	} {
		call{}.run(t, "__complete", typed).expect(t, typed, 0, want, "Completion ended")
	}
	call{}.run(t, "__complete", "trust_flush", "--da").expect(t, "a flag", 0, "--date\t", "Completion ended")
	call{as: manageName}.run(t, "completion", "bash").expect(t, "keystone-manage", 0, "__start_keystone-manage", "")
}
