package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keystone-go/keystone-go/internal/conf"
)

func (p *program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages into a folder", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for name, text := range p.manuals() {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// manuals gives the pages by the names of their files.
func (p *program) manuals() map[string]string {
	page := func(name string) *cobra.Command {
		other := *p
		other.argv0 = name
		return other.root()
	}
	return map[string]string{
		"keystone-go.1":     commandManual(page("keystone-go")),
		"keystone-manage.1": commandManual(page(manageName)),
		"keystone-status.1": commandManual(page(statusName)),
		"keystone.conf.5":   configManual(),
	}
}

// manual is a page in the making, in the language of man(7).
type manual struct{ strings.Builder }

// macro writes a line that begins with a macro; what follows it is one
// argument each.
func (m *manual) macro(name string, args ...string) {
	m.WriteString("." + name)
	for _, a := range args {
		m.WriteString(` "` + strings.ReplaceAll(escaped(a), `"`, `\(dq`) + `"`)
	}
	m.WriteString("\n")
}

// text writes running text.
func (m *manual) text(s string) {
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		line = escaped(line)
		switch {
		case line == "":
			m.WriteString(".PP\n")
			continue
		case line[0] == '.' || line[0] == '\'':
			line = `\&` + line
		}
		m.WriteString(line + "\n")
	}
}

func escaped(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
}

// commandManual writes the page of a command with all that stand below it.
func commandManual(root *cobra.Command) string {
	m := &manual{}
	m.macro("TH", strings.ToUpper(root.Name()), "1", "", "keystone-go", "")
	m.macro("SH", "NAME")
	m.text(root.Name() + " - " + lowerFirst(root.Short))
	m.macro("SH", "SYNOPSIS")
	m.macro("B", root.Name())
	m.text("[global options] command [options]")
	if root.Long != "" {
		m.macro("SH", "DESCRIPTION")
		m.text(root.Long)
	}
	m.macro("SH", "GLOBAL OPTIONS")
	m.flags(root.PersistentFlags())
	m.macro("SH", "COMMANDS")
	m.commands(root, "")
	m.macro("SH", "EXIT STATUS")
	m.text("0: done; 1: failed; 2: the command line cannot be understood. db_sync --check and upgrade check have codes of their own.")
	m.macro("SH", "SEE ALSO")
	m.text("keystone.conf(5)")
	return m.String()
}

func (m *manual) commands(parent *cobra.Command, before string) {
	for _, c := range parent.Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		name := before + c.Use
		if c.HasSubCommands() {
			m.commands(c, before+c.Name()+" ")
			continue
		}
		m.macro("SS", name)
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		m.text(text)
		m.flags(c.LocalNonPersistentFlags())
	}
}

func (m *manual) flags(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind != "" && f.NoOptDefVal == "" {
			name += " " + strings.ToUpper(kind)
		}
		m.macro("TP")
		m.macro("B", name)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		m.text(sentenceOf(usage))
	})
}

// configManual writes the page of the configuration file.
func configManual() string {
	m := &manual{}
	m.macro("TH", "KEYSTONE.CONF", "5", "", "keystone-go", "")
	m.macro("SH", "NAME")
	m.text("keystone.conf - the configuration of keystone-go and of Python Keystone")
	m.macro("SH", "DESCRIPTION")
	m.text(`The file is read in the dialect of oslo.config: sections in brackets, one
option = value a line, lines that begin with # or ; as comments, indented lines
as the continuation of a value. $name and ${section.name} stand for another
option's value; a dollar is written $$. An option may be given by the
environment instead: OS_DATABASE__CONNECTION is [database] connection.

These are the options that have an effect here. All others of Python Keystone
may stand in the file too. "keystone-go config check" says what is wrong with a
file, "keystone-go config show" what it comes to.`)
	section := ""
	for _, o := range slices.Concat(conf.Options(), conf.RouteOptions()) {
		if o.Effect != "yes" {
			continue
		}
		if o.Section != section {
			section = o.Section
			title := section
			if strings.HasSuffix(title, ":") {
				title += "NAME"
			}
			m.macro("SH", "["+title+"]")
		}
		m.macro("TP")
		m.macro("B", o.Option)
		m.text(sentenceOf(o.Help) + " " + o.Form())
	}
	m.macro("SH", "SEE ALSO")
	m.text("keystone-go(1)")
	return m.String()
}

// sentenceOf makes a sentence of a help text.
func sentenceOf(s string) string {
	if s == "" {
		return s
	}
	first, _, _ := strings.Cut(s, " ")
	if !strings.ContainsAny(first, "_=") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s + "."
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return fmt.Sprint(strings.ToLower(s[:1]), s[1:])
}
