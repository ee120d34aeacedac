package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/test/interop/diff"
)

func TestRows(t *testing.T) {
	const old, a, b = "00000000000000000000000000000001", "00000000000000000000000000000002", "00000000000000000000000000000003"
	before := diff.Tables{"user": {`{"id": "` + old + `", "at": "2026-01-02 03:04:05"}`}}
	for name, tt := range map[string]struct {
		reference, ours diff.Tables
		want            []string
	}{
		"new ids and times": {
			diff.Tables{"user": {`{"id": "` + a + `", "at": "2026-01-02 03:04:06"}`, `{"id": 7, "at": null}`}},
			diff.Tables{"user": {`{"id": 9, "at": null}`, `{"id": "` + b + `", "at": "2026-01-02 03:04:07.5"}`}},
			nil,
		},
		"an id from before": {
			diff.Tables{"user": {`{"id": "` + old + `"}`}},
			diff.Tables{"user": {`{"id": "` + b + `"}`}},
			[]string{`user: 1 × {"id":"` + old + `"}, missing here`, `user: missing, here 1 × {"id":"<id>"}`},
		},
		"a null": {
			diff.Tables{"event": {`{"audit_id": "x", "role_id": null}`}},
			diff.Tables{"event": {`{"audit_id": null, "role_id": null}`}},
			[]string{`event: 1 × {"audit_id":"<own>","role_id":null}, missing here`, `event: missing, here 1 × {"audit_id":null,"role_id":null}`},
		},
		"one row less":  {diff.Tables{"x": {`{}`, `{}`}}, diff.Tables{"x": {`{}`}}, []string{`x: 1 × {}, missing here`}},
		"a table alone": {diff.Tables{}, diff.Tables{"x": {`{}`}}, []string{`x: missing, here 1 × {}`}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, diff.Rows(before, tt.reference, tt.ours)); d != "" {
				t.Error(d)
			}
		})
	}
}
