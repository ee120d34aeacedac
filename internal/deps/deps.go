// Package deps pins modules until the packages that use them exist.
package deps

import (
	_ "github.com/dlclark/regexp2/v2"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/labstack/echo/v4"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/spf13/cobra"
	_ "github.com/tinylib/msgp/msgp"
	_ "go.yaml.in/yaml/v4"
	_ "golang.org/x/crypto/argon2"
	_ "golang.org/x/crypto/bcrypt"
	_ "golang.org/x/crypto/scrypt"
	_ "golang.org/x/text/cases"
	_ "golang.org/x/text/unicode/norm"
	_ "gopkg.in/ini.v1"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)
