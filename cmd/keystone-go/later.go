package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// laterCommands are keystone-manage's verbs about what this server does not
// serve yet. They say so: a script must not take them for done.
func (p *program) laterCommands() []*cobra.Command {
	var list []*cobra.Command
	for _, v := range []struct{ name, what string }{
		{"mapping_engine", "federation"},
		{"mapping_populate", "users of LDAP"},
		{"saml_idp_metadata", "SAML"},
	} {
		list = append(list, &cobra.Command{
			Use: v.name, Short: "Not served yet (" + v.what + ")", Args: cobra.ArbitraryArgs,
			FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
			RunE: func(*cobra.Command, []string) error {
				return fmt.Errorf("%s is not served yet: there is no support for %s", v.name, v.what)
			},
		})
	}
	return list
}
