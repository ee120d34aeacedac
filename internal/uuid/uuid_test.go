package uuid_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/uuid"
)

func TestForms(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		text, hex := uuid.Text(), uuid.Hex()
		if !form.MatchString(text) {
			t.Fatalf("Text: %q", text)
		}
		if dashed := hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]; !form.MatchString(dashed) {
			t.Fatalf("Hex: %q", hex)
		}
		for _, id := range []string{strings.ReplaceAll(text, "-", ""), hex} {
			if seen[id] {
				t.Fatalf("twice: %s", id)
			}
			seen[id] = true
		}
	}
}
