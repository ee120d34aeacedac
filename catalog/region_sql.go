package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

var regionTable = table[Region]{
	name: "region", kind: "region",
	insert: `insert into region (id, description, parent_region_id, extra) values ($1, $2, $3, $4)`,
	update: `update region
set description = $2, parent_region_id = $3, extra = $4
where id = $1`,
	values: func(r Region) []any { return []any{r.ID, r.Description, r.ParentID, pyjson.WriteExtra(r.Extra)} },
	source: hints.Source[Region]{
		Select:  `select r.id, r.description, r.parent_region_id, r.extra from region r`,
		Columns: map[string]hints.Column{"parent_region_id": {SQL: "r.parent_region_id", Max: 255}},
		ID:      "r.id",
		Scan:    scanRegion,
	},
}

func scanRegion(r db.Row) (Region, error) {
	var out Region
	var extra *string
	err := r.Scan(&out.ID, &out.Description, &out.ParentID, &extra)
	out.Extra = pyjson.ReadExtra(deref(extra))
	return out, err
}

// regionsAbove lists a region and its ancestors, each once, circle or not.
func regionsAbove(id string) db.Query[string] {
	return idsOf(`with recursive above (id, parent_id) as (
	select id, parent_region_id from region where id = $1
	union
	select r.id, r.parent_region_id from region r join above a on r.id = a.parent_id
)
select id from above`, id)
}

// branch is a region of a tree, and how many endpoints it has.
type branch struct {
	id        string
	endpoints int64
}

// regionsBelow lists a region and all regions below it, each once, circle or
// not.
func regionsBelow(id string) db.Query[branch] {
	return db.Query[branch]{
		Text: `with recursive below (id) as (
	select id from region where id = $1
	union
	select r.id from region r join below b on r.parent_region_id = b.id
)
select b.id, (select count(*) from endpoint e where e.region_id = b.id) from below b`,
		Args: []any{id},
		Scan: func(r db.Row) (b branch, err error) {
			err = r.Scan(&b.id, &b.endpoints)
			return b, err
		},
	}
}
