package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/credential"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fernet"
)

// credentialKeys is fixed in keystone/credential/providers/fernet/core.py.
const credentialKeys = 3

func credentialRepository(c *conf.Config) []repository {
	return []repository{{c.Credential.KeyRepository, credentialKeys}}
}

// credentialCommands are the verbs that keys and rows of stored credentials
// need together.
func (p *program) credentialCommands() []*cobra.Command {
	return []*cobra.Command{
		p.ownedCommand("credential_rotate", "Rotate the keys of stored credentials, if all of these are under the newest one", p.credentialRotate),
		p.ownedCommand("credential_migrate", "Encrypt stored credentials anew with the newest key", p.credentialMigrate),
	}
}

// ownedCommand is a verb with --keystone-user and --keystone-group.
func (p *program) ownedCommand(name, help string, do func(context.Context, fernet.Owner) error) *cobra.Command {
	var owner ownerFlags
	cmd := &cobra.Command{Use: name, Short: help, RunE: func(cmd *cobra.Command, _ []string) error {
		who, err := owner.resolve(cmd, p.uid == 0)
		if err != nil {
			return err
		}
		return do(cmd.Context(), who)
	}}
	owner.add(cmd)
	return cmd
}

// errMigrateFirst keeps a key that is still needed from being deleted.
var errMigrateFirst = errors.New("the credential keys are not rotated, since not all credentials are encrypted with the primary key: run credential_migrate first")

func (p *program) credentialRotate(ctx context.Context, owner fernet.Owner) error {
	return p.withData(ctx, func(ctx context.Context, cfg *conf.Config, d db.DB) error {
		dir := cfg.Credential.KeyRepository
		ring, err := fernet.ReadRing(dir)
		if err != nil {
			return fmt.Errorf("[credential] key_repository: %w", err)
		}
		if err := credential.Current(ctx, d, ring.Hash()); errors.Is(err, credential.ErrBehind) {
			return errMigrateFirst
		} else if err != nil {
			return err
		}
		return fernet.Rotate(dir, credentialKeys, owner)
	})
}

func (p *program) credentialMigrate(ctx context.Context, _ fernet.Owner) error {
	return p.withData(ctx, func(ctx context.Context, cfg *conf.Config, d db.DB) error {
		ring, err := fernet.ReadRing(cfg.Credential.KeyRepository)
		if err != nil {
			return fmt.Errorf("[credential] key_repository: %w", err)
		}
		n, err := credential.Migrate(ctx, d, ring, time.Now)
		slog.InfoContext(ctx, "Credentials were encrypted with the primary key", "count", n)
		return err
	})
}
