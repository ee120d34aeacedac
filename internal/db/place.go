package db

import (
	"path/filepath"
	"strings"
)

// Place names the database of a SQLAlchemy URL without user, password and
// options, and tells its engine.
func Place(connection string) (Dialect, string, error) {
	a, err := parseURL(connection)
	if err != nil {
		return "", "", err
	}
	if a.dialect == SQLite {
		path, _, err := litePath(a)
		return SQLite, "sqlite:///" + filepath.ToSlash(path), err
	}
	host, port, name := a.host, a.port, a.database
	for _, option := range []string{"host", "unix_socket"} {
		if h := strings.Join(a.query[option], ","); h != "" {
			host = h
		}
	}
	if p := strings.Join(a.query["port"], ","); p != "" {
		port = p
	}
	for _, option := range []string{"dbname", "database", "db"} {
		if n := a.query.Get(option); n != "" {
			name = n
		}
	}
	if port != "" {
		port = ":" + port
	}
	scheme := "postgresql"
	if a.dialect == MariaDB {
		scheme = "mysql"
	}
	return a.dialect, scheme + "://" + host + port + "/" + name, nil
}
