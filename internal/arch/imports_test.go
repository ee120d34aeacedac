// Package arch_test keeps the order of the packages: who may import whom, and
// which packages alone may touch the clock, chance, a web framework or a
// database driver. It reads the files itself: the test cache does not see what
// a child process such as "go list" reads, and would repeat an old answer.
package arch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/keystone-go/keystone-go"

// ranks: a package imports lower ones only.
var ranks = map[string]int{
	"internal": 0, "migrations": 0,
	"resource": 1, "lockout": 1, "policy": 1, "ratelimit": 1,
	"identity":   2,
	"assignment": 3, "catalog": 3,
	"credential": 4, "trust": 4, "appcred": 4, "oauth": 4, "limit": 4, "federation": 4,
	"auth": 5,
	"api":  6,
	"cmd":  7,
}

// places order the packages of one top folder among themselves.
var places = map[string]map[string]int{
	"auth":      {"auth/token": 0, "auth/guess": 0, "auth/method": 1, "auth": 2},
	"ratelimit": {"ratelimit": 0, "ratelimit/clientaddr": 0, "ratelimit/conform": 1, "ratelimit/memory": 1, "ratelimit/redis": 1, "ratelimit/fallback": 2, "ratelimit/sql": 2},
	"identity":  {"identity": 0, "identity/ldap": 1},
	"api":       {"api/v3": 0},
	"cmd":       {"cmd/wire": 0, "cmd/keystone-go": 1},
}

// alone import nothing of ours but what is named, and what stands below them
// in a folder that has an order. They could leave for a repository of their own.
var alone = map[string][]string{
	"internal/fault":       {},
	"internal/db":          {},
	"internal/rules":       {},
	"internal/fernet":      {},
	"internal/passhash":    {"internal/fault"}, // its limit on lengths is told to clients
	"ratelimit":            {},
	"ratelimit/clientaddr": {},
	"ratelimit/memory":     {},
	"ratelimit/redis":      {},
	"ratelimit/fallback":   {},
}

// source is one file, by its path from the root.
type source struct {
	path string
	ast  *ast.File
}

func parse(file string, text []byte) (source, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	return source{file, f}, err
}

func (s source) pkg() string { return path.Dir(s.path) }
func (s source) test() bool  { return strings.HasSuffix(s.path, "_test.go") }

// imports gives the name in the file of each imported path. An import without
// a name of its own goes by the last part, past a version.
func (s source) imports() map[string]string {
	out := map[string]string{}
	for _, spec := range s.ast.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(full)
		if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
			name = path.Base(path.Dir(full))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[full] = name
	}
	return out
}

func top(pkg string) string {
	first, _, _ := strings.Cut(pkg, "/")
	return first
}

// order gives what is wrong with who is imported.
func (s source) order() []string {
	own, ok := ranks[top(s.pkg())]
	if !ok {
		return []string{fmt.Sprintf("%s: package %s has no rank", s.path, s.pkg())}
	}
	if p, ordered := places[top(s.pkg())]; ordered {
		if _, ok := p[s.pkg()]; !ok {
			return []string{fmt.Sprintf("%s: package %s has no place in %s", s.path, s.pkg(), top(s.pkg()))}
		}
	}
	var out []string
	for full := range s.imports() {
		other, ours := strings.CutPrefix(full, module+"/")
		if !ours {
			continue
		}
		if why := s.mayNot(other, own); why != "" {
			out = append(out, fmt.Sprintf("%s: imports %s: %s", s.path, other, why))
		}
	}
	return out
}

// mayNot gives the reason why the file may not import the other package. Tests
// see the whole of their own folder, and what stands alone may use the test
// database.
func (s source) mayNot(other string, own int) string {
	rank, ok := ranks[top(other)]
	family := top(other) == top(s.pkg())
	p, ordered := places[top(other)]
	few, isAlone := alone[s.pkg()]
	switch {
	case !ok:
		return "it has no rank"
	case rank > own:
		return fmt.Sprintf("up from rank %d to %d", own, rank)
	case other == s.pkg():
		return ""
	case !s.test() && isAlone && !(family && ordered) && !slices.Contains(few, other):
		return "this package imports nothing of ours"
	case !s.test() && other == "internal/dbtest" && !strings.HasPrefix(s.pkg(), "internal/dbtest"):
		return "it is for tests"
	case own == 0:
		return ""
	case !family && rank == own:
		return fmt.Sprintf("sideways in rank %d", own)
	case family && ordered && !s.test() && p[other] >= p[s.pkg()]:
		return "it does not stand below in the folder"
	}
	return ""
}

