package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/migrations"
)

const devListen = "127.0.0.1:5000"

func (p *program) devCommand() *cobra.Command {
	var state, address string
	cmd := &cobra.Command{
		Use: "dev", Short: "Serve from a folder of its own, made at the first start",
		Long: `dev makes a folder with keystone.conf, a SQLite database, keys and an
administrator, says how to log in, and serves. The next start finds what is in
the folder.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(p.paths) > 0 {
				return usageError{errors.New("dev reads the keystone.conf of its folder alone"), cmd}
			}
			dir, err := filepath.Abs(state)
			if err != nil {
				return err
			}
			return p.dev(cmd.Context(), folder(dir), address)
		},
	}
	cmd.Flags().StringVar(&state, "state", "state", "`folder` of the configuration and the data")
	cmd.Flags().StringVar(&address, "listen", devListen, "`host:port` to serve on")
	return cmd
}

// folder is the state folder of dev.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

func (p *program) dev(ctx context.Context, state folder, address string) error {
	ctx, cancel := p.untilSignal(ctx)
	defer cancel()
	control, stop := p.controls()
	defer stop()
	if err := state.configure(address); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	load := func() (*conf.Config, error) {
		return conf.Load(conf.Sources{Files: []string{state.path("keystone.conf")}, Env: p.env, Set: append(p.given(), listenOn(address))})
	}
	cfg, err := load()
	if err != nil {
		return err
	}
	end, err := p.openLog(cfg)
	if err != nil {
		return err
	}
	defer end()
	notes(ctx, slog.Default(), cfg)
	s, err := p.openSockets(ctx, cfg.KeystoneGo)
	if err != nil {
		return err
	}
	d, err := state.fill(ctx, cfg, baseURL(s.public[0].Addr()))
	if err != nil {
		return errors.Join(err, s.close())
	}
	defer d.Close()
	server := &daemon{program: p, load: load, options: wire.Options{DB: d}}
	app, err := wire.Build(ctx, cfg, server.options)
	if err != nil {
		return errors.Join(err, s.close())
	}
	p.welcome(state, s)
	return server.answer(ctx, cfg, app, s, control)
}

func listenOn(address string) conf.Given {
	return conf.Given{Name: conf.Name{Section: "keystone_go", Option: "listen"}, Value: address}
}

// configure makes the folder and the packaged keystone.conf with its paths put
// in, unless there is one.
func (f folder) configure(address string) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	file := f.path("keystone.conf")
	if _, err := os.Stat(file); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	given := func(section, option, value string) conf.Given {
		return conf.Given{Name: conf.Name{Section: section, Option: option}, Value: value}
	}
	values := []conf.Given{
		given("database", "connection", "sqlite:///"+f.path("keystone.db")),
		given("fernet_tokens", "key_repository", f.path("fernet-keys")),
		given("fernet_receipts", "key_repository", f.path("fernet-keys")),
		given("credential", "key_repository", f.path("credential-keys")),
		listenOn(address),
	}
	if address != devListen {
		// A second server on the machine is likely: any free port will do.
		values = append(values, given("keystone_go", "admin_listen", "127.0.0.1:0"))
	}
	var b bytes.Buffer
	if err := conf.WriteSample(&b, values...); err != nil {
		return err
	}
	return writeFile(file, b.Bytes())
}

// writeFile makes a file for its owner alone, whole or not at all.
func writeFile(path string, text []byte) error {
	fresh := path + ".tmp"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(fresh)))
	}
	return os.Rename(fresh, path)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// fill makes keys, schema and administrator where they are missing, and gives
// the open database. clouds.yaml is written last: where it is, all the rest is.
func (f folder) fill(ctx context.Context, cfg *conf.Config, url string) (db.DB, error) {
	for _, dir := range []string{cfg.FernetTokens.KeyRepository, cfg.FernetReceipts.KeyRepository, cfg.Credential.KeyRepository} {
		if fernet.Initialized(dir) {
			continue
		}
		if err := fernet.Setup(dir, fernet.Owner{UID: -1, GID: -1}); err != nil {
			return nil, err
		}
	}
	if err := ownDatabase(cfg.Database.Connection); err != nil {
		return nil, err
	}
	d, err := wire.OpenDB(ctx, cfg, nil)
	if err != nil {
		return nil, err
	}
	if err := f.populate(ctx, d, cfg, url); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (f folder) populate(ctx context.Context, d db.DB, cfg *conf.Config, url string) error {
	if err := migrations.Sync(ctx, d); err != nil {
		return err
	}
	c, err := readCloud(f.path(cloudsFile))
	switch {
	case err != nil:
		return err
	case c.password == "":
		c = cloud{url: url, password: rand.Text()}
		if err := bootstrapInto(ctx, d, cfg, wire.BootstrapOptions{
			Username: "admin", Password: c.password, Project: "admin", Role: "admin", Service: "keystone", Region: "RegionOne",
			AdminURL: url + "/v3", PublicURL: url + "/v3", InternalURL: url + "/v3", ImmutableRoles: true,
		}); err != nil {
			return err
		}
	case c.url == url:
		return nil
	default:
		if err := moveEndpoints(ctx, d, c.url+"/v3", url+"/v3"); err != nil {
			return err
		}
		c.url = url
	}
	return c.write(f.path(cloudsFile))
}

// baseURL is where a client on this machine reaches the address.
func baseURL(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return "http://" + a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
