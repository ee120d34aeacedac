package harness

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// LimitsSwitch is the variable that gives the suites of clients the packaged
// limits: packaged as they are, or enforced with the shadows enforced too.
const LimitsSwitch = "KEYSTONE_GO_TEST_LIMITS"

// SwitchedLimits are the sections of limits that LimitsSwitch asks for, option
// by option; none where it is not set.
func SwitchedLimits(t testing.TB) map[string]map[string]string {
	t.Helper()
	var text string
	switch how := os.Getenv(LimitsSwitch); how {
	case "":
		return nil
	case "packaged":
		text = packagedLimits(t)
	case "enforced":
		text = EnforcedLimits(t)
	default:
		t.Fatalf("%s is %q; give packaged or enforced", LimitsSwitch, how)
	}
	sections, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			sections[section] = map[string]string{}
		} else if option, value, ok := strings.Cut(line, " ="); ok && !strings.HasPrefix(line, "#") {
			sections[section][option] = strings.TrimSpace(value)
		}
	}
	return sections
}

func packagedLimits(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	if err := conf.WriteSample(&b); err != nil {
		t.Fatal(err)
	}
	_, limits, ok := strings.Cut(b.String(), "\n[rate_limit]\n")
	if !ok {
		t.Fatal("the packaged file has no [rate_limit]")
	}
	return "\n[rate_limit]\n" + limits
}

// EnforcedLimits are the sections of the packaged keystone.conf that are about
// limits, with every limit enforced that is a shadow there: what a cloud has
// once its operator has looked at the shadows. It is for the end of a file.
func EnforcedLimits(t testing.TB) string {
	t.Helper()
	limits := packagedLimits(t)
	if n := strings.Count(limits, "\nmode = shadow\n"); n < 8 {
		t.Fatalf("the packaged file has %d shadows", n)
	}
	return strings.ReplaceAll(limits, "\nmode = shadow\n", "\nmode = enforce\n")
}

// EnforcedLimitsEnv is the same as variables of the environment, for a server
// that reads the packaged file or what dev writes.
func EnforcedLimitsEnv(t testing.TB) []string {
	t.Helper()
	var env []string
	section := ""
	for line := range strings.Lines(EnforcedLimits(t)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case line == "mode = enforce":
			env = append(env, conf.EnvName(conf.Name{Section: section, Option: "mode"})+"=enforce")
		}
	}
	return env
}

// Limited tells which answers in a server's access log came from a limit or
// from a store of limits that is away: 429 and 503.
func Limited(log string) []string {
	var lines []string
	for line := range strings.Lines(log) {
		for _, status := range []int{429, 503} {
			if strings.Contains(line, fmt.Sprintf("status: %d ", status)) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}
