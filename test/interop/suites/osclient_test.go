//go:build interop

package suites_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
	"github.com/keystone-go/keystone-go/test/interop/suites"
)

// openstackClient runs the lines of testdata/openstackclient.txt one after
// another: an area, a bar and a command. A line that begins with "!" must be
// refused. $name is a value of the pair; $token is kept from token issue.
func (p *pair) openstackClient(t *testing.T, s *peer.Server) []suites.Outcome {
	vars := map[string]string{}
	for k, v := range p.ids {
		vars[k] = v
	}
	vars["new"] = vars["password"] + "+"
	var out []suites.Outcome
	for _, line := range osClientLines(t) {
		_, command, _ := strings.Cut(line, "|")
		command, refused := strings.CutPrefix(strings.TrimSpace(command), "!")
		args := strings.Fields(os.Expand(command, func(name string) string { return vars[name] }))
		env := p.environ(t, s)
		for len(args) > 0 && strings.Contains(args[0], "=") {
			env = append(without(env, args[0]), args[0])
			args = args[1:]
		}
		cmd := exec.CommandContext(t.Context(), peer.Venv("openstack"), args...)
		var stdout, stderr bytes.Buffer
		cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
		err := cmd.Run()
		o := suites.Outcome{ID: strings.Join(strings.Fields(command), "_"), Outcome: "pass"}
		if (err != nil) != refused {
			o.Outcome, o.Detail = "fail", lastLine(stderr.String())
		}
		if strings.Contains(command, "password set") && err == nil {
			p.ids["password"] = vars["new"]
		}
		var issued struct{ ID string }
		if strings.HasPrefix(command, "token issue") && json.Unmarshal(stdout.Bytes(), &issued) == nil {
			vars["token"] = issued.ID
		}
		out = append(out, o)
	}
	return out
}

// without drops the settings that a given one replaces: the project with the
// domain or the system, and the name with the identifier.
func without(env []string, given string) []string {
	name, _, _ := strings.Cut(given, "=")
	drop := []string{name + "="}
	switch name {
	case "OS_SYSTEM_SCOPE", "OS_DOMAIN_NAME":
		drop = append(drop, "OS_PROJECT_")
	}
	var out []string
	for _, v := range env {
		keep := true
		for _, d := range drop {
			keep = keep && !strings.HasPrefix(v, d)
		}
		if keep {
			out = append(out, v)
		}
	}
	return out
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func osClientLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/openstackclient.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// osClientArea is the first word of a command's line.
func osClientArea(id string) string {
	text, _ := os.ReadFile("testdata/openstackclient.txt")
	for line := range strings.Lines(string(text)) {
		area, command, _ := strings.Cut(line, "|")
		if strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSpace(command), "!")), "_") == id {
			return strings.TrimSpace(area)
		}
	}
	return "unknown"
}
