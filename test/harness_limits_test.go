package test

import (
	"testing"

	"github.com/keystone-go/keystone-go/test/harness"
)

// The switch of the suites gives every limit of the packaged file, enforced.
func TestSwitchedLimits(t *testing.T) {
	t.Setenv(harness.LimitsSwitch, "")
	if s := harness.SwitchedLimits(t); s != nil {
		t.Errorf("not asked for: %v", s)
	}
	t.Setenv(harness.LimitsSwitch, "packaged")
	if s := harness.SwitchedLimits(t); s["rate_limit_default"]["mode"] != "shadow" || s["rate_limit_global_ip"]["burst_size"] != "100" {
		t.Errorf("packaged: %v", s)
	}
	t.Setenv(harness.LimitsSwitch, "enforced")
	s := harness.SwitchedLimits(t)
	if s["rate_limit_default"]["mode"] != "enforce" || s["rate_limit_route:tokens"]["mode"] != "enforce" || s["rate_limit_route:tokens"]["per_address"] == "" {
		t.Errorf("enforced: %v", s)
	}
	if n := len(harness.EnforcedLimitsEnv(t)); n < 8 {
		t.Errorf("%d variables", n)
	}
}
