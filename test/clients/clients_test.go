// Package clients_test runs real OpenStack clients against the built server:
// the openstack command and openstacksdk from build/venv, which make test
// makes, and gophercloud. On SQLite the server is started as a first user does
// it, on Postgres as an operator does.
//
// With KEYSTONE_GO_TEST_SERVER=http://host:port the same tests run against that
// server instead; KEYSTONE_GO_TEST_SERVER_PASSWORD is the password of its
// admin, who must also be admin of the domain Default and of the system.
package clients_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func TestClients(t *testing.T) {
	requireVenv(t)
	if url := os.Getenv("KEYSTONE_GO_TEST_SERVER"); url != "" {
		all(t, server{url: url, password: os.Getenv("KEYSTONE_GO_TEST_SERVER_PASSWORD")})
		return
	}
	program := build(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s, _ := dev(t, program, filepath.Join(t.TempDir(), "state"))
		grantDomain(t, s)
		all(t, s)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := production(t, program, newPostgres(t))
		grantDomain(t, s)
		all(t, s)
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		s := production(t, program, dbtest.EmptyURL(t, "mariadb"))
		grantDomain(t, s)
		all(t, s)
	})
}

func all(t *testing.T, s server) {
	t.Run("openstack", func(t *testing.T) { openstackClient(t, s) })
	t.Run("sdk", func(t *testing.T) { openstackSDK(t, s) })
	t.Run("gophercloud", func(t *testing.T) { gophercloud(t, s) })
}

// requireVenv ends the test where the Python clients are not there. In CI that
// is a failure.
func requireVenv(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(venv("openstack")); err == nil {
		return
	}
	const message = "build/venv has no OpenStack clients: make test makes it"
	if os.Getenv("CI") != "" {
		t.Fatal(message)
	}
	t.Skip(message)
}

func venv(program string) string {
	path, err := filepath.Abs(filepath.Join("../../build/venv/bin", program))
	if err != nil {
		panic(err)
	}
	return path
}

// result is what a client printed and how it ended.
type result struct {
	stdout, stderr string
	code           int
}

// call runs a client to its end.
func call(t *testing.T, env []string, program string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return result{stdout.String(), stderr.String(), exit.ExitCode()}
	}
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return result{stdout.String(), stderr.String(), 0}
}
