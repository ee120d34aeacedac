package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

func (p *program) rateLimitExplainCommand() *cobra.Command {
	var peer, path string
	var headers []string
	cmd := &cobra.Command{
		Use: "explain", Short: "Say whom a request would count for, and under which limits",
		Long: `explain reads the configuration and asks no server. It says who the client of a
request is and why, hop by hop; the key by which limits know it; whether its
network is exempt or blocked; and the limits of the path in the order in which
they are asked.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asked, err := asked(peer, path, headers)
			if err != nil {
				return usageError{err, cmd}
			}
			return p.withConfig(cmd.Context(), func(_ context.Context, cfg *conf.Config) error {
				e, err := wire.Explain(cfg, asked)
				if err != nil {
					return err
				}
				return printExplained(p.out, e)
			})
		},
	}
	cmd.Flags().StringVar(&peer, "peer", "", "`address` from which the connection comes; @ for a unix socket")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "a `line` of the request's head, such as 'X-Forwarded-For: 198.51.100.9'; may be repeated")
	cmd.Flags().StringVar(&path, "path", "POST:/v3/auth/tokens", "the request, `METHOD:/path`")
	return cmd
}

func asked(peer, path string, headers []string) (wire.Asked, error) {
	a := wire.Asked{Peer: peer, Header: http.Header{}}
	if peer == "" {
		return a, errors.New("from where does the request come? give --peer")
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || name == "" {
			return a, fmt.Errorf("--header %q is not NAME: VALUE", h)
		}
		a.Header.Add(name, strings.TrimSpace(value))
	}
	var ok bool
	if a.Method, a.Path, ok = strings.Cut(path, ":"); !ok || !strings.HasPrefix(a.Path, "/") {
		return a, fmt.Errorf("--path %q is not METHOD:/path", path)
	}
	return a, nil
}

// Words for what the resolver found.
var (
	hows = map[clientaddr.How]string{
		clientaddr.Peer:        "the peer is no trusted proxy: it is the client, and no header of it is read",
		clientaddr.Header:      "named by the header",
		clientaddr.NoHeader:    "the peer is a trusted proxy, and has sent no entry: it counts itself",
		clientaddr.Malformed:   "an entry that was reached is no address: the peer counts itself, and is never exempt",
		clientaddr.Repeated:    "a header for one address came more than once: the peer counts itself, and is never exempt",
		clientaddr.TooManyHops: "more proxies than are looked at: the peer counts itself, and is never exempt",
		clientaddr.AllTrusted:  "every entry is a trusted proxy: the peer counts itself, and is never exempt",
		clientaddr.NoPeer:      "no address: requests that limits by address apply to are answered 503",
	}
	verdicts = map[clientaddr.Verdict]string{
		clientaddr.HopProxy:     "trusted proxy, go on to its left",
		clientaddr.HopClient:    "the first that is not trusted: the client; nothing left of it is read",
		clientaddr.HopMalformed: "no address of a host: stop",
		clientaddr.HopEmpty:     "empty, go on",
		clientaddr.HopBeyond:    "one entry too many: stop",
	}
)

func printExplained(out io.Writer, e wire.Explained) error {
	a := e.Address
	fmt.Fprintf(out, "peer    %s", orNone(a.Peer.IsValid(), a.Peer.String()))
	switch {
	case a.Trusted && a.Single:
		fmt.Fprintf(out, ", a trusted proxy; %s is read, which holds one address", a.Header)
	case a.Trusted:
		fmt.Fprintf(out, ", a trusted proxy; %s is read from the right", a.Header)
	}
	fmt.Fprintln(out)
	for i, h := range a.Hops {
		fmt.Fprintf(out, "  %d     %s: %s\n", i+1, orNone(h.Text != "", h.Text), verdicts[h.Verdict])
	}
	fmt.Fprintf(out, "client  %s: %s\n", orNone(a.Client.IsValid(), a.Client.String()), hows[a.How])
	for _, note := range e.Notes {
		fmt.Fprintf(out, "note    %s\n", note)
	}
	fmt.Fprintf(out, "path    %s\n", e.Path)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for i, s := range e.Steps {
		fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t%s\t%s\n", i+1, s.Limiter, s.Mode, s.Quota, s.Key, s.When)
	}
	if len(e.Steps) == 0 {
		fmt.Fprintln(w, "  no limit is on that counts it")
	}
	return w.Flush()
}

func orNone(is bool, text string) string {
	if is {
		return text
	}
	return "(none)"
}
