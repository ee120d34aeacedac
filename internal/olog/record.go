package olog

import (
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"
)

// record is one line before it has a form.
type record struct {
	time    time.Time
	level   slog.Level
	logger  string
	message string
	stack   string
	extra   []slog.Attr
	req     *Request // never nil; without an ID outside of requests
	source  *source
}

// source is where in the code a line was written.
type source struct {
	function, path, file, module string
	line                         int
	logger                       string
}

var (
	sources  sync.Map // uintptr → *source; as many as there are log calls in the code
	nowhere  = &source{logger: rootName}
	rootName = "keystone"
)

const modulePath = "github.com/keystone-go/keystone-go/"

func sourceOf(pc uintptr) *source {
	if pc == 0 {
		return nowhere
	}
	if s, ok := sources.Load(pc); ok {
		return s.(*source)
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	s := &source{path: frame.File, line: frame.Line}
	s.file = frame.File[strings.LastIndexByte(frame.File, '/')+1:]
	s.module, _, _ = strings.Cut(s.file, ".")
	var pkg string
	pkg, s.function = splitFunction(frame.Function)
	s.logger = loggerOf(pkg)
	sources.Store(pc, s)
	return s
}

// splitFunction parts github.com/a/b/pkg.(*T).Method.
func splitFunction(name string) (pkg, function string) {
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return name, ""
	}
	return name[:slash+dot], name[slash+dot+1:]
}

// loggerOf names the logger of a package as Python Keystone names those of its
// modules, keystone.auth.method, so that levels are set in the same words.
func loggerOf(pkg string) string {
	rest, ok := strings.CutPrefix(pkg, modulePath)
	if !ok || strings.HasPrefix(rest, "cmd/") {
		return rootName
	}
	rest = strings.TrimPrefix(rest, "internal/")
	return rootName + "." + strings.ReplaceAll(rest, "/", ".")
}

// Python's numbers of the levels, and oslo.log's two between them.
const (
	levelTrace    = 5
	levelDebug    = 10
	levelInfo     = 20
	levelAudit    = 21
	levelWarning  = 30
	levelError    = 40
	levelCritical = 50
)

// levelNumber is a level as Python's logging counts.
func levelNumber(l slog.Level) int {
	switch {
	case l < slog.LevelDebug:
		return levelTrace
	case l < slog.LevelInfo:
		return levelDebug
	case l < slog.LevelWarn:
		return levelInfo
	case l < slog.LevelError:
		return levelWarning
	case l < slog.LevelError+4:
		return levelError
	}
	return levelCritical
}

// level names a level as Python's logging does.
func level(l slog.Level) string {
	switch levelNumber(l) {
	case levelTrace:
		return "TRACE"
	case levelDebug:
		return "DEBUG"
	case levelInfo:
		return "INFO"
	case levelWarning:
		return "WARNING"
	case levelError:
		return "ERROR"
	}
	return "CRITICAL"
}
