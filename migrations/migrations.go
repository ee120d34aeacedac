package migrations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Exit codes of db_sync --check (keystone/cmd/cli.py, DbSync).
const (
	UpToDate       = 0
	ExpandNeeded   = 2
	ContractNeeded = 4
)

// ErrOrder refuses contract before expand.
var ErrOrder = errors.New("contract ahead of expand: run db_sync --expand first")

// ErrUnknown says that the schema is of a release this one does not know.
var ErrUnknown = errors.New("the database is at a revision that this release does not know")

// ErrBehind says that db_sync has to be run.
var ErrBehind = errors.New("the database schema is older than this release needs: run db_sync")

// State is where a database stands.
type State struct {
	// Expand and Contract are the revisions it has of each branch, "" for none.
	Expand, Contract string
	// ExpandHead and ContractHead are the ones it should have.
	ExpandHead, ContractHead string
	// Unknown are revisions in it that are not ours.
	Unknown []string
}

// Empty tells that no schema has been made yet.
func (s State) Empty() bool { return s.Expand == "" && s.Contract == "" && len(s.Unknown) == 0 }

// Sync brings a database to the head of both branches. An empty one gets the
// whole schema; one at head is not touched.
func Sync(ctx context.Context, d db.DB) error {
	return run(ctx, d, func(*position) ([]branch, error) { return []branch{expand, contract}, nil })
}

// Expand brings the expand branch to its head.
func Expand(ctx context.Context, d db.DB) error {
	return run(ctx, d, func(*position) ([]branch, error) { return []branch{expand}, nil })
}

// Contract brings the contract branch to its head, or is ErrOrder while the
// expand branch is not.
func Contract(ctx context.Context, d db.DB) error {
	return run(ctx, d, func(p *position) ([]branch, error) {
		if !p.rows[head(expand)] {
			return nil, ErrOrder
		}
		return []branch{contract}, nil
	})
}

// Heads are the revisions to which Sync brings a database.
func Heads() (expandHead, contractHead string) { return head(expand), head(contract) }

// Version tells where the database stands.
func Version(ctx context.Context, d db.DB) (State, error) {
	p, err := locate(ctx, d)
	if err != nil {
		return State{}, err
	}
	s := State{ExpandHead: head(expand), ContractHead: head(contract), Unknown: p.unknown()}
	for _, st := range all {
		switch {
		case !p.rows[st.revision]:
		case st.branch == contract:
			s.Contract = st.revision
		default:
			s.Expand = st.revision
		}
	}
	return s, nil
}

// Check gives the exit code of db_sync --check.
func Check(ctx context.Context, d db.DB) (int, error) {
	s, err := Version(ctx, d)
	switch {
	case err != nil:
		return 1, err
	case len(s.Unknown) > 0:
		return 1, unknown(s.Unknown)
	case s.Expand != s.ExpandHead:
		return ExpandNeeded, nil
	case s.Contract != s.ContractHead:
		return ContractNeeded, nil
	}
	return UpToDate, nil
}

// Verify is the check at the start of the server: the schema has to be
// expanded, contract may be due. A schema of a newer release is ErrUnknown
// unless it is allowed.
func Verify(ctx context.Context, d db.DB, allowNewer bool) error {
	s, err := Version(ctx, d)
	switch {
	case err != nil:
		return err
	case len(s.Unknown) > 0 && !allowNewer:
		return fmt.Errorf("%w; [keystone_go] allow_newer_schema = true starts anyway", unknown(s.Unknown))
	case len(s.Unknown) == 0 && s.Expand != s.ExpandHead:
		return ErrBehind
	}
	return nil
}

func unknown(revisions []string) error {
	return fmt.Errorf("%w: %s", ErrUnknown, strings.Join(revisions, ", "))
}

// run walks the branches that which names, in one transaction and alone.
func run(ctx context.Context, d db.DB, which func(*position) ([]branch, error)) error {
	err := db.Alter(ctx, d, func(c db.Conn) error {
		p, err := locate(ctx, c)
		if err != nil {
			return err
		}
		if u := p.unknown(); len(u) > 0 {
			return unknown(u)
		}
		branches, err := which(p)
		if err != nil {
			return err
		}
		for _, b := range branches {
			if err := p.walk(ctx, c, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("migrate the schema: %w", err)
	}
	return nil
}
