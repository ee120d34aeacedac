package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// The name of a domain's file is keystone.DOMAIN.conf.
const domainFileHead, domainFileTail = "keystone.", ".conf"

func (p *program) domainConfigUploadCommand() *cobra.Command {
	var all bool
	var name string
	cmd := &cobra.Command{
		Use: "domain_config_upload", Short: "Take the configurations of domains from files into the database",
		Long: `domain_config_upload reads the files keystone.DOMAIN.conf in [identity]
domain_config_dir and stores their options in the database, for servers with
[identity] domain_configurations_from_database. A domain that has options there
keeps them. The exit code is 1 when a file was left out.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			named := cmd.Flags().Changed("domain-name")
			if named && name == "" {
				return usageError{errors.New("--domain-name is empty"), cmd} // which must not mean all
			}
			return p.withData(cmd.Context(), func(ctx context.Context, cfg *conf.Config, d db.DB) error {
				switch {
				case !all && !named:
					fmt.Fprintln(p.out, "At least one option must be provided, use either --all or --domain-name")
					return exitCode(failed)
				case all && named:
					fmt.Fprintln(p.out, "The --all option cannot be used with the --domain-name option")
					return exitCode(failed)
				}
				u := domainUpload{p: p, db: d, dir: cfg.Identity.DomainConfigDir, configs: wire.DomainConfigs(cfg, d)}
				return u.run(ctx, name)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "the files of all domains")
	cmd.Flags().StringVar(&name, "domain-name", "", "only the file of the domain of this `name`")
	return cmd
}

// domainUpload is one run of domain_config_upload.
type domainUpload struct {
	p       *program
	db      db.DB
	dir     string
	configs resource.DomainConfigs
}

// run stores the file of one domain, or with an empty name those of all.
func (u domainUpload) run(ctx context.Context, name string) error {
	if _, err := os.Stat(u.dir); err != nil {
		return fmt.Errorf("unable to locate domain config directory: %w", err)
	}
	paths := []string{filepath.Join(u.dir, domainFileHead+name+domainFileTail)}
	if name == "" {
		var err error
		if paths, err = u.find(ctx); err != nil {
			return err
		}
	}
	stored := 0
	for _, path := range paths {
		domain := name
		if domain == "" {
			domain, _ = domainOf(filepath.Base(path))
		}
		ok, err := u.store(ctx, path, domain)
		if err != nil {
			return err
		}
		if ok {
			stored++
			slog.InfoContext(ctx, "The configuration of a domain was uploaded", "file", path)
		}
	}
	if stored == 0 && name == "" {
		slog.WarnContext(ctx, "No configuration of a domain was uploaded", "folder", u.dir)
	}
	if stored < len(paths) {
		return exitCode(failed)
	}
	return nil
}

// domainOf is whose file it is.
func domainOf(file string) (domain string, ok bool) {
	domain, ok = strings.CutPrefix(file, domainFileHead)
	if ok {
		domain, ok = strings.CutSuffix(domain, domainFileTail)
	}
	return domain, ok
}

// find gives the files of all domains in the folder and below it.
func (u domainUpload) find(ctx context.Context) (paths []string, err error) {
	err = filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if strings.HasPrefix(d.Name(), "..") && path != u.dir {
				return fs.SkipDir // Kubernetes' own: the files are linked from above
			}
			return nil
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil
		}
		if _, ok := domainOf(d.Name()); ok {
			paths = append(paths, path)
		} else {
			slog.WarnContext(ctx, "A file in the folder of the domains' configurations is passed over", "file", d.Name())
		}
		return nil
	})
	return paths, err
}

// store takes one file into the database and reports whether it did; what is
// wrong with the file is told.
func (u domainUpload) store(ctx context.Context, path, name string) (bool, error) {
	domain, err := db.One(ctx, u.db, resource.DomainByName(name))
	if errors.Is(err, db.ErrNoRow) {
		fmt.Fprintf(u.p.out, "Invalid domain name: %s found in config file name: %s - ignoring this file.\n", name, path)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	has, err := u.configs.Has(ctx, domain.ID)
	if err != nil {
		return false, err
	}
	if has {
		fmt.Fprintf(u.p.out, "Domain: %s already has a configuration defined - ignoring file: %s.\n", name, path)
		return false, nil
	}
	sections, err := conf.ReadRaw(path)
	if err != nil {
		fmt.Fprintf(u.p.out, "Error parsing configuration file for domain: %s, file: %s.\n", name, path)
		u.p.complain(err)
		return false, nil
	}
	options := pyjson.Object{}
	for _, s := range sections {
		group := pyjson.Object{}
		for _, o := range s.Options {
			group = group.Set(o.Name, o.Value)
		}
		options = options.Set(s.Name, group)
	}
	_, _, err = u.configs.Set(ctx, domain.ID, options)
	if _, refused := errors.AsType[*fault.Error](err); refused {
		slog.ErrorContext(ctx, fmt.Sprintf("Error processing config file for domain: %s, filename: %s, error: %v", name, path, err))
		return false, nil
	}
	return err == nil, err
}
