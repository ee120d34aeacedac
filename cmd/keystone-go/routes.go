package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/cmd/wire"
)

func (p *program) routesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "routes", Short: "Print the route table: method, path, rule, limit class",
		RunE: func(*cobra.Command, []string) error {
			w := bufio.NewWriter(p.out)
			fmt.Fprintln(w, "method\tpath\trule\tlimit")
			for _, r := range wire.Routes() {
				rule := r.Rule
				if rule == v3.Open {
					rule = "(open)"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Method, r.Path, rule, r.Limit)
			}
			return w.Flush()
		},
	}
}
