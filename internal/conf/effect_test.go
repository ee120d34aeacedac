package conf_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// TestEffectTagsAreTrue reads the program that builds the server: an option is
// tagged as having an effect if and only if some code there reads its field.
func TestEffectTagsAreTrue(t *testing.T) {
	read := fieldsRead(t, "../../cmd")
	used := map[string]bool{}
	for section, sectionType := range sectionTypes() {
		for _, f := range reflect.VisibleFields(sectionType) {
			if f.Tag.Get("ini") == "" {
				continue
			}
			name := section + "." + f.Name
			isRead := read[name]
			used[name] = true
			if len(f.Index) > 1 { // of a struct that several sections are made of
				part := sectionType.Field(f.Index[0]).Name
				isRead = isRead || read[section+"."+part] && read[part+"."+f.Name]
				used[section+"."+part], used[part+"."+f.Name] = true, true
			}
			if tagged := f.Tag.Get("effect") == "yes"; tagged != isRead {
				t.Errorf("%s: tagged as having an effect: %v; read by the program: %v; set or drop effect:\"yes\" in the field's tag", name, tagged, isRead)
			}
		}
	}
	maps.DeleteFunc(read, func(name string, _ bool) bool { return used[name] || name == "RateLimitRoute.Name" })
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if !strings.HasSuffix(name, ".Plugins") {
			t.Errorf("%s is read and is no option", name)
		}
	}
}

// fieldsRead finds Section.Field in the code below a folder, whether as
// cfg.Section.Field or by way of a variable that holds the section.
func fieldsRead(t *testing.T, root string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(root + "/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no code below %s (%v)", root, err)
	}
	read := map[string]bool{}
	for _, file := range files {
		// doctor looks at what the options mean elsewhere, and changes nothing.
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(filepath.Base(file), "doctor") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				s := scanner{sections: sections(), held: map[string]string{}, read: read}
				s.params(f)
				ast.Inspect(f, s.node)
			}
		}
	}
	return read
}

// sectionTypes are the sections by the names of their fields; that of routes,
// of which there are many, by its type's.
func sectionTypes() map[string]reflect.Type {
	m := map[string]reflect.Type{"RateLimitRoute": reflect.TypeFor[conf.RateLimitRoute]()}
	config := reflect.TypeFor[conf.Config]()
	for i := range config.NumField() {
		if f := config.Field(i); f.Tag.Get("ini") != "" {
			m[f.Name] = f.Type
		}
	}
	return m
}

// sections maps the names of fields and types of sections to the field, and
// the types that they are made of to themselves.
func sections() map[string]string {
	m := map[string]string{}
	for name, section := range sectionTypes() {
		m[name], m[section.Name()] = name, name
		for _, f := range reflect.VisibleFields(section) {
			if f.Anonymous {
				m[f.Name] = f.Name
			}
		}
	}
	return m
}

type scanner struct {
	sections map[string]string
	held     map[string]string // variable → section
	read     map[string]bool
}

// params notes parameters that are sections: c conf.KeystoneGo.
func (s scanner) params(f *ast.FuncDecl) {
	for _, p := range f.Type.Params.List {
		sel, ok := p.Type.(*ast.SelectorExpr)
		if !ok || !isIdent(sel.X, "conf") {
			continue
		}
		for _, n := range p.Names {
			s.held[n.Name] = s.sections[sel.Sel.Name]
		}
	}
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func (s scanner) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, right := range n.Rhs {
			if section := s.section(right); section != "" && i < len(n.Lhs) {
				if id, ok := n.Lhs[i].(*ast.Ident); ok {
					s.held[id.Name] = section
				}
			}
		}
	case *ast.SelectorExpr:
		if section := s.section(n.X); section != "" {
			s.read[section+"."+n.Sel.Name] = true
		}
	}
	return true
}

// section tells which section an expression is: cfg.Token, b.cfg.Token, r.cfg
// or a variable that holds one.
func (s scanner) section(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return s.held[e.Name]
	case *ast.SelectorExpr:
		switch x := e.X.(type) {
		case *ast.Ident:
			if x.Name == "cfg" || x.Name == "c" {
				return s.sections[e.Sel.Name]
			}
		case *ast.SelectorExpr:
			if x.Sel.Name == "cfg" {
				return s.sections[e.Sel.Name]
			}
		}
	}
	return ""
}
