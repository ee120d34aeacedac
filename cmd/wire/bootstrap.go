package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/resource"
)

// BootstrapOptions are the flags of `bootstrap`; an empty URL or region makes
// no endpoint or region.
type BootstrapOptions struct {
	Username, Password               string
	Project, Role, Service           string
	AdminURL, PublicURL, InternalURL string
	Region                           string
	ImmutableRoles                   bool
	// Log hears what is made and what was there, in keystone-manage's words,
	// which deployers' scripts count; nil hears nothing.
	Log *slog.Logger
}

// Bootstrap makes what a new cloud needs before anybody can log in: domain,
// project, roles, an administrator and the catalog's first entries
// (keystone/cmd/bootstrap.py). What is there already stays; it may run again.
func Bootstrap(ctx context.Context, d db.DB, users identity.Users, cfg *conf.Config, o BootstrapOptions) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	b := bootstrap{BootstrapOptions: o, ctx: ctx, db: d, users: users, domain: cfg.Identity.DefaultDomainID}
	for _, step := range []func() error{b.defaultDomain, b.project, b.admin, b.roles, b.grants, b.region, b.catalog} {
		if err := step(); err != nil {
			return fmt.Errorf("bootstrap: %w", err)
		}
	}
	return nil
}

type bootstrap struct {
	BootstrapOptions
	ctx       context.Context
	db        db.DB
	users     identity.Users
	domain    string
	projectID string
	userID    string
	adminRole string
}

// say tells what was done.
func (b *bootstrap) say(format string, args ...any) {
	b.Log.InfoContext(b.ctx, fmt.Sprintf(format, args...))
}

// exists runs a query that finds a row or none.
func exists[T any](ctx context.Context, d db.DB, q db.Query[T]) (T, bool, error) {
	v, err := db.One(ctx, d, q)
	if errors.Is(err, db.ErrNoRow) {
		return v, false, nil
	}
	return v, err == nil, err
}

func (b *bootstrap) defaultDomain() error {
	_, found, err := exists(b.ctx, b.db, resource.DomainByID(b.domain))
	if err != nil {
		return err
	}
	if found {
		b.say("Domain %s already exists, skipping creation.", b.domain)
		return nil
	}
	if err := resource.CreateDomain(b.ctx, b.db, resource.Domain{
		ID: b.domain, Name: "Default", Description: new("The default domain"), Enabled: true,
	}); err != nil {
		return err
	}
	b.say("Created domain %s", b.domain)
	return nil
}

func (b *bootstrap) project() error {
	var err error
	b.projectID, err = SetupProject(b.ctx, b.db, b.say, b.Project, "", b.domain)
	return err
}

// admin makes the administrator, or enables him and gives him the password
// where he does not have it.
func (b *bootstrap) admin() error {
	var err error
	b.userID, err = SetupUser(b.ctx, b.db, b.users, b.say, b.Username, b.Password, "", b.domain)
	return err
}

// roles makes the default roles and their chain of implications: each implies
// the next. Releases before 2023.2 had admin imply member directly.
func (b *bootstrap) roles() error {
	names := []string{"reader", "member", "manager", b.Role}
	ids := make([]string, len(names))
	for i, name := range names {
		id, err := b.role(name)
		if err != nil {
			return err
		}
		ids[i] = id
		if i > 0 {
			if err := b.imply(id, ids[i-1]); err != nil {
				return err
			}
		}
	}
	b.adminRole = ids[3]
	if err := assignment.Unimply(b.ctx, b.db, b.adminRole, ids[1]); err != nil {
		return err
	}
	_, err := b.role("service")
	return err
}

func (b *bootstrap) imply(prior, implied string) error {
	_, found, err := exists(b.ctx, b.db, assignment.Implied(prior, implied))
	if err != nil {
		return err
	}
	if found {
		b.say("Implied role where %s implies %s exists, skipping creation.", prior, implied)
		return nil
	}
	if err := assignment.Imply(b.ctx, b.db, prior, implied); err != nil {
		return err
	}
	b.say("Created implied role where %s implies %s", prior, implied)
	return nil
}