// owner says which packages alone may import a module, or the packages under a
// path. cmd may all.
type owner struct {
	prefix string
	pkgs   []string
	tests  bool // test files too
}

var owners = []owner{
	{"github.com/labstack/echo", []string{"api/v3"}, false},
	{"github.com/jackc/pgx", []string{"internal/db"}, true},
	{"database/sql", []string{"internal/db"}, true},
	{"modernc.org/sqlite", []string{"internal/db"}, true},
	{"github.com/mattn/go-sqlite3", []string{}, true},
	{"github.com/go-sql-driver/mysql", []string{"internal/db"}, true},
	{"github.com/redis/go-redis", []string{"ratelimit/redis"}, true},
	{"github.com/rabbitmq/amqp091-go", []string{"internal/notify/rabbit"}, false},
	{"gopkg.in/ini.v1", []string{"internal/conf"}, true},
	{"net/http/pprof", []string{"internal/ops"}, false},
	{"net/http/httptest", []string{}, false},
	{"net/http/fcgi", []string{"internal/listen"}, false},
}

// use is a set of names of a package that only some may use.
type use struct {
	pkg   string
	names []string // all when empty
	what  string
	may   func(pkg string) bool
}

var uses = []use{
	{"net/http", serving, "the server side of net/http", in("api/v3", "ratelimit", "internal/listen", "internal/ops")},
	{"time", []string{"Now", "Since", "Until"}, "the clock", clock},
	{"math/rand", nil, "chance", chance},
	{"math/rand/v2", nil, "chance", chance},
	{"crypto/rand", nil, "chance", chance},
	{"hash/maphash", []string{"MakeSeed", "Hash"}, "chance", clock},
}

// serving are the names of net/http that a client has no need of.
var serving = strings.Fields(`Server Handler HandlerFunc ResponseWriter ServeMux NewServeMux DefaultServeMux
	ListenAndServe ListenAndServeTLS Serve ServeTLS Handle HandleFunc Error NotFound NotFoundHandler
	Redirect RedirectHandler ServeContent ServeFile ServeFileFS FileServer FileServerFS StripPrefix
	TimeoutHandler AllowQuerySemicolons MaxBytesHandler MaxBytesReader Flusher Hijacker Pusher
	ResponseController NewResponseController SetCookie ErrAbortHandler`)

func in(pkgs ...string) func(string) bool {
	return func(pkg string) bool { return slices.Contains(pkgs, pkg) }
}

func chance(pkg string) bool { return top(pkg) == "internal" }

func clock(pkg string) bool { return top(pkg) == "internal" || top(pkg) == "ratelimit" }

// owned gives the imports that belong to another package.
func (s source) owned() []string {
	var out []string
	for full := range s.imports() {
		for _, o := range owners {
			under := full == o.prefix || strings.HasPrefix(full, o.prefix+"/")
			if under && (o.tests || !s.test()) && !slices.Contains(o.pkgs, s.pkg()) {
				out = append(out, fmt.Sprintf("%s: imports %s, which is for %s alone", s.path, full, strings.Join(append(o.pkgs, "cmd"), ", ")))
			}
		}
	}
	return out
}

// used gives the names in use that only others may use.
func (s source) used() []string {
	if s.test() {
		return nil
	}
	var out []string
	imports := s.imports()
	for _, u := range uses {
		name, imported := imports[u.pkg]
		if !imported || u.may(s.pkg()) {
			continue
		}
		if name == "." || len(u.names) == 0 {
			out = append(out, fmt.Sprintf("%s: imports %s: %s is not for this package", s.path, u.pkg, u.what))
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(u.names, sel.Sel.Name) {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == name {
				out = append(out, fmt.Sprintf("%s: uses %s.%s: %s is not for this package", s.path, x.Name, sel.Sel.Name, u.what))
			}
			return true
		})
	}
	return out
}

// check gives all that is wrong with a file.
func (s source) check() []string {
	out := s.order()
	if top(s.pkg()) != "cmd" {
		out = append(out, s.owned()...)
		out = append(out, s.used()...)
	}
	return out
}

func TestImports(t *testing.T) {
	files := 0
	for _, f := range tree(t) {
		if top(f.path) == "test" {
			continue
		}
		s, err := parse(f.path, f.text)
		if err != nil {
			t.Error(err)
			continue
		}
		files++
		for _, fault := range s.check() {
			t.Error(fault)
		}
	}
	if files < 50 {
		t.Errorf("only %d files were read", files)
	}
}
