// Command run runs go test and says in a few lines what happened: one line a
// package, the whole output of what failed, and true counts at the end.
//
//	run [-name NAME] [-postgres] [-mariadb] [-strict] -- GO TEST ARGUMENTS
//	run [-name NAME] -fuzz TIME
//
// The counts are also appended to the file that KEYSTONE_GO_TEST_COUNTS names.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	name := flag.String("name", "tests", "the `name` of this run in what is printed")
	postgres := flag.Bool("postgres", false, "fail unless every test that ran on SQLite ran on Postgres too")
	mariadb := flag.Bool("mariadb", false, "fail unless every test that ran on SQLite ran on MariaDB too")
	strict := flag.Bool("strict", false, "fail on a skipped test")
	fuzz := flag.String("fuzz", "", "fuzz every target of the module for this `time` each")
	flag.Parse()

	r := newReport(os.Stdout)
	var err error
	if *fuzz != "" {
		err = fuzzAll(r, *fuzz)
	} else {
		err = goTest(r, flag.Args()...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	faults := r.faults(*postgres, *mariadb, *strict)
	for _, f := range faults {
		fmt.Println(f)
	}
	if r.postgres > 0 {
		fmt.Printf("%s on Postgres: %d of them, on MariaDB: %d\n", *name, r.postgres, r.mariadb)
	}
	fmt.Printf("%s: %d passed, %d failed, %d skipped\n", *name, r.passed, r.failed, r.skipped)
	if err := keepCounts(*name, r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// goTest runs go test -json with args and feeds what it prints to r. A failed
// test is r's to tell; the error is for a go command that could not be run.
func goTest(r *report, args ...string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := r.read(out)
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case readErr != nil:
		return readErr
	case errors.As(err, &exit):
		if r.failed == 0 {
			return fmt.Errorf("go test: %w, though no test failed", err)
		}
		return nil
	default:
		return err
	}
}

func keepCounts(name string, r *report) error {
	path := os.Getenv("KEYSTONE_GO_TEST_COUNTS")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%d %d %d %d %s\n", r.passed, r.failed, r.skipped, r.postgres, name)
	return errors.Join(err, f.Close())
}
