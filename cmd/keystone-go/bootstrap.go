package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
)

// maxPasswordFile is more than any password may have.
const maxPasswordFile = 1 << 16

// bootstrapFlag is a value that may come from the command line or, with
// precedence as in keystone-manage, from the environment.
type bootstrapFlag struct {
	name, preset, help string
	value              *string
}

func bootstrapFlags(o *wire.BootstrapOptions) []bootstrapFlag {
	return []bootstrapFlag{
		{"username", "admin", "name of the administrator", &o.Username},
		{"password", "", "password of the administrator", &o.Password},
		{"project-name", "admin", "name of the administrator's project", &o.Project},
		{"role-name", "admin", "name of the administrator's role", &o.Role},
		{"service-name", "keystone", "name of the identity service in the catalog", &o.Service},
		{"admin-url", "", "URL of the admin endpoint", &o.AdminURL},
		{"public-url", "", "URL of the public endpoint", &o.PublicURL},
		{"internal-url", "", "URL of the internal endpoint", &o.InternalURL},
		{"region-id", "", "region of the endpoints", &o.Region},
	}
}

func (f bootstrapFlag) env() string {
	return "OS_BOOTSTRAP_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
}

func (p *program) bootstrapCommand() *cobra.Command {
	o := wire.BootstrapOptions{}
	flags := bootstrapFlags(&o)
	var passwordFile string
	var immutable, mutable bool
	cmd := &cobra.Command{
		Use: "bootstrap", Short: "Make the first domain, project, roles, administrator and endpoints",
		Long: `bootstrap makes what a new cloud needs before anybody can log in. What is
there already stays, so it may run again; an administrator with another
password gets the one given.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.ImmutableRoles = !mutable
			for _, f := range flags {
				if v, ok := p.lookupEnv(f.env()); ok && v != "" {
					*f.value = v
				}
			}
			if passwordFile != "" && cmd.Flags().Changed("bootstrap-password") {
				return usageError{errors.New("--bootstrap-password is not allowed with --bootstrap-password-file"), cmd}
			}
			if err := p.bootstrapPassword(&o, passwordFile); err != nil {
				return err
			}
			return p.withData(cmd.Context(), func(ctx context.Context, cfg *conf.Config, d db.DB) error {
				o.Log = slog.Default()
				return bootstrapInto(ctx, d, cfg, o)
			})
		},
	}
	for _, f := range flags {
		cmd.Flags().StringVar(f.value, "bootstrap-"+f.name, f.preset, f.help+" (or "+f.env()+")")
	}
	cmd.Flags().StringVar(&passwordFile, "bootstrap-password-file", "", "`file` that holds the password; - reads it from stdin")
	cmd.Flags().BoolVar(&immutable, "immutable-roles", true, "make the default roles immutable (the default)")
	cmd.Flags().BoolVar(&mutable, "no-immutable-roles", false, "leave the default roles free to be changed")
	return cmd
}

func (p *program) lookupEnv(name string) (string, bool) {
	for _, e := range p.env {
		if k, v, _ := strings.Cut(e, "="); k == name {
			return v, true
		}
	}
	return "", false
}

// bootstrapPassword takes the password from the file unless the environment
// gave one. keystone-manage says on stdout that there is none; so does this.
func (p *program) bootstrapPassword(o *wire.BootstrapOptions, file string) error {
	if o.Password == "" && file != "" {
		text, err := p.readPassword(file)
		if err != nil {
			return err
		}
		o.Password = text
	}
	if o.Password == "" {
		fmt.Fprintln(p.out, "A password is needed: --bootstrap-password, --bootstrap-password-file or OS_BOOTSTRAP_PASSWORD.")
		return exitCode(failed)
	}
	return nil
}

// readPassword reads a file, or stdin for "-", without the line end.
func (p *program) readPassword(file string) (string, error) {
	in := p.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("--bootstrap-password-file: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxPasswordFile))
	if err != nil {
		return "", fmt.Errorf("--bootstrap-password-file: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if password == "" {
		return "", errors.New("--bootstrap-password-file: there is no password in it")
	}
	if strings.Contains(password, "\n") {
		return "", errors.New("--bootstrap-password-file: there is more than one line in it")
	}
	return password, nil
}

// withConfig reads the configuration and makes its log for f.
func (p *program) withConfig(ctx context.Context, f func(context.Context, *conf.Config) error) error {
	cfg, end, err := p.loadLogged()
	if err != nil {
		return err
	}
	defer end()
	return f(ctx, cfg)
}

func bootstrapInto(ctx context.Context, d db.DB, cfg *conf.Config, o wire.BootstrapOptions) error {
	h, err := wire.NewHasher(cfg)
	if err != nil {
		return err
	}
	return wire.Bootstrap(ctx, d, wire.NewUsers(cfg, d, h, time.Now), cfg, o)
}
