package resource

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// OptionImmutable is the id of the one option that domains, projects and roles
// have: "immutable".
const OptionImmutable = "IMMU"

// Label is a tag or an option of a project or a role: for a tag Value is empty,
// an option's is JSON.
type Label struct{ OwnerID, Name, Value string }

// Options are those of one owner.
type Options []Label

// Immutable reports whether they say that nothing may change their owner.
func (o Options) Immutable() bool {
	for _, l := range o {
		if l.Name == OptionImmutable {
			return l.Value == "true"
		}
	}
	return false
}

// ByOwner sorts labels by whose they are.
func ByOwner(all []Label) map[string][]Label {
	out := map[string][]Label{}
	for _, l := range all {
		out[l.OwnerID] = append(out[l.OwnerID], l)
	}
	return out
}

// ScanLabel reads an option: its owner, its id and its value.
func ScanLabel(r db.Row) (Label, error) {
	var l Label
	var value *string
	err := r.Scan(&l.OwnerID, &l.Name, &value)
	l.Value = deref(value)
	return l, err
}

// OptionChange is what a request says of the option "immutable".
type OptionChange struct {
	Given bool
	Value *bool // nil takes the option away
	// Alone is set when the request says nothing else, which is all that an
	// immutable owner allows.
	Alone bool
}

// Allow refuses a change that is not of the option alone to what is immutable
// (keystone/common/resource_options/options/immutable.py).
func (o Options) Allow(ch OptionChange, kind, id string) error {
	if !o.Immutable() || ch.Alone && ch.Given && (ch.Value == nil || !*ch.Value) {
		return nil
	}
	return fault.New(fault.Forbidden, "Unable to update immutable %s resource: `%s. Set resource option \"immutable\" to false first.", kind, id)
}

// AllowDelete refuses to delete what is immutable.
func (o Options) AllowDelete(kind, id string) error {
	if !o.Immutable() {
		return nil
	}
	return fault.New(fault.Forbidden, "Unable to delete immutable %s resource: `%s. Set resource option \"immutable\" to false first.", kind, id)
}

// Store queues what the change makes of the option, in the table of an owner's
// options: "project" or "role".
func (ch OptionChange) Store(b *db.Batch, owner, id string) {
	if !ch.Given {
		return
	}
	b.Exec(`delete from `+owner+`_option where `+owner+`_id = $1 and option_id = $2`, id, OptionImmutable)
	if ch.Value != nil {
		b.Exec(`insert into `+owner+`_option (`+owner+`_id, option_id, option_value) values ($1, $2, $3)`, id, OptionImmutable, pyjson.Encode(*ch.Value))
	}
}