func (b *bootstrap) role(name string) (string, error) {
	r, found, err := exists(b.ctx, b.db, assignment.RolesByName(name))
	if err != nil {
		return "", err
	}
	if found {
		b.say("Role %s exists, skipping creation.", name)
		return r.ID, nil
	}
	id := uuid.Hex()
	if err := assignment.CreateRole(b.ctx, b.db, assignment.Role{ID: id, Name: name}, b.ImmutableRoles); err != nil {
		return "", err
	}
	b.say("Created role %s", name)
	return id, nil
}

func (b *bootstrap) grants() error {
	actor := assignment.Actor{ID: b.userID}
	_, found, err := exists(b.ctx, b.db, assignment.OnProject(actor, b.projectID, b.adminRole))
	switch {
	case err != nil:
		return err
	case found:
		b.say("User %s already has role %s on project %s.", b.Username, b.Role, b.Project)
	default:
		if err := assignment.GrantOnProject(b.ctx, b.db, actor, b.projectID, b.adminRole, false); err != nil {
			return err
		}
		b.say("Granted role %s on project %s to user %s.", b.Role, b.Project, b.Username)
	}
	_, found, err = exists(b.ctx, b.db, assignment.OnSystem(actor, b.adminRole))
	switch {
	case err != nil:
		return err
	case found:
		b.say("User %s already has role %s on the system.", b.Username, b.Role)
		return nil
	}
	if err := assignment.GrantOnSystem(b.ctx, b.db, actor, b.adminRole); err != nil {
		return err
	}
	b.say("Granted role %s on the system to user %s.", b.Role, b.Username)
	return nil
}

func (b *bootstrap) region() error {
	if b.Region == "" {
		return nil
	}
	err := catalog.Regions{DB: b.db}.Create(b.ctx, catalog.Region{ID: b.Region})
	if fault.Is(err, fault.Conflict) {
		b.say("Region %s exists, skipping creation.", b.Region)
		return nil
	}
	if err == nil {
		b.say("Created region %s", b.Region)
	}
	return err
}

// catalog makes the identity service and its endpoints, where there are URLs.
func (b *bootstrap) catalog() error {
	if b.PublicURL == "" && b.InternalURL == "" && b.AdminURL == "" {
		return nil
	}
	services, err := db.All(b.ctx, b.db, catalog.ServicesOfType("identity"))
	if err != nil {
		return err
	}
	var s catalog.Service
	if len(services) > 0 {
		s = services[0]
	} else {
		s = catalog.Service{ID: uuid.Hex(), Type: new("identity"), Enabled: true, Extra: pyjson.Object{{Key: "name", Value: b.Service}}}
		if err := catalog.CreateService(b.ctx, b.db, s); err != nil {
			return err
		}
	}
	have, err := db.All(b.ctx, b.db, catalog.EndpointsOfService(s.ID))
	if err != nil {
		return err
	}
	for _, e := range []struct{ iface, url string }{{"public", b.PublicURL}, {"internal", b.InternalURL}, {"admin", b.AdminURL}} {
		if e.url == "" {
			continue
		}
		if err := b.endpoint(s.ID, have, e.iface, e.url); err != nil {
			return err
		}
	}
	return nil
}

// endpoint makes the endpoint of an interface in the region, or points the one
// there is to the URL.
func (b *bootstrap) endpoint(serviceID string, have []catalog.Endpoint, iface, url string) error {
	var region *string
	if b.Region != "" {
		region = &b.Region
	}
	for _, e := range have {
		if e.Interface != iface || region != nil && (e.RegionID == nil || *e.RegionID != *region) {
			continue
		}
		b.say("%s endpoint updated", iface)
		if e.URL == url {
			return nil
		}
		return catalog.SetEndpointURL(b.ctx, b.db, e.ID, url)
	}
	err := catalog.CreateEndpoint(b.ctx, b.db, catalog.Endpoint{
		ID: uuid.Hex(), Interface: iface, ServiceID: serviceID, URL: url, RegionID: region, Enabled: true,
	})
	if err == nil {
		b.say("Created %s endpoint %s", iface, url)
	}
	return err
}
