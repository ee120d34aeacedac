package test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/keystone-go/keystone-go/internal/logtest"
)

// TestMain says what was asked of the logs of all servers: that kolla reads
// them and that they hold no secret which went through their server.
func TestMain(m *testing.M) {
	code := m.Run()
	lines, secrets := logtest.LinesChecked.Load(), logtest.SecretsSought.Load()
	fmt.Printf("figure: logs of the servers: %d lines as kolla reads them, searched for %d secrets\n", lines, secrets)
	whole := flag.Lookup("test.run").Value.String() == "" && !testing.Short()
	if code == 0 && whole && (lines < 10_000 || secrets < 1_000) {
		fmt.Println("that is too little for all tests")
		code = 1
	}
	os.Exit(code)
}
