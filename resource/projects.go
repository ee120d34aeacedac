package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
)

// Projects are the projects of a database, and its domains, which are projects
// that act as domains.
type Projects struct {
	DB db.DB
	// Limit is [resource] list_limit, 0 for none.
	Limit int
	// MaxDepth is how deep a project may stand below its domain.
	MaxDepth int
	// SafeProjectNames and SafeDomainNames refuse characters that a URL
	// reserves in the names of what is made or renamed.
	SafeProjectNames, SafeDomainNames bool
	// FederatedDomain is a name, and an id, that no domain may have.
	FederatedDomain string
	Revoker         cascade.Revoker
}

// Record is a project, or a domain, with what other tables hold of it.
type Record struct {
	Project
	Tags    []Label
	Options Options
}

// TagNames are the project's tags, sorted.
func (r Record) TagNames() []string {
	out := make([]string, len(r.Tags))
	for i, t := range r.Tags {
		out[i] = t.Name
	}
	return out
}

// Get returns a project or a domain; 404 when there is none.
func (p Projects) Get(ctx context.Context, id string) (Record, error) {
	return readRecord(ctx, p.DB, id)
}

// GetDomain returns a domain; 404 when there is none, also for a project.
func (p Projects) GetDomain(ctx context.Context, id string) (Record, error) {
	r, err := readRecord(ctx, p.DB, id)
	if err == nil && r.IsDomain {
		return r, nil
	}
	if err == nil || fault.Is(err, fault.NotFound) {
		return Record{}, fault.NoSuch("domain", id)
	}
	return Record{}, err
}

func readRecord(ctx context.Context, c db.Conn, id string) (Record, error) {
	var b db.Batch
	read := queued(&b, ProjectByID(id), "", "$1", id)
	if err := c.Send(ctx, &b); err != nil && !errors.Is(err, db.ErrBadValue) {
		return Record{}, fmt.Errorf("read project %s: %w", id, err)
	} else if found := read.All(); err == nil && len(found) > 0 {
		return found[0], nil
	}
	return Record{}, fault.NoSuch("project", id)
}

// Filter narrows a list beyond what hints say.
type Filter struct {
	// DomainID is that of a caller who sees his domain alone.
	DomainID string
	// Domains lists the domains in place of the projects.
	Domains bool
	Tags    TagFilter
}

// List returns a page of projects by their ids, in one round trip; 404 when the
// marker is no project.
func (p Projects) List(ctx context.Context, h hints.Hints, f Filter) (hints.Page[Record], error) {
	rows, page := projectSource(f).Query(h)
	ids, _ := idSource(f).Query(h)
	var b db.Batch
	var marker *db.Result[int64]
	if h.Marker != nil {
		marker = db.Add(&b, known(*h.Marker))
	}
	// A limit in the list of an `in` has to stand one level deeper.
	found := queued(&b, rows, "", `select x.id from (`+ids.Text+`) x`, ids.Args...)
	if err := p.DB.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return hints.Page[Record]{}, nil
		}
		return hints.Page[Record]{}, fmt.Errorf("list projects: %w", err)
	}
	if marker != nil && len(marker.All()) == 0 {
		return hints.Page[Record]{}, fault.New(fault.NotFound, "Marker %s could not be found.", *h.Marker)
	}
	read := page.With(found.rows.All(), h)
	return hints.Page[Record]{Rows: found.of(read.Rows), Rest: read.Rest, Truncated: read.Truncated, Paged: true}, nil
}
