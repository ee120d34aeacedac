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
	Options []Label
}

// AsDomain is the record of a domain as such.
func (r Record) AsDomain() Domain {
	return Domain{ID: r.ID, Name: r.Name, Description: r.Description, Enabled: r.Enabled, Extra: r.Extra}
}

// TagNames are the project's tags, sorted.
func (r Record) TagNames() []string {
	out := make([]string, len(r.Tags))
	for i, t := range r.Tags {
		out[i] = t.Name
	}
	return out
}

// Immutable reports whether the option says that nothing may change it.
func (r Record) Immutable() bool {
	for _, o := range r.Options {
		if o.Name == OptionImmutable {
			return o.Value == "true"
		}
	}
	return false
}

// OptionImmutable is the id of the option "immutable".
const OptionImmutable = "IMMU"

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
	row, labels := db.Add(&b, ProjectByID(id)), addLabels(&b, "", "$1", id)
	if err := c.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return Record{}, fault.NoSuch("project", id)
		}
		return Record{}, fmt.Errorf("read project %s: %w", id, err)
	}
	found, err := row.One()
	if errors.Is(err, db.ErrNoRow) {
		return Record{}, fault.NoSuch("project", id)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read project %s: %w", id, err)
	}
	return Record{Project: found, Tags: labels.tags.All(), Options: labels.options.All()}, nil
}

// labels are the reads of the tags and options of some projects.
type labels struct{ tags, options *db.Result[Label] }

func addLabels(b *db.Batch, with, ids string, args ...any) labels {
	return labels{db.Add(b, TagsIn(with, ids, args...)), db.Add(b, OptionsIn(with, ids, args...))}
}

// records puts each project together with its labels.
func (l labels) records(rows []Project) []Record {
	tags, options := map[string][]Label{}, map[string][]Label{}
	for _, t := range l.tags.All() {
		tags[t.ProjectID] = append(tags[t.ProjectID], t)
	}
	for _, o := range l.options.All() {
		options[o.ProjectID] = append(options[o.ProjectID], o)
	}
	out := make([]Record, len(rows))
	for i, p := range rows {
		out[i] = Record{Project: p, Tags: tags[p.ID], Options: options[p.ID]}
	}
	return out
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
	found := db.Add(&b, rows)
	// A limit in the list of an `in` has to stand one level deeper.
	l := addLabels(&b, "", `select x.id from (`+ids.Text+`) x`, ids.Args...)
	if err := p.DB.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return hints.Page[Record]{}, nil
		}
		return hints.Page[Record]{}, fmt.Errorf("list projects: %w", err)
	}
	if marker != nil && len(marker.All()) == 0 {
		return hints.Page[Record]{}, fault.New(fault.NotFound, "Marker %s could not be found.", *h.Marker)
	}
	read := page.With(found.All(), h)
	return hints.Page[Record]{Rows: l.records(read.Rows), Rest: read.Rest, Truncated: read.Truncated, Paged: true}, nil
}
