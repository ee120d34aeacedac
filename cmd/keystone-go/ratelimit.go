package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/ops"
)

// askTime is how long a running server may take to answer.
const askTime = 30 * time.Second

func (p *program) rateLimitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ratelimit", Short: "See, explain and reset rate limits",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{errors.New("ratelimit needs a command: show, reset or explain"), cmd}
		},
	}
	for _, c := range []*cobra.Command{p.rateLimitShowCommand(), p.rateLimitResetCommand(), p.rateLimitExplainCommand()} {
		c.Args = usageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// subject is who the flags of a command name.
type subject struct{ user, domain, address string }

func (s *subject) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.user, "user", "", "a user, by `id`; with --domain by name")
	cmd.Flags().StringVar(&s.domain, "domain", "", "the `id` of the domain in which --user is a name")
	cmd.Flags().StringVar(&s.address, "address", "", "a client `address`; with --user, what the two owe together as well")
}

// query is the subject as the server's paths take it.
func (s *subject) query() (url.Values, error) {
	q := url.Values{}
	switch {
	case s.domain != "" && s.user == "":
		return nil, errors.New("--domain says where --user is a name; give --user too")
	case s.domain != "":
		q.Set("name", s.user)
		q.Set("domain_id", s.domain)
	case s.user != "":
		q.Set("user_id", s.user)
	}
	if s.address != "" {
		q.Set("address", s.address)
	}
	return q, nil
}

func (p *program) rateLimitShowCommand() *cobra.Command {
	var who subject
	var top int
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show the limits of the running server and who owes most",
		Long: `show asks the server on this host through [keystone_go] admin_listen, which
needs no token and changes nothing. Callers are shown as hashes that hold as long
as the server runs, the ones that stand in its log; addresses are shown as they
are with [rate_limit] log_clear_addresses. With --user or --address it also tells
how that caller stands.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := who.query()
			if err != nil {
				return usageError{err, cmd}
			}
			q.Set("top", fmt.Sprint(top))
			return p.withConfig(cmd.Context(), func(ctx context.Context, cfg *conf.Config) error {
				return p.showLimits(ctx, cfg.KeystoneGo.AdminListen, q, asJSON)
			})
		},
	}
	who.flags(cmd)
	cmd.Flags().IntVar(&top, "top", 10, "the largest debts to show of each limiter")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *program) showLimits(ctx context.Context, listen string, q url.Values, asJSON bool) error {
	if listen == "" {
		return errors.New("[keystone_go] admin_listen is empty: the running server cannot be asked")
	}
	client, base := adminClient(listen)
	text, err := ask(ctx, client, http.MethodGet, base+"/ratelimit?"+q.Encode(), "")
	if err != nil {
		return fmt.Errorf("ask the server on %s: %w", listen, err)
	}
	if asJSON {
		_, err := p.out.Write(text)
		return err
	}
	var answer struct {
		Limiters []ops.LimiterView
		Standing []ops.Standing
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("the server on %s: %w", listen, err)
	}
	return p.printLimits(answer.Limiters, answer.Standing)
}

func (p *program) printLimits(limiters []ops.LimiterView, standing []ops.Standing) error {
	w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "limiter\tmode\tquota\tkeyed by\tremembered\tallowed\trefused\tevicted owing")
	for _, l := range limiters {
		fmt.Fprintf(w, "%s\t%s\t%d at once, %d each %s\t%s\t%d of %d\t%d\t%d\t%d\n",
			l.Name, l.Mode, l.Burst, l.Rate, l.Period, l.Keyed, l.Entries, l.Capacity, l.Allowed, l.Refused, l.Evictions)
	}
	if slices.ContainsFunc(limiters, func(l ops.LimiterView) bool { return len(l.Debtors) > 0 }) {
		fmt.Fprintln(w, "\nowing in\tkey\tunits\tnext in\twhole in")
		for _, l := range limiters {
			for _, d := range l.Debtors {
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", l.Name, d.Key, d.Debt, inSeconds(d.Retry), inSeconds(d.Reset))
			}
		}
	}
	if len(standing) > 0 {
		fmt.Fprintln(w, "\nstands in\tkey\tremaining\tnext in\twhole in")
		for _, s := range standing {
			fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%s\n", s.Limiter, s.Key, s.Remaining, s.Burst, inSeconds(s.Retry), inSeconds(s.Reset))
		}
	}
	return w.Flush()
}

func inSeconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}

// adminClient reaches the admin listener of this host.
func adminClient(listen string) (client *http.Client, base string) {
	t := &http.Transport{DisableKeepAlives: true}
	client, base = &http.Client{Transport: t, Timeout: askTime}, "http://localhost"
	if path, unix := strings.CutPrefix(listen, "unix:"); unix {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
		return client, base
	}
	host, port, err := net.SplitHostPort(listen)
	if err == nil && (host == "" || host == "0.0.0.0") {
		host = "127.0.0.1"
	}
	if err == nil && host == "::" {
		host = "::1"
	}
	return client, "http://" + net.JoinHostPort(host, port)
}

// ask makes one request and gives the body of a success.
func ask(ctx context.Context, client *http.Client, method, url, token string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("X-Auth-Token", token)
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s: %s", answer.Status, messageOf(text))
	}
	return text, nil
}

// messageOf is the message of a refusal.
func messageOf(body []byte) string {
	var e struct {
		Error struct{ Message string }
	}
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	return string(bytes.TrimSpace(body))
}

func (p *program) rateLimitResetCommand() *cobra.Command {
	var who subject
	var server, ca string
	cmd := &cobra.Command{
		Use: "reset", Short: "Give a user or an address its quota back",
		Long: `reset calls the server's admin API, which needs a token whose holder the rule
keystone_go:reset_ratelimit lets through, an administrator's. The token is read
from OS_TOKEN, else the login that the other OS_* variables describe is made. The
server's audit log says who did it.

Of a user the server that is asked also forgets where he logged in before and how
often he failed in a row, with --address there alone; his application credentials
are given their quota back too.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := who.query()
			if err == nil && len(q) == 0 {
				err = errors.New("name whose quota to give back: --user, --address, or both")
			}
			if err != nil {
				return usageError{err, cmd}
			}
			return p.resetLimits(cmd.Context(), server, ca, q)
		},
	}
	who.flags(cmd)
	cmd.Flags().StringVar(&server, "os-auth-url", "", "`URL` of the Identity API; OS_AUTH_URL when it is not given")
	cmd.Flags().StringVar(&ca, "os-cacert", "", "`file` of certificates to verify the server by; OS_CACERT when it is not given")
	return cmd
}

func (p *program) resetLimits(ctx context.Context, server, ca string, q url.Values) error {
	c, err := p.cloudClient(server, ca)
	if err != nil {
		return err
	}
	token, err := c.token(ctx)
	if err != nil {
		return err
	}
	text, err := ask(ctx, c.http, http.MethodDelete, c.url+"/v3/keystone-go/ratelimit?"+q.Encode(), token)
	if err != nil {
		return err
	}
	var answer struct{ Reset struct{ Limiters []string } }
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	if len(answer.Reset.Limiters) == 0 {
		fmt.Fprintln(p.out, "No limiter that is on knows such callers.")
		return nil
	}
	for _, name := range answer.Reset.Limiters {
		fmt.Fprintf(p.out, "%s: nothing is owed\n", name)
	}
	return nil
}
