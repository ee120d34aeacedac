package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Tables are the rows of a database, each as JSON, by table.
type Tables map[string][]string

// Forms of what two servers choose for themselves. What was there before they
// began is compared as it stands.
var (
	idText   = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	timeText = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?`)
)

// serial are numbers that a database gives, own are texts that differ in each
// copy: a hash has a salt, and a token an id for its chain.
var (
	serial = []string{"id", "internal_id", "local_user_id"}
	own    = []string{"password_hash", "audit_id", "audit_chain_id", "created_at_int", "expires_at_int", "encrypted_blob", "key_hash"}
)

// Rows lists what differs between the databases of two servers that began with
// the same rows: a line a table and a kind of row.
func Rows(before, reference, ours Tables) []string {
	known := map[string]bool{}
	for _, rows := range before {
		for _, row := range rows {
			for _, form := range []*regexp.Regexp{idText, timeText} {
				for _, v := range form.FindAllString(row, -1) {
					known[v] = true
				}
			}
		}
	}
	names := maps.Clone(reference)
	maps.Copy(names, ours)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		count := map[string]int{}
		for _, row := range reference[name] {
			count[plainRow(row, known)]++
		}
		for _, row := range ours[name] {
			count[plainRow(row, known)]--
		}
		for _, row := range slices.Sorted(maps.Keys(count)) {
			switch n := count[row]; {
			case n > 0:
				out = append(out, fmt.Sprintf("%s: %d × %.400s, missing here", name, n, row))
			case n < 0:
				out = append(out, fmt.Sprintf("%s: missing, here %d × %.400s", name, -n, row))
			}
		}
	}
	return out
}

// plainRow is a row without what a server chooses.
func plainRow(row string, known map[string]bool) string {
	var columns map[string]any
	if err := json.Unmarshal([]byte(row), &columns); err != nil {
		return row
	}
	for name, v := range columns {
		_, number := v.(float64)
		switch {
		case v == nil:
		case number && slices.Contains(serial, name):
			delete(columns, name)
		case slices.Contains(own, name):
			columns[name] = "<own>"
		}
	}
	out, err := marshal(columns)
	if err != nil {
		return row
	}
	mask := func(form *regexp.Regexp, text, word string) string {
		return form.ReplaceAllStringFunc(text, func(v string) string {
			if known[v] {
				return v
			}
			return word
		})
	}
	return mask(timeText, mask(idText, string(out), "<id>"), "<time>")
}

// marshal writes JSON with the signs < and > as they are.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}
