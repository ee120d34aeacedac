// Command vet holds the checks that go vet and staticcheck lack: errors that
// nobody looks at, errors compared or formatted past their wrapping, and rows
// that stay open. It is run as the program of go vet -vettool.
package main

import (
	"log"
	"strings"

	"github.com/kisielk/errcheck/errcheck"
	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/ryanrolds/sqlclosecheck/pkg/analyzer"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/unitchecker"
)

// ignorable are the functions whose error says nothing that could be acted on:
// the end of something that was only read, a client or a terminal that is gone.
var ignorable = []string{
	// What a bufio.Writer meets it tells at its Flush.
	"(*bufio.Writer).Write",
	"(*bufio.Writer).WriteByte",
	"(*bufio.Writer).WriteRune",
	"(*bufio.Writer).WriteString",
	"(*net/http.Server).Close",
	"(*os.File).Close",
	"(*os.Process).Kill",
	"(io.Closer).Close",
	"(io.ReadCloser).Close",
	"(net.Conn).Close",
	"(net.Listener).Close",
	"(net/http.ResponseWriter).Write",
	"fmt.Fprint",
	"fmt.Fprintf",
	"fmt.Fprintln",
	"os.Remove",
	"os.RemoveAll",
}

func main() {
	errcheck.DefaultExcludedSymbols = append(errcheck.DefaultExcludedSymbols, ignorable...)
	wrapping := errorlint.NewAnalyzer()
	if err := wrapping.Flags.Set("errorf", "true"); err != nil {
		log.Fatal(err)
	}
	rows := analyzer.NewConfigurableAnalyzer(analyzer.ConfigurableAnalyzerClosed)
	unitchecker.Main(notInTests(errcheck.Analyzer), notInTests(wrapping), rows, nilness.Analyzer)
}

// notInTests leaves out what a finds in test files.
func notInTests(a *analysis.Analyzer) *analysis.Analyzer {
	run := a.Run
	a.Run = func(p *analysis.Pass) (any, error) {
		quiet := *p
		quiet.Report = func(d analysis.Diagnostic) {
			if !strings.HasSuffix(p.Fset.Position(d.Pos).Filename, "_test.go") {
				p.Report(d)
			}
		}
		return run(&quiet)
	}
	return a
}
