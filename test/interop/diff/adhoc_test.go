package diff_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/diff"
)

func TestAdhoc(t *testing.T) {
	if os.Getenv("ADHOC") == "" {
		t.Skip()
	}
	s, err := diff.Recorded("../../testdata/peer/golden", regexp.MustCompile(os.Getenv("ADHOC")))
	if err != nil {
		t.Fatal(err)
	}
	lists, err := diff.LoadLists("../diff_listed.yaml", "../../../docs/divergences.md")
	if err != nil {
		t.Error(err)
	}
	r := diff.Run{Reference: "127.0.0.1:7000", Ours: "127.0.0.1:7001", Lists: lists}
	r.Fail = func(step string, lines []string) {
		t.Errorf("%s", step)
		for _, l := range lines {
			t.Log("    " + l)
		}
	}
	if err := r.Scenario(t.Context(), s); err != nil {
		t.Error(err)
	}
	t.Log(r.Report)
}
