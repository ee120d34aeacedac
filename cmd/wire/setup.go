package wire

import (
	"context"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/resource"
)

// Say hears what is made and what was there, in keystone-manage's words.
type Say func(format string, args ...any)

// SetupProject makes a project in a domain, or finds the one of the name. An
// empty id makes a new one.
func SetupProject(ctx context.Context, d db.DB, say Say, name, id, domain string) (string, error) {
	p, found, err := exists(ctx, d, resource.ProjectByName(name, domain))
	if err != nil {
		return "", err
	}
	if found {
		say("Project %s already exists, skipping creation.", name)
		return p.ID, nil
	}
	if id == "" {
		id = uuid.Hex()
	}
	err = resource.CreateProject(ctx, d, resource.Project{
		ID: id, Name: name, DomainID: domain, Enabled: true,
		Description: new("Bootstrap project for initializing the cloud."),
	})
	if err == nil {
		say("Created project %s", name)
	}
	return id, err
}

// SetupUser makes a user in a domain, or enables the one of the name and gives
// him the password where he does not have it. An empty id takes any user, and
// makes a new one.
func SetupUser(ctx context.Context, d db.DB, users identity.Users, say Say, name, password, id, domain string) (string, error) {
	a, found, err := exists(ctx, d, identity.AccountByName(name, domain))
	if err != nil {
		return "", err
	}
	given := &password
	if !found {
		if id != "" {
			users.NewID = func() string { return id }
		}
		v, err := users.Create(ctx, domain, identity.Change{Name: &name, Password: &given})
		if err == nil {
			say("Created user %s", name)
		}
		return v.Account.ID, err
	}
	say("User %s already exists, skipping creation.", name)
	if id != "" && id != a.ID {
		return "", fault.New(fault.Conflict, "Conflict occurred attempting to store user_id - user `%s` already exists with `%s`.", name, a.ID)
	}
	same, err := users.Hasher.Verify(ctx, a.Password.Hash, password)
	if err != nil {
		return "", err
	}
	var ch identity.Change
	if !a.Enabled {
		on := true
		ch.Enabled = &on
	}
	if !same {
		ch.Password = &given
	}
	if ch.Enabled == nil && ch.Password == nil {
		return a.ID, nil
	}
	before, err := users.Get(ctx, a.ID)
	if err != nil {
		return "", err
	}
	if _, err = users.Update(ctx, before, ch); err != nil {
		return "", err
	}
	if !same {
		say("Reset password for user %s.", name)
	}
	if !a.Enabled {
		say("Enabled user %s.", name)
	}
	return a.ID, nil
}
