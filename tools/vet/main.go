// Command vet holds the checks that go vet and staticcheck lack: errors that
// nobody looks at, errors compared or formatted past their wrapping, and rows
// that stay open. It is run as the program of go vet -vettool.
package main

import (
	"log"

	"github.com/kisielk/errcheck/errcheck"
	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/ryanrolds/sqlclosecheck/pkg/analyzer"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	wrapping := errorlint.NewAnalyzer()
	if err := wrapping.Flags.Set("errorf", "true"); err != nil {
		log.Fatal(err)
	}
	rows := analyzer.NewConfigurableAnalyzer(analyzer.ConfigurableAnalyzerClosed)
	unitchecker.Main(errcheck.Analyzer, wrapping, rows, nilness.Analyzer)
}
