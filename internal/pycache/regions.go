package pycache

import (
	"crypto/sha1" // names a key, as Python does
	"encoding/hex"
	"strings"
)

// Regions of Python Keystone's cache. All that it remembers hangs off the key
// of a region; without that key it reads the database
// (keystone/common/cache/core.py).
const (
	shared      = "shared default"
	assignments = "computed assignments"
	catalog     = "computed catalog region"
	mapping     = "id mapping"
	receipts    = "receipts"
	revoke      = "revoke"
	tokens      = "tokens"
)

var all = []string{shared, assignments, catalog, mapping, receipts, revoke, tokens}

// fewer names the tables that a part of the regions depends on. A table that
// is not here, as any of a later release, is taken to matter for all.
var fewer = map[string][]string{
	"revocation_event": {revoke, tokens},
}

// regionsOf gives the regions that hold what the statements have changed.
func regionsOf(writes []string) []string {
	var out []string
	for _, text := range writes {
		table := written(text)
		if strings.HasPrefix(table, "keystone_go_") {
			continue
		}
		some, ok := fewer[table]
		if !ok {
			return all
		}
		for _, r := range some {
			out = add(out, r)
		}
	}
	return out
}

func add(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// written gives the table of an insert, update or delete, "" for anything else.
func written(text string) string {
	words := strings.Fields(text)
	if len(words) < 3 {
		return ""
	}
	name := words[2]
	switch words[0] + " " + words[1] {
	case "insert into", "delete from":
	default:
		if words[0] != "update" {
			return ""
		}
		name = words[1]
	}
	name, _, _ = strings.Cut(name, "(")
	return strings.Trim(name, `"`)
}

// keyOf gives the name under which memcached holds a region.
func keyOf(region string) string {
	sum := sha1.Sum([]byte("<<<region>>>:" + region))
	return hex.EncodeToString(sum[:])
}
