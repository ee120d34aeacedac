package resource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Change is what a create or an update sets; a nil field stays as it is.
type Change struct {
	Name        *string
	Description **string // set to nil: null
	Enabled     *bool
	Tags        *[]string
	Option      OptionChange
	Extra       pyjson.Object
}

// New is a project or domain to be made.
type New struct {
	ID, DomainID, ParentID string
	IsDomain               bool
	Change
}

// Create stores a project or a domain and returns it: 400 where its parent, its
// domain or its name do not go with it, 403 where it would stand too deep, 409
// when its name or id is taken (keystone/resource/core.py create_project).
func (p Projects) Create(ctx context.Context, n New) (Record, error) {
	name := strings.TrimSpace(*n.Name)
	if err := p.safeName(n.IsDomain, *n.Name); err != nil {
		return Record{}, err
	}
	row := Project{ID: n.ID, Name: name, DomainID: n.DomainID, ParentID: n.ParentID, IsDomain: n.IsDomain, Enabled: n.Enabled == nil || *n.Enabled, Description: new("")}
	if n.Description != nil {
		row.Description = *n.Description
	}
	row.Extra = pyjson.WriteExtra(n.Extra)
	var out Record
	err := p.DB.Tx(ctx, func(c db.Conn) (err error) {
		if err := p.checkPlace(ctx, c, &row); err != nil {
			return err
		}
		domainID, parentID := row.DomainID, any(row.ParentID)
		if row.IsDomain {
			domainID, parentID = RootDomainID, nil
		}
		var b db.Batch
		b.Exec(insertProject, row.ID, row.Name, row.Extra, row.Description, row.Enabled, domainID, parentID, row.IsDomain)
		n.labels(&b, row.ID)
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		out, err = readRecord(ctx, c, row.ID)
		return err
	})
	switch {
	case errors.Is(err, db.ErrDuplicate):
		return Record{}, taken(row)
	case errors.Is(err, db.ErrReference):
		// The parent went in between.
		return Record{}, fault.New(fault.BadRequest, "Could not find project: %s.", row.ParentID)
	case err != nil:
		return Record{}, fault.Wrap(err, "create project", n.ID)
	}
	return out, nil
}

func taken(p Project) error {
	if p.IsDomain {
		return fault.Duplicate("project", "it is not permitted to have two projects acting as domains with the same name: %s", p.Name)
	}
	return fault.Duplicate("project", "it is not permitted to have two projects with either the same name or same id in the same domain: name is %s, project id %s", p.Name, p.ID)
}

// ReservedCharacters are those that a URL reserves; names may be kept free of
// them (keystone/common/utils.py).
const ReservedCharacters = `:/?#[]@!$&'()*+,;=`

// safeName refuses a name with characters that a URL reserves, where the
// configuration asks for that.
func (p Projects) safeName(isDomain bool, name string) error {
	entity, asked := "Project", p.SafeProjectNames
	if isDomain {
		entity, asked = "Domain", p.SafeDomainNames
	}
	bad := strings.Map(func(c rune) rune {
		if strings.ContainsRune(ReservedCharacters, c) {
			return c
		}
		return -1
	}, name)
	if !asked || bad == "" {
		return nil
	}
	return fault.New(fault.BadRequest, "%s name cannot contain the following reserved characters: %s", entity, bad)
}

// checkPlace refuses a new project that does not go where it should stand. The
// rows above it are held until it is stored.
func (p Projects) checkPlace(ctx context.Context, c db.Conn, row *Project) error {
	if row.IsDomain {
		if err := p.notFederated(row.ID, row.Name); err != nil {
			return err
		}
		if row.ParentID != "" {
			return fault.New(fault.BadRequest, "only root projects are allowed to act as domains.")
		}
		return nil
	}
	domain, err := readRecord(ctx, c, row.DomainID)
	if err != nil || !domain.IsDomain {
		return orBadRequest(err, fault.New(fault.BadRequest, "Could not find domain: %s.", row.DomainID))
	}
	if row.ParentID == "" {
		row.ParentID = row.DomainID
	}
	if err := hold(ctx, c, row.ParentID); err != nil {
		return err
	}
	parent, err := readRecord(ctx, c, row.ParentID)
	if err != nil {
		return orBadRequest(err, fault.New(fault.BadRequest, "Could not find project: %s.", row.ParentID))
	}
	if err := sameDomain(parent.Project, row.DomainID); err != nil {
		return err
	}
	line, err := parents(ctx, c, parent.Project)
	if err != nil {
		return err
	}
	for _, r := range append(line, parent) {
		if !r.Enabled {
			return fault.New(fault.BadRequest, "cannot create a project in a branch containing a disabled project: %s", r.ID)
		}
	}
	// The domain counts as a level.
	if len(line)+2 > p.MaxDepth+1 {
		return fault.New(fault.Forbidden, "Max hierarchy depth reached for %s branch.", row.ParentID)
	}
	return nil
}

// orBadRequest makes a 400 of a 404, or of no error.
func orBadRequest(err error, as error) error {
	if err == nil || fault.Is(err, fault.NotFound) {
		return as
	}
	return err
}

func sameDomain(parent Project, domainID string) error {
	switch {
	case parent.IsDomain && parent.ID != domainID:
		return fault.New(fault.BadRequest, "Cannot create project, the parent (%s) is acting as a domain, but this project's domain id (%s) does not match the parent's id.", parent.ID, domainID)
	case !parent.IsDomain && parent.DomainID != domainID:
		return fault.New(fault.BadRequest, "Cannot create project, since it specifies its domain_id %s, but specifies a parent in a different domain (%s).", domainID, parent.DomainID)
	}
	return nil
}

// hold keeps a row from being changed until the transaction is over.
func hold(ctx context.Context, c db.Conn, id string) error {
	_, err := db.All(ctx, c, Held(c.Dialect(), id))
	if err != nil {
		return fmt.Errorf("hold project %s: %w", id, err)
	}
	return nil
}

// notFederated keeps the name for the domain of federated users free.
func (p Projects) notFederated(id, name string) error {
	switch {
	case p.FederatedDomain == "":
	case strings.EqualFold(name, p.FederatedDomain):
		return fault.New(fault.BadRequest, "Domain cannot be named %s", name)
	case strings.EqualFold(id, p.FederatedDomain):
		return fault.New(fault.BadRequest, "Domain cannot have ID %s", id)
	}
	return nil
}

// labels queues the tags and options that a change sets.
func (ch Change) labels(b *db.Batch, id string) {
	if ch.Tags != nil {
		b.Exec(`delete from project_tag where project_id = $1`, id)
		for _, name := range distinct(*ch.Tags) {
			b.Exec(`insert into project_tag (project_id, name) values ($1, $2)`, id, name)
		}
	}
	ch.Option.Store(b, "project", id)
}

func distinct(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}
