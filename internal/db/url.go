package db

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// engines is the end of every error about a URL of another engine.
const engines = "this build runs on postgresql://, mysql:// (MariaDB) and sqlite://"

// address is a SQLAlchemy URL taken apart.
type address struct {
	dialect        Dialect
	user, password string
	host, port     string
	database       string
	query          url.Values
}

// urlForm is SQLAlchemy's grammar (sqlalchemy/engine/url.py, _parse_url): the
// password may hold a colon or slash, the database is not percent-decoded.
var urlForm = regexp.MustCompile(`^([\w+]+)://` +
	`(?:([^:/]*)(?::([^@]*))?@)?` +
	`(?:(?:\[([^/?]+)\]|([^/:?]+))?(?::([^/?]*))?)?` +
	`(?:/([^?]*))?` +
	`(?:\?(.*))?$`)

// DialectOf tells the engine of a SQLAlchemy URL; of one that cannot be read it
// is Postgres.
func DialectOf(connection string) Dialect {
	a, _ := parseURL(connection)
	if a.dialect == "" {
		return Postgres
	}
	return a.dialect
}

// parseURL reads a URL. Its errors quote the scheme alone, since a password
// may be anywhere in what could not be read.
func parseURL(s string) (address, error) {
	scheme, _, ok := strings.Cut(s, "://")
	if !ok {
		return address{}, errors.New("the database connection is no URL: want postgresql://…, mysql+pymysql://… or sqlite:///…")
	}
	m := urlForm.FindStringSubmatch(s)
	a := address{}
	engine, _, _ := strings.Cut(strings.ToLower(scheme), "+")
	switch {
	case engine == "postgresql" || engine == "postgres":
		a.dialect = Postgres
	case engine == "mysql" || engine == "mariadb":
		a.dialect = MariaDB
	case engine == "sqlite":
		a.dialect = SQLite
	case !regexp.MustCompile(`^\w+$`).MatchString(engine):
		return a, errors.New("the database connection is no URL: " + engines)
	default:
		return a, fmt.Errorf("no support for databases of %q: %s", engine, engines)
	}
	if m == nil {
		return a, fmt.Errorf("the database connection is no URL that can be read after %q", scheme+"://")
	}
	var err error
	if a.user, err = url.PathUnescape(m[2]); err != nil {
		return a, errors.New("the user in the database connection has a broken percent escape")
	}
	if a.password, err = url.PathUnescape(m[3]); err != nil {
		return a, errors.New("the password in the database connection has a broken percent escape")
	}
	a.host, a.port, a.database = m[4]+m[5], m[6], m[7]
	if a.query, err = url.ParseQuery(m[8]); err != nil {
		return a, errors.New("the options in the database connection cannot be read")
	}
	return a, nil
}
