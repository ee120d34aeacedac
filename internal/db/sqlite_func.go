package db

import (
	"database/sql/driver"
	"strings"

	"modernc.org/sqlite"
)

// SQLite's own lower and upper know the letters of ASCII alone; the other
// engines know them all.
func init() {
	for name, f := range map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper} {
		sqlite.MustRegisterDeterministicScalarFunction(name, 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			if s, ok := args[0].(string); ok {
				return f(s), nil
			}
			return args[0], nil
		})
	}
}
