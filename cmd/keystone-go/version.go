package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/migrations"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error { return p.version() },
	}
}

// version prints one line, with the schema revisions that db_sync leads to; called as keystone-manage a bare version, as its
// scripts expect.
func (p *program) version() error {
	version, revision := wire.Version()
	if p.name() == manageName {
		_, err := fmt.Fprintln(p.out, version)
		return err
	}
	if revision != "" {
		revision = ", revision " + revision
	}
	expand, contract := migrations.Heads()
	_, err := fmt.Fprintf(p.out, "keystone-go %s (identity v3.14, schema %s/%s%s, %s)\n", version, expand, contract, revision, runtime.Version())
	return err
}
