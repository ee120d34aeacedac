package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Path is a file to read, or a folder whose *.conf files are read in order.
type Path struct {
	Path string
	Dir  bool
}

// Sources says what to read: Files, then the *.conf files of Dirs, then Paths in
// the order of the command line, a later one over an earlier one; over all of
// them the environment ("NAME=value" entries, as os.Environ gives), and over
// that what Set gives, from the command line. Each path must exist.
type Sources struct {
	Files []string
	Dirs  []string
	Paths []Path
	Env   []string
	Set   []Given
}

// CommandLine is the origin of values in Sources.Set.
const CommandLine = "command line"

// Load reads the configuration. The error is a Faults with everything that is
// wrong, from all files at once.
func Load(s Sources) (*Config, error) {
	c, faults := Examine(s)
	if len(faults) > 0 {
		return nil, faults
	}
	return c, nil
}

// Examine reads as Load does, and gives what could be read beside the faults:
// an option with a fault has its default.
func Examine(s Sources) (*Config, Faults) {
	l := &loader{
		table: table(), env: environment(s.Env), config: &Config{Protocols: map[string]Protocol{}},
		given: map[Name]string{}, known: map[Name]result{}, active: map[Name]bool{}, blamed: map[Name]bool{},
	}
	for _, g := range s.Set {
		l.given[g.Name] = g.Value
	}
	l.read(s)
	l.routes()
	for _, o := range l.table.all {
		l.set(o)
	}
	l.dynamic()
	l.unknown()
	l.check()
	return l.config, l.ordered()
}

type loader struct {
	table  *optionTable
	docs   []*document // the weakest first
	heads  [][]header  // of each document
	env    map[string]string
	given  map[Name]string
	config *Config
	known  map[Name]result
	active map[Name]bool // being expanded, to notice circles
	blamed map[Name]bool // options that have a fault already
	faults Faults
}

func environment(entries []string) map[string]string {
	m := map[string]string{}
	for _, e := range entries {
		if k, v, ok := strings.Cut(e, "="); ok {
			m[k] = v
		}
	}
	return m
}

func (l *loader) read(s Sources) {
	var paths []Path
	for _, f := range s.Files {
		paths = append(paths, Path{Path: f})
	}
	for _, d := range s.Dirs {
		paths = append(paths, Path{Path: d, Dir: true})
	}
	paths = append(paths, s.Paths...)
	var dirs, files []string
	for _, p := range paths {
		p.Path = fixPath(p.Path, l.env["HOME"])
		if p.Dir {
			dirs = append(dirs, p.Path)
			l.readDir(p.Path)
			continue
		}
		files = append(files, p.Path)
		l.readFile(p.Path)
	}
	for _, f := range slices.Backward(files) {
		dirs = append(dirs, filepath.Dir(f))
	}
	for _, d := range append(dirs, standardDirs(l.env)...) {
		if !slices.Contains(l.config.Dirs, d) {
			l.config.Dirs = append(l.config.Dirs, d)
		}
	}
}

func (l *loader) readDir(dir string) {
	found, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*.conf"))
	if len(found) == 0 {
		if _, err := filepath.EvalSymlinks(dir); err != nil {
			l.faults = append(l.faults, Fault{File: dir, Message: "cannot read the folder: " + reason(err)})
		}
	}
	slices.Sort(found)
	for _, f := range found {
		if name := filepath.Base(f); name[0] != '.' {
			l.readFile(f)
		}
	}
}

func (l *loader) readFile(file string) {
	d, heads, faults := readDocument(file)
	l.faults = append(l.faults, faults...)
	if d != nil {
		l.docs, l.heads = append(l.docs, d), append(l.heads, heads)
		l.config.Files = append(l.config.Files, file)
	}
}

// set reads one option into its field and notes what should be told of it.
func (l *loader) set(o *Option) {
	r := l.value(o)
	v := r.value
	if v == nil && r.from != nil && !r.failed && !o.Nullable {
		// Python has None here and no use for it.
		v = l.defaultOf(o).value
		if o.Effect != "" {
			l.blame(o.Name, r.from, fmt.Sprintf("the value is empty; give %s, or leave the line out for %s", wanted(o), *o.Default))
		}
	}
	if v != nil {
		l.fieldOf(o).Set(fieldValue(o, v))
	}
	s := Setting{Name: o.Name, Value: r.value, Secret: o.Secret, Effect: o.Effect, Was: r.was, Removal: o.Removal, Gone: o.Gone, Default: o.Default}
	if r.from != nil {
		s.File, s.Line = r.from.file, r.from.line
		if o.Effect == "" || o.Effect == "default" && !r.isDefault {
			l.config.WithoutEffect = append(l.config.WithoutEffect, s)
			if o.Effect != "" {
				l.config.NotServed = append(l.config.NotServed, s)
			}
		}
		if s.Was != nil || s.Removal != "" {
			l.config.Deprecated = append(l.config.Deprecated, s)
		}
	}
	l.config.settings = append(l.config.settings, s)
}

// ordered gives the faults by file, in the order of reading, and line.
func (l *loader) ordered() Faults {
	rank := map[string]int{}
	for i, f := range l.config.Files {
		rank[f] = i + 1
	}
	slices.SortStableFunc(l.faults, func(a, b Fault) int {
		if d := rank[a.File] - rank[b.File]; d != 0 {
			return d
		}
		return a.Line - b.Line
	})
	return l.faults
}

// reason gives an operating system's error without the path, which the
// message has already.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	switch {
	case errors.Is(err, syscall.EISDIR):
		return "it is a folder"
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	}
	return err.Error()
}

// sectionsOf lists the names that a document uses, sorted by line.
func (d *document) sectionsOf() []Name {
	return slices.SortedFunc(maps.Keys(d.lines), func(a, b Name) int { return d.lines[a][0] - d.lines[b][0] })
}
