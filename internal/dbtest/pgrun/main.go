// Command pgrun starts a Postgres server, runs a command with the server's
// address in KEYSTONE_GO_TEST_POSTGRES and stops the server again:
//
//	go run ./internal/dbtest/pgrun -- go test ./...
//
// With -mariadb it does the same with a MariaDB server, whose address is in
// KEYSTONE_GO_TEST_MARIADB, unless that names one already. With -mode, the
// address asks for one of pgx's ways to run statements (simple_protocol, exec,
// cache_describe).
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/keystone-go/keystone-go/internal/dbtest/mariaserver"
	"github.com/keystone-go/keystone-go/internal/dbtest/pgserver"
)

func main() {
	mode := flag.String("mode", "", "default_query_exec_mode of the connections")
	mariadb := flag.Bool("mariadb", false, "start a MariaDB server too")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: pgrun [-mode M] [-mariadb] -- command args…")
		os.Exit(2)
	}
	os.Exit(run(*mode, *mariadb, flag.Args()))
}

func run(mode string, mariadb bool, args []string) int {
	s, err := pgserver.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgrun:", err)
		return 1
	}
	defer s.Stop()
	if mode != "" {
		s.URL += "?default_query_exec_mode=" + mode
	}
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), "KEYSTONE_GO_TEST_POSTGRES="+s.URL)
	if mariadb && os.Getenv("KEYSTONE_GO_TEST_MARIADB") == "" {
		m, err := mariaserver.Start()
		if err != nil {
			fmt.Fprintln(os.Stderr, "pgrun:", err)
			return 1
		}
		defer m.Stop()
		c.Env = append(c.Env, "KEYSTONE_GO_TEST_MARIADB="+m.URL)
	}
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The command gets signals of the terminal by itself; we only outlive it.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "pgrun:", err)
		return 1
	}
	go func() {
		for sig := range signals {
			if sig == syscall.SIGTERM {
				_ = c.Process.Signal(sig)
			}
		}
	}()
	err = c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := exit.ExitCode(); code >= 0 {
			return code
		}
		return 1
	}
	if err != nil {
		return 1
	}
	return 0
}
