package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/fernet"
)

// repository is a folder of keys and how many it keeps.
type repository struct {
	dir       string
	maxActive int
}

func tokenKeys(c *conf.Config) []repository {
	return []repository{{c.FernetTokens.KeyRepository, c.FernetTokens.MaxActiveKeys}}
}

func receiptKeys(c *conf.Config) []repository {
	return []repository{{c.FernetReceipts.KeyRepository, c.FernetReceipts.MaxActiveKeys}}
}

// bothKeys are the folders of tokens and of receipts, which usually are one;
// then the receipts' number is ignored.
func bothKeys(c *conf.Config) []repository {
	list := tokenKeys(c)
	switch r := receiptKeys(c); {
	case r[0].dir != list[0].dir:
		list = append(list, r...)
	case r[0].maxActive != list[0].maxActive:
		slog.Warn("[fernet_receipts] max_active_keys is not looked at, since tokens and receipts share a key folder: that of [fernet_tokens] counts")
	}
	return list
}

// keyCommands are the verbs that make and turn keys, a row each.
func (p *program) keyCommands() []*cobra.Command {
	setup := func(r repository, o fernet.Owner) error { return fernet.Setup(r.dir, o) }
	rotate := func(r repository, o fernet.Owner) error { return fernet.Rotate(r.dir, r.maxActive, o) }
	var list []*cobra.Command
	for _, v := range []struct {
		name, help string
		folders    func(*conf.Config) []repository
		do         func(repository, fernet.Owner) error
	}{
		{"fernet_setup", "Make the keys of tokens and receipts", bothKeys, setup},
		{"fernet_rotate", "Rotate the keys of tokens and receipts", bothKeys, rotate},
		{"token_setup", "Make the keys of tokens", tokenKeys, setup},
		{"token_rotate", "Rotate the keys of tokens", tokenKeys, rotate},
		{"receipt_setup", "Make the keys of receipts", receiptKeys, setup},
		{"receipt_rotate", "Rotate the keys of receipts", receiptKeys, rotate},
		{"credential_setup", "Make the keys of stored credentials", credentialRepository, setup},
	} {
		list = append(list, p.ownedCommand(v.name, v.help, func(ctx context.Context, who fernet.Owner) error {
			return p.withConfig(ctx, func(ctx context.Context, cfg *conf.Config) error {
				for _, r := range v.folders(cfg) {
					if err := v.do(r, who); err != nil {
						return err
					}
					slog.DebugContext(ctx, "Done", "command", v.name, "dir", r.dir)
				}
				return nil
			})
		}))
	}
	return list
}
