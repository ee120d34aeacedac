package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/listen"
)

func (p *program) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve the Identity API",
		Long: `serve answers on [keystone_go] listen until SIGTERM or SIGINT. It then lets
running requests end for [keystone_go] graceful_timeout seconds; a second signal
ends it at once.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withConfig(cmd.Context(), p.serve)
		},
	}
}

func (p *program) serve(ctx context.Context, cfg *conf.Config) error {
	ctx, cancel := p.untilSignal(ctx)
	defer cancel()
	notes(ctx, slog.Default(), cfg)
	if err := databaseFile(cfg.Database.Connection); err != nil {
		return err
	}
	s, err := openSockets(ctx, cfg.KeystoneGo)
	if err != nil {
		return err
	}
	app, err := wire.Build(ctx, cfg, wire.Options{})
	if err != nil {
		return errors.Join(err, s.close())
	}
	return p.answer(ctx, cfg, app, s)
}

// sameSignal is the time within which a signal counts as the one before:
// timeout(1) and some supervisors send it to the process and to its group.
const sameSignal = 500 * time.Millisecond

// untilSignal gives a context that ends with the first signal. A later one
// stays in p.signals.
func (p *program) untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case s := <-p.signals:
			slog.InfoContext(ctx, "Stopping", "signal", s.String())
			p.stopping = time.Now()
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// secondSignal is closed when another signal comes after the first.
func (p *program) secondSignal() <-chan struct{} {
	second := make(chan struct{})
	go func() {
		for range p.signals {
			if time.Since(p.stopping) > sameSignal {
				close(second)
				return
			}
		}
	}()
	return second
}

// sockets are what the server listens on.
type sockets struct{ public, admin []net.Listener }

func openSockets(ctx context.Context, c conf.KeystoneGo) (s sockets, err error) {
	if len(c.Listen) == 0 {
		return s, errors.New("[keystone_go] listen names no address")
	}
	if s.public, err = listen.OpenAll(ctx, c.Listen); err != nil {
		return s, fmt.Errorf("[keystone_go] listen: %w", err)
	}
	if c.AdminListen == "" {
		return s, nil
	}
	if s.admin, err = listen.OpenAll(ctx, []string{c.AdminListen}); err != nil {
		return s, errors.Join(fmt.Errorf("[keystone_go] admin_listen: %w", err), s.close())
	}
	return s, nil
}

func (s sockets) close() error {
	var err error
	for _, l := range append(s.public, s.admin...) {
		err = errors.Join(err, l.Close())
	}
	return err
}

func addresses(list []net.Listener) []string {
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = l.Addr().String()
	}
	return out
}

// answer serves until ctx ends, then drains; it closes app and the sockets.
func (p *program) answer(ctx context.Context, cfg *conf.Config, app *wire.App, s sockets) error {
	log := slog.Default()
	for _, w := range app.Warnings {
		log.WarnContext(ctx, w)
	}
	r := &running{
		delay: seconds(cfg.KeystoneGo.DrainDelay), graceful: seconds(cfg.KeystoneGo.GracefulTimeout), app: app,
		public: listen.NewServer(app.Handler, log), ended: make(chan error, 2),
	}
	go func() { r.ended <- r.public.Serve(s.public...) }()
	r.servers = 1
	if len(s.admin) > 0 {
		r.admin = listen.NewServer(app.Admin.Handler(), log)
		go func() { r.ended <- r.admin.Serve(s.admin...) }()
		r.servers = 2
	}
	log.InfoContext(ctx, "Serving", "listen", addresses(s.public), "admin_listen", addresses(s.admin))
	select {
	case <-ctx.Done():
		return r.drain(p)
	case err := <-r.ended:
		r.servers--
		return errors.Join(err, r.stop(0))
	}
}

// running is a server that answers.
type running struct {
	delay, graceful time.Duration
	app             *wire.App
	public, admin   *listen.Server
	servers         int
	ended           chan error
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// errSecondSignal ends the program without waiting for anybody.
var errSecondSignal = errors.New("a second signal came: requests were cut off")

// drain turns traffic away, lets running requests end and closes everything.
// It is cut short by another signal.
func (r *running) drain(p *program) error {
	r.app.Admin.Drain()
	second := p.secondSignal()
	select {
	case <-time.After(r.delay):
	case <-second:
		return errSecondSignal
	}
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop(r.graceful) }()
	select {
	case err := <-stopped:
		return err
	case <-second:
		return errSecondSignal
	}
}

// stop ends the servers within the time, and then what they stand on. Requests
// that take longer are cut off, which is told and is no failure.
func (r *running) stop(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := r.public.Shutdown(ctx); err != nil {
		slog.Warn("Requests were cut off at the end", "after", within.String())
	}
	if r.admin != nil {
		// It has answered to the end; nobody needs it longer.
		_ = r.admin.Shutdown(ctx)
	}
	var err error
	for range r.servers {
		err = errors.Join(err, <-r.ended)
	}
	r.app.Close()
	return err
}
