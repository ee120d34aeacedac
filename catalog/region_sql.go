package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

const regionCols = `id, description, parent_region_id, extra`

const (
	insertRegion = `insert into region (` + regionCols + `) values ($1, $2, $3, $4)`
	updateRegion = `update region
set description = $2, parent_region_id = $3, extra = $4
where id = $1`
)

func scanRegion(r db.Row) (Region, error) {
	var out Region
	var extra *string
	if err := r.Scan(&out.ID, &out.Description, &out.ParentID, &extra); err != nil {
		return Region{}, err
	}
	out.Extra = readExtra(deref(extra))
	return out, nil
}

// readExtra reads an `extra` column. Python Keystone writes an object or
// nothing; what is neither has no members that could be shown.
func readExtra(text string) pyjson.Object {
	o, err := pyjson.DecodeObject([]byte(text))
	if err != nil {
		return nil
	}
	return o
}

func writeExtra(o pyjson.Object) string {
	if o == nil {
		return "{}"
	}
	return pyjson.Encode(o)
}

// RegionByID reads one region.
func RegionByID(id string) db.Query[Region] {
	return db.Query[Region]{
		Text: `select ` + regionCols + ` from region where id = $1`,
		Args: []any{id},
		Scan: scanRegion,
	}
}

func regionsWhere(f RegionFilter) db.Query[Region] {
	var w db.Where
	for _, id := range f.ParentIDs {
		w.And(`parent_region_id = ?`, id)
	}
	text := `select ` + regionCols + ` from region` + w.String() + ` order by id`
	if f.Limit > 0 {
		// One more than asked for, to know whether there is more.
		text += ` limit ` + w.Arg(f.Limit+1)
	}
	return db.Query[Region]{Text: text, Args: w.Args, Scan: scanRegion}
}

// regionsAbove lists a region and its ancestors, each once, circle or not.
func regionsAbove(id string) db.Query[string] {
	return db.Query[string]{
		Text: `with recursive above (id, parent_id) as (
	select id, parent_region_id from region where id = $1
	union
	select r.id, r.parent_region_id from region r join above a on r.id = a.parent_id
)
select id from above`,
		Args: []any{id},
		Scan: scanText,
	}
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
