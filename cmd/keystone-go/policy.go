package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/policy"
)

func (p *program) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policy", Short: "Look at the rules of who may do what",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{errors.New("policy needs a command: check, list or sample"), cmd}
		},
	}
	for _, c := range []*cobra.Command{p.policyCheckCommand(), p.policyListCommand(), p.policySampleCommand()} {
		c.Args = usageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func (p *program) policySampleCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use: "sample", Short: "Print a policy file with every rule, as comments",
		RunE: func(*cobra.Command, []string) error { return p.write(output, []byte(policy.Sample())) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write instead of stdout")
	return cmd
}

func (p *program) policyListCommand() *cobra.Command {
	changed := false
	cmd := &cobra.Command{
		Use: "list", Short: "Print the rules in force, as a policy file",
		Long: `list prints the rules that a server with this configuration would enforce: its
own, with the policy files and enforce_new_defaults over them.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withPolicy(cmd.Context(), func(_ context.Context, e *policy.Engine) error {
				for _, r := range e.Effective() {
					if r.Changed || !changed {
						fmt.Fprintf(p.out, "%q: %q\n", r.Name, r.Check)
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&changed, "changed", false, "only those that are not as they come")
	return cmd
}

func (p *program) withPolicy(ctx context.Context, f func(context.Context, *policy.Engine) error) error {
	return p.withConfig(ctx, func(ctx context.Context, cfg *conf.Config) error {
		e, err := wire.NewPolicy(cfg, time.Now, slog.New(p.log.Handler()))
		if err != nil {
			return err
		}
		return f(ctx, e)
	})
}

func (p *program) policyCheckCommand() *cobra.Command {
	var as, target []string
	cmd := &cobra.Command{
		Use: "check --as WHO RULE", Short: "Say whether somebody may do what a rule guards, and why",
		Long: `check decides by the rules in force, without a server and a database, and tells
each check that was looked at. Who asks is told by --as: role=NAME, as often as
there are roles, one of project=ID, domain=ID and system=all, and besides
user=ID, user_domain=ID, project_domain=ID and service_role=NAME. What it is
about, by --target, as the rules name it: target.user.domain_id=ID. The exit
code is 1 for a refusal.

  keystone-go policy check --as role=manager,domain=d1 --target target.user.domain_id=d1 identity:create_user`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			creds, err := credentialsOf(as)
			if err != nil {
				return usageError{err, cmd}
			}
			about, err := targetOf(target)
			if err != nil {
				return usageError{err, cmd}
			}
			return p.withPolicy(cmd.Context(), func(ctx context.Context, e *policy.Engine) error {
				return p.explainPolicy(args[0], e.Explain(ctx, args[0], creds, about))
			})
		},
	}
	cmd.Flags().StringSliceVar(&as, "as", nil, "`WHO` asks: key=value, divided by commas; may be repeated")
	cmd.Flags().StringArrayVar(&target, "target", nil, "`key=value` of what it is about; null is no value; may be repeated")
	return cmd
}

// credentialsOf makes of key=value what a token would give to the rules.
func credentialsOf(as []string) (policy.Credentials, error) {
	if len(as) == 0 {
		return nil, errors.New("who asks? give --as, such as role=reader,project=ID")
	}
	c := policy.Credentials{
		"user_id": "", "user_domain_id": nil, "project_id": nil, "project_domain_id": nil, "domain_id": nil,
		"system_scope": nil, "is_admin_project": true, "roles": []string{},
	}
	for _, pair := range as {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || value == "" {
			return nil, fmt.Errorf("--as %s is not key=value", pair)
		}
		switch key {
		case "role":
			c["roles"] = append(c["roles"].([]string), value)
		case "service_role":
			before, _ := c["service_roles"].([]string)
			c["service_roles"] = append(before, value)
		case "system":
			c["system_scope"], c["system"] = value, value
		case "user", "user_domain", "project", "project_domain", "domain":
			c[key+"_id"] = value
		default:
			return nil, fmt.Errorf("--as %s is not known; there are role, user, user_domain, project, project_domain, domain, system and service_role", key)
		}
	}
	scopes := 0
	for _, scope := range []string{"system_scope", "domain_id", "project_id"} {
		if c[scope] != nil {
			scopes++
		}
	}
	if scopes > 1 {
		return nil, errors.New("a token is for one of project, domain and system")
	}
	c["token"] = tokenOf(c)
	return c, nil
}

// tokenOf is the part of the token's body that rules ask for.
func tokenOf(c policy.Credentials) map[string]any {
	in := func(id, domain any) map[string]any {
		return map[string]any{"id": id, "domain": map[string]any{"id": domain}}
	}
	t := map[string]any{"user": in(c["user_id"], c["user_domain_id"])}
	switch {
	case c["project_id"] != nil:
		t["project"] = in(c["project_id"], c["project_domain_id"])
	case c["domain_id"] != nil:
		t["domain"], c["is_admin_project"] = map[string]any{"id": c["domain_id"]}, false
	case c["system_scope"] != nil:
		t["system"] = map[string]any{"all": true}
	}
	return t
}

func targetOf(pairs []string) (policy.Target, error) {
	t := policy.Target{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--target %s is not key=value", pair)
		}
		t[key] = value
		if value == "null" {
			t[key] = nil
		}
	}
	return t, nil
}

func (p *program) explainPolicy(name string, x policy.Explanation) error {
	if !x.Known {
		return fmt.Errorf("there is no rule %q; policy list has them", name)
	}
	fmt.Fprintf(p.out, "%s: %s\n", name, x.Rule)
	switch {
	case len(x.ScopeTypes) == 0:
		fmt.Fprintf(p.out, "  yes  scope %s: any will do\n", x.Scope)
	default:
		fmt.Fprintf(p.out, "  %-4s scope %s: one of %s is asked for\n", yesNo(x.InScope), x.Scope, strings.Join(x.ScopeTypes, ", "))
	}
	for _, s := range x.Steps {
		fmt.Fprintf(p.out, "  %-4s %s%s\n", yesNo(s.Allowed), strings.Repeat("  ", s.Depth), s.Text)
	}
	if x.Err != nil {
		fmt.Fprintf(p.out, "  no decision: %v\n", x.Err)
	}
	if !x.Allowed {
		fmt.Fprintln(p.out, "refused")
		return exitCode(failed)
	}
	fmt.Fprintln(p.out, "allowed")
	return nil
}

func yesNo(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}
