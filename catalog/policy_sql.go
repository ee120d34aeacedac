package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

const policyCols = `p.id, p.type, p."blob", p.extra`

var policyTable = table[Policy]{
	name: "policy", kind: "policy",
	insert: `insert into policy (id, type, "blob", extra) values ($1, $2, $3, $4)`,
	update: `update policy
set type = $2, "blob" = $3, extra = $4
where id = $1`,
	values: func(p Policy) []any { return []any{p.ID, p.Type, pyjson.Encode(p.Blob), pyjson.WriteExtra(p.Extra)} },
	// Python filters policies when it has read them all, letter case and all.
	source: hints.Source[Policy]{
		Select: `select ` + policyCols + ` from policy p`,
		ID:     "p.id",
		Scan:   scanPolicy,
	},
}

func scanPolicy(r db.Row) (Policy, error) {
	var p Policy
	var blob string
	var extra *string
	err := r.Scan(&p.ID, &p.Type, &blob, &extra)
	p.Blob, p.Extra = readBlob(blob), pyjson.ReadExtra(deref(extra))
	return p, err
}

// readBlob reads JSON; what is none is a text.
func readBlob(text string) any {
	v, err := pyjson.Decode([]byte(text))
	if err != nil {
		return text
	}
	return v
}
