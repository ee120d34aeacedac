package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/keystone-go/keystone-go/internal/conf"
)

var domainFile = regexp.MustCompile(`^keystone\..*?\.conf$`)

// domainFiles lists the folder of the domains' configurations, where they are
// kept in files.
func domainFiles(c *conf.Config) (matching, other []string, asked bool, err error) {
	if !c.Identity.DomainSpecificDriversEnabled || c.Identity.DomainConfigurationsFromDatabase {
		return nil, nil, false, nil
	}
	entries, err := os.ReadDir(c.Identity.DomainConfigDir)
	for _, e := range entries {
		if domainFile.MatchString(e.Name()) {
			matching = append(matching, filepath.Join(c.Identity.DomainConfigDir, e.Name()))
		} else {
			other = append(other, e.Name())
		}
	}
	return matching, other, true, err
}

func strangeDomainFiles(c *conf.Config) bool {
	_, other, asked, err := domainFiles(c)
	return asked && (err != nil || len(other) > 0)
}

func brokenDomainFiles(c *conf.Config) bool {
	files, _, _, _ := domainFiles(c)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err == nil && !isINI(string(text)) {
			return true
		}
	}
	return false
}

// isINI reports whether Python's configparser, with which keystone-manage
// looks at these files, reads the text: it knows neither sections nor options
// twice.
func isINI(text string) bool {
	var r iniReader
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if !r.read(line) {
			return false
		}
	}
	return true
}

var iniSection = regexp.MustCompile(`^\[(.+)\]`)

// iniReader is where a reading of such a file stands.
type iniReader struct {
	section string
	option  string // that the next line may continue, "" for none
	indent  int    // of its line
	seen    map[string]bool
}

func (r *iniReader) read(line string) bool {
	value := strings.TrimSpace(line)
	if value == "" || value[0] == '#' || value[0] == ';' {
		return true // an empty line may stand inside a value
	}
	indent := len(line) - len(strings.TrimLeft(line, " \t\v\f"))
	if r.option != "" && indent > r.indent {
		return true
	}
	r.indent = indent
	if m := iniSection.FindStringSubmatch(value); m != nil {
		r.section, r.option = m[1], ""
		return r.once("[" + m[1])
	}
	i := strings.IndexAny(value, "=:")
	if r.section == "" || i < 0 {
		return false
	}
	r.option = strings.ToLower(strings.TrimSpace(value[:i]))
	return r.option != "" && r.once(r.section+"\n"+r.option)
}

// once notes a name and reports whether it is new. DEFAULT may come again.
func (r *iniReader) once(name string) bool {
	if r.seen == nil {
		r.seen = map[string]bool{"[DEFAULT": false}
	}
	if name == "[DEFAULT" {
		return true
	}
	first := !r.seen[name]
	r.seen[name] = true
	return first
}
