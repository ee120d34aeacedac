package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

//go:generate go test -count=1 -run ^TestClientAddressExamples$ . -update

var update = flag.Bool("update", false, "write the outputs of the examples in docs/client-address.md anew")

var (
	block   = regexp.MustCompile("(?ms)^```(ini|console)\n(.*?)^```$")
	shellAt = regexp.MustCompile(`'[^']*'|\S+`)
)

// words splits a command line as a shell does, as far as the examples need it.
func words(line string) []string {
	var out []string
	for _, w := range shellAt.FindAllString(line, -1) {
		out = append(out, strings.Trim(w, "'"))
	}
	return out
}

// usualLimit is what the packaged file has, for the examples.
const usualLimit = "[rate_limit_global_ip]\nenabled = true\nburst_size = 100\nreplenish_rate_per_second = 10\n"

// TestClientAddressExamples runs every example of docs/client-address.md with
// the section above it, and holds the output against the document.
func TestClientAddressExamples(t *testing.T) {
	const file = "../../docs/client-address.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, examples, ok := strings.Cut(string(text), "\n## Worked examples\n")
	if !ok {
		t.Fatal("there are no worked examples")
	}
	for _, topology := range []string{"Direct", "One proxy", "HAProxy with keepalived", "CDN and proxy", "Kubernetes ingress", "Horizon"} {
		if !strings.Contains(examples, "\n### "+topology+"\n") {
			t.Errorf("there is no example of %s", topology)
		}
	}
	conf, runs := "", 0
	got := block.ReplaceAllStringFunc(examples, func(b string) string {
		m := block.FindStringSubmatch(b)
		if m[1] == "ini" {
			conf = usualLimit + m[2]
			return b
		}
		runs++
		line, _, _ := strings.Cut(m[2], "\n")
		args, ok := strings.CutPrefix(line, "$ keystone-go ")
		if !ok {
			t.Fatalf("an example runs %q", line)
		}
		path := filepath.Join(t.TempDir(), "keystone.conf")
		if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		r := call{}.run(t, append([]string{"--config-file", path}, words(args)...)...)
		if r.code != 0 {
			t.Errorf("%s: exit code %d: %s", line, r.code, r.err)
		}
		return fmt.Sprintf("```console\n%s\n%s```", line, r.out)
	})
	if runs < 10 {
		t.Errorf("%d examples ran", runs)
	}
	before := strings.TrimSuffix(string(text), examples)
	if *update {
		if err := os.WriteFile(file, []byte(before+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != examples {
		t.Errorf("%s is not what the program says; go generate ./cmd/keystone-go writes it anew:\n%s", file, firstDifference(examples, got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("document: %s\nprogram:  %s", w[i], g[i])
		}
	}
	return "one is longer"
}
