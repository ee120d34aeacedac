package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
)

func TestLinks(t *testing.T) {
	all := files(t)
	checked := 0
	for name, text := range all {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			checked++
			target, fragment, _ := strings.Cut(m[1], "#")
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
			} else if fragment != "" && !anchors(all[file])[fragment] {
				t.Errorf("%s: %s has no heading #%s", name, file, fragment)
			}
		}
	}
	if checked < 5 {
		t.Errorf("checked %d links, want at least 5: are the documents read?", checked)
	}
}

// anchors gives the fragments by which the headings of a document are linked to.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			default:
				return -1
			}
		}, strings.TrimSpace(m[1]))] = true
	}
	return found
}

var (
	firstCell = regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
	folder    = regexp.MustCompile("`([a-z0-9/-]+)/`")
)

// TestFolders holds the folder table of the architecture document against the
// folders that there are.
func TestFolders(t *testing.T) {
	all := files(t)
	listed := map[string]bool{}
	for _, cell := range firstCell.FindAllStringSubmatch(all["docs/ARCHITECTURE.md"], -1) {
		for _, m := range folder.FindAllStringSubmatch(cell[1], -1) {
			listed[m[1]] = true
			if info, err := os.Stat(filepath.Join(root, m[1])); err != nil || !info.IsDir() {
				t.Errorf("docs/ARCHITECTURE.md lists %s/, which is no folder", m[1])
			}
		}
	}
	for name := range all {
		dir := path.Dir(name)
		if path.Ext(name) != ".go" || strings.Contains(dir, "testdata") || dir == "." {
			continue
		}
		for parent := dir; !listed[dir]; parent = path.Dir(parent) {
			if parent == "." {
				t.Errorf("docs/ARCHITECTURE.md lists neither %s/ nor a folder above it", dir)
				listed[dir] = true
			} else if listed[parent] && parent != "internal" {
				break
			}
		}
	}
}

// TestServed holds the number of routes that the README tells against the
// list that is written from the route table.
func TestServed(t *testing.T) {
	all := files(t)
	list := regexp.MustCompile(`Served: \*\*(\d+) of (\d+)\*\*`).FindStringSubmatch(all["docs/routes.md"])
	told := regexp.MustCompile(`\[(\d+) of Python Keystone's (\d+) routes\]`).FindStringSubmatch(all["README.md"])
	if list == nil || told == nil || list[1] != told[1] || list[2] != told[2] {
		t.Errorf("README.md tells %q, docs/routes.md %q", told, list)
	}
}
