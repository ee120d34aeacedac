package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// idleLimit closes what load opened beyond need.
const idleLimit = 10 * time.Minute

// ignored are options of libpq that say nothing to a server and that Go's
// network stack settles by itself.
var ignored = map[string]bool{
	"keepalives": true, "keepalives_idle": true, "keepalives_interval": true, "keepalives_count": true,
	"tcp_user_timeout": true, "gssencmode": true, "gsslib": true, "sslcompression": true, "client_encoding": true,
}

// refused are options of libpq that make a connection safer and that nothing
// here would honour.
var refused = map[string]bool{"sslcrl": true, "sslcrldir": true, "requirepeer": true, "ssl_min_protocol_version": true, "ssl_max_protocol_version": true}

// pgConfig makes pgx's configuration. The password is set afterwards, so that
// it is in no text that pgx could quote.
func pgConfig(a address, c Config) (*pgxpool.Config, error) {
	words, password, err := pgWords(a)
	if err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(words)
	if err != nil {
		return nil, fmt.Errorf("database connection: %w", err)
	}
	cc := cfg.ConnConfig
	if password != "" {
		cc.Password = password
	}
	if cc.ConnectTimeout == 0 {
		cc.ConnectTimeout = c.ConnectTimeout
	}
	// Stored times have no zone and are UTC; this keeps the server's own
	// conversions from adding one.
	cc.RuntimeParams["timezone"] = "UTC"
	if cc.RuntimeParams["application_name"] == "" {
		cc.RuntimeParams["application_name"] = "keystone-go"
	}
	cfg.MaxConns = int32(min(c.MaxPoolSize+c.MaxOverflow, 10000))
	cfg.MaxConnLifetime = c.ConnRecycle
	if c.ConnRecycle < 0 {
		cfg.MaxConnLifetime = 100 * 365 * 24 * time.Hour
	}
	cfg.MaxConnLifetimeJitter = min(cfg.MaxConnLifetime/10, time.Hour)
	cfg.MaxConnIdleTime = idleLimit
	cfg.PingTimeout = c.ConnectTimeout
	if cc.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		cfg.AfterConnect = planOnce
	}
	return cfg, nil
}

// planOnce has prepared statements planned at their first use and not five
// times more: all of them look rows up by key, so their arguments change
// nothing, and planning costs more than running them. A server that does not
// know the setting (before 12) plans as it likes. As a start-up parameter it
// would keep some poolers from letting us in.
func planOnce(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, "set plan_cache_mode = force_generic_plan")
	if _, refused := errors.AsType[*pgconn.PgError](err); refused {
		return nil
	}
	return err
}

// pgWords writes the address in libpq's keyword form, without the password,
// which it gives apart.
func pgWords(a address) (words, password string, err error) {
	hosts, ports, err := pgHosts(a)
	if err != nil {
		return "", "", err
	}
	password = a.password
	var b strings.Builder
	word := func(k, v string) {
		if v != "" {
			fmt.Fprintf(&b, "%s='%s' ", k, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v))
		}
	}
	word("host", strings.Join(hosts, ","))
	word("port", strings.Join(ports, ","))
	user, database := a.user, a.database
	for k, v := range a.query {
		last := v[len(v)-1]
		switch {
		case k == "host" || k == "port" || ignored[k]:
		case refused[k]:
			return "", "", fmt.Errorf("database connection: the option %s is not supported", k)
		case k == "user":
			user = last
		case k == "password":
			password = last
		case k == "dbname":
			database = last
		case !plainWord(k):
			return "", "", errors.New("database connection: an option has no plain name")
		default:
			word(k, last)
		}
	}
	word("user", user)
	word("dbname", database)
	return b.String(), password, nil
}

// pgHosts gives hosts and ports in pairs. SQLAlchemy takes several as
// ?host=a:5432&host=b:5433 or ?host=a,b&port=5432,5433.
func pgHosts(a address) (hosts, ports []string, err error) {
	given := a.query["host"]
	if len(given) == 0 {
		if a.host == "" {
			return nil, nonEmpty(a.port), nil
		}
		return []string{a.host}, nonEmpty(a.port), nil
	}
	common := nonEmpty(a.port)
	if p := a.query.Get("port"); p != "" {
		common = strings.Split(p, ",")
	}
	for _, one := range given {
		hosts = append(hosts, strings.Split(one, ",")...)
	}
	own := make([]string, len(hosts))
	found := false
	for i, h := range hosts {
		if strings.HasPrefix(h, "/") {
			continue
		}
		if host, port, err := net.SplitHostPort(h); err == nil {
			hosts[i], own[i], found = host, port, true
		}
	}
	switch {
	case !found:
		return hosts, common, nil
	case len(common) > 1:
		return nil, nil, errors.New("database connection: ports are given with the hosts and as a list")
	}
	for i := range own {
		if own[i] == "" && len(common) == 1 {
			own[i] = common[0]
		}
	}
	return hosts, own, nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func plainWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}
