package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

const insertProject = `insert into project (id, name, extra, description, enabled, domain_id, parent_id, is_domain)
values ($1, $2, $3, $4, $5, $6, $7, $8)`

// CreateDomain stores a domain: a project row below the hidden root.
func CreateDomain(ctx context.Context, c db.Conn, d Domain) error {
	_, err := c.Exec(ctx, insertProject, d.ID, d.Name, extra(d.Extra), d.Description, d.Enabled, RootDomainID, nil, true)
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("domain", "Duplicate entry found with name %s", d.Name)
	}
	if err != nil {
		return fmt.Errorf("create domain %s: %w", d.ID, err)
	}
	return nil
}

// CreateProject stores a project; without a parent it stands below its domain.
func CreateProject(ctx context.Context, c db.Conn, p Project) error {
	if p.ParentID == "" {
		p.ParentID = p.DomainID
	}
	_, err := c.Exec(ctx, insertProject, p.ID, p.Name, extra(p.Extra), p.Description, p.Enabled, p.DomainID, p.ParentID, p.IsDomain)
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("project", "Duplicate entry found with name %s at domain ID %s", p.Name, p.DomainID)
	}
	if err != nil {
		return fmt.Errorf("create project %s: %w", p.ID, err)
	}
	return nil
}

// extra is never stored as NULL: Python fails on reading that.
func extra(s string) string {
	if s == "" {
		return "{}"
	}
	return s
}
