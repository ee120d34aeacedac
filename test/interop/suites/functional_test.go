//go:build interop

package suites_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/test/interop/peer"
	"github.com/keystone-go/keystone-go/test/interop/suites"
)

// processes has the functional tests start a program for each command, as they
// do by themselves; it takes many times as long.
var processes = os.Getenv("KEYSTONE_GO_SUITES_PROCESSES") == "1"

// osClientModules runs the functional tests of the identity commands that
// openstackclient's wheel has. They run the program some thousand times, and
// would wait for its imports nearly all the time: forks of one process that has
// them already run the program's own main instead. That forks and programs do
// the same is asked of a few commands first.
func (p *pair) osClientModules(t *testing.T, s *peer.Server) []suites.Outcome {
	env := append(p.clouds(t, s), "PATH="+filepath.Dir(peer.Venv("openstack"))+":"+os.Getenv("PATH"))
	program := functionalLines
	if processes {
		program = unittestLines
	} else {
		p.forkedAlike(t, s, env)
	}
	return p.inTwo(t, s, env, program, modules(t, "openstackclient/tests/functional/identity/v3"))
}

// osClientSample are commands that change nothing: one that prints without a
// server, some that ask it, one that it refuses, and three that are none.
var osClientSample = []string{
	"--version", "region show --help", "region list", "endpoint list -f json", "user list --long -f csv", "domain show default -f shell",
	"user show nobody", "region create", "region list --nonsense", "regoin list",
}

// answer is what a command leaves.
type answer struct {
	Code        int
	Out, Errors string
}

func (p *pair) forkedAlike(t *testing.T, s *peer.Server, env []string) {
	t.Helper()
	ctx := t.Context()
	forks := exec.CommandContext(ctx, peer.Venv("python"), "testdata/openstack_forks.py")
	forks.Env = append(p.environ(t, s), env...)
	forks.Stderr = os.Stderr
	in, err := forks.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := forks.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := forks.Start(); err != nil {
		t.Fatal(err)
	}
	codes := json.NewDecoder(bufio.NewReader(out))
	for _, command := range osClientSample {
		args := strings.Fields("--os-cloud devstack-admin " + command)
		program := exec.CommandContext(ctx, peer.Venv("openstack"), args...)
		var stdout, stderr bytes.Buffer
		program.Env, program.Stdout, program.Stderr = forks.Env, &stdout, &stderr
		_ = program.Run() // its status is compared
		want := answer{program.ProcessState.ExitCode(), stdout.String(), stderr.String()}

		files := [2]string{filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "errors")}
		for _, f := range files {
			if err := os.WriteFile(f, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var got answer
		if err := json.NewEncoder(in).Encode([]any{args, files[0], files[1]}); err != nil {
			t.Fatal(err)
		}
		if err := codes.Decode(&got.Code); err != nil {
			t.Fatal(err)
		}
		for i, to := range []*string{&got.Out, &got.Errors} {
			text, err := os.ReadFile(files[i])
			if err != nil {
				t.Fatal(err)
			}
			*to = string(text)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("openstack %s (-program +fork):\n%s", command, d)
		}
	}
	_ = in.Close()
	if err := forks.Wait(); err != nil {
		t.Error(err)
	}
}

var functionalArea = byPart(
	"application_credential", "application_credentials", "access_rule", "access_rules", "endpoint_group", "OS-EP-FILTER", "idp", "OS-FEDERATION",
	"mapping", "OS-FEDERATION", "service_provider", "OS-FEDERATION", "test_registered_limit", "registered_limits", "test_limit", "limits",
	"test_policy", "policies", "test_endpoint", "endpoints", "test_service", "services", "test_group", "groups", "role_assignment", "role_assignments",
	"test_role", "roles", "test_domain", "domains", "test_project", "projects", "test_user", "users", "", "users",
)
