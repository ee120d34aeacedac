package migrations

import (
	"context"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Revisions lists all steps in order, the first and then branch by branch.
func Revisions() []string {
	var r []string
	for _, s := range all {
		r = append(r, s.revision)
	}
	return r
}

// UpTo brings a database to just after the named step and those above it in
// the files.
func UpTo(ctx context.Context, d db.DB, revision string) error {
	whole := all
	defer func() { all = whole }()
	for i, s := range whole {
		if s.revision == revision {
			all = whole[:i+1]
		}
	}
	return Sync(ctx, d)
}
