package arch_test

import (
	"strings"
	"testing"
)

// Planted violations, each with part of what the check must say; "" for what is
// allowed.
func TestPlantedViolations(t *testing.T) {
	const ours = "import _ \"" + module + "/"
	for _, c := range []struct{ path, text, want string }{
		{"catalog/a.go", ours + `identity"`, ""},
		{"catalog/a.go", ours + `internal/db"`, ""},
		{"catalog/a.go", ours + `auth"`, "up from rank 3 to 5"},
		{"catalog/a.go", ours + `assignment"`, "sideways in rank 3"},
		{"catalog/a_test.go", ours + `assignment"`, "sideways in rank 3"},
		{"catalog/a_test.go", ours + `catalog"`, ""},
		{"catalog/a_test.go", ours + `internal/dbtest"`, ""},
		{"catalog/a.go", ours + `internal/dbtest"`, "it is for tests"},
		{"catalog/a.go", ours + `pkg/helper"`, "it has no rank"},
		{"helper/a.go", `import "fmt"`, "package helper has no rank"},
		{"a.go", `import "fmt"`, "package . has no rank"},
		{"internal/cascade/a.go", ours + `resource"`, "up from rank 0 to 1"},
		{"internal/cascade/a.go", ours + `internal/db"`, ""},
		{"internal/dbtest/a.go", ours + `migrations"`, ""},
		{"migrations/a.go", ours + `internal/db"`, ""},
		{"internal/db/a.go", ours + `internal/fault"`, "imports nothing of ours"},
		{"internal/passhash/a.go", ours + `internal/fault"`, ""},
		{"internal/passhash/a.go", ours + `internal/db"`, "imports nothing of ours"},
		{"internal/db/a_test.go", ours + `internal/dbtest"`, ""},
		{"auth/a.go", ours + `auth/method"`, ""},
		{"auth/method/a.go", ours + `auth/token"`, ""},
		{"auth/method/a.go", ours + `auth"`, "does not stand below"},
		{"auth/token/a.go", ours + `auth/method"`, "does not stand below"},
		{"auth/extra/a.go", `import "fmt"`, "no place in auth"},
		{"ratelimit/memory/a.go", ours + `ratelimit"`, ""},
		{"ratelimit/memory/a.go", ours + `internal/db"`, "imports nothing of ours"},
		{"ratelimit/a.go", ours + `ratelimit/memory"`, "does not stand below"},
		{"ratelimit/a_test.go", ours + `ratelimit/memory"`, ""},
		{"ratelimit/a.go", ours + `ratelimit/clientaddr"`, "does not stand below"},
		{"ratelimit/sql/a.go", ours + `internal/db"`, ""},
		{"ratelimit/sql/a.go", ours + `ratelimit/memory"`, ""},
		{"ratelimit/sql/a.go", ours + `policy"`, "sideways"},
		{"identity/a.go", ours + `identity/ldap"`, "does not stand below"},
		{"api/v3/a.go", ours + `cmd/wire"`, "up from rank 6 to 7"},
		{"cmd/wire/a.go", ours + `cmd/keystone-go"`, "does not stand below"},
		{"cmd/keystone-go/a.go", ours + `cmd/wire"`, ""},

		{"api/v3/a.go", `import "github.com/labstack/echo/v4"`, ""},
		{"auth/a.go", `import "github.com/labstack/echo/v4"`, "for api/v3, cmd alone"},
		{"auth/a_test.go", `import "github.com/labstack/echo/v4"`, ""},
		{"internal/db/a.go", `import "github.com/jackc/pgx/v5/pgxpool"`, ""},
		{"internal/dbtest/a.go", `import "github.com/jackc/pgx/v5"`, "for internal/db, cmd alone"},
		{"identity/a_test.go", `import _ "modernc.org/sqlite"`, "for internal/db, cmd alone"},
		{"identity/a.go", `import "database/sql"`, "for internal/db, cmd alone"},
		{"internal/dbtest/a.go", `import "github.com/go-sql-driver/mysql"`, "for internal/db, cmd alone"},
		{"ratelimit/sql/a.go", `import "github.com/redis/go-redis/v9"`, "for ratelimit/redis, cmd alone"},
		{"policy/a.go", `import "gopkg.in/ini.v1"`, "for internal/conf, cmd alone"},
		{"internal/listen/a.go", `import _ "net/http/pprof"`, "for internal/ops, cmd alone"},
		{"policy/a.go", `import "net/http/httptest"`, "alone"},

		{"internal/rules/a.go", "import \"net/http\"\nvar _ http.Client\nvar _ http.Request", ""},
		{"internal/rules/a.go", "import \"net/http\"\nvar _ http.Handler", "uses http.Handler: the server side"},
		{"internal/rules/a.go", "import web \"net/http\"\nvar _ web.ResponseWriter", "uses web.ResponseWriter"},
		{"internal/rules/a.go", "import . \"net/http\"\nvar _ Handler", "imports net/http"},
		{"internal/rules/a_test.go", "import \"net/http\"\nvar _ http.Handler", ""},
		{"internal/ops/a.go", "import \"net/http\"\nvar _ http.Handler", ""},
		{"ratelimit/a.go", "import \"net/http\"\nvar _ http.Handler", ""},
		{"ratelimit/clientaddr/a.go", "import \"net/http\"\nvar _ http.Handler", "the server side"},
		{"cmd/wire/a.go", "import \"net/http\"\nvar _ http.Handler", ""},

		{"auth/a.go", "import \"time\"\nvar _ time.Time", ""},
		{"auth/a.go", "import \"time\"\nvar now = time.Now", "uses time.Now: the clock"},
		{"auth/a.go", "import \"time\"\nvar d = time.Since(time.Time{})", "uses time.Since"},
		{"auth/a_test.go", "import \"time\"\nvar now = time.Now", ""},
		{"migrations/a.go", "import \"time\"\nvar now = time.Now", "the clock"},
		{"internal/fernet/a.go", "import \"time\"\nvar now = time.Now", ""},
		{"ratelimit/memory/a.go", "import \"time\"\nvar now = time.Now", ""},
		{"auth/token/a.go", `import "crypto/rand"`, "imports crypto/rand: chance"},
		{"ratelimit/a.go", `import "math/rand/v2"`, "imports math/rand/v2: chance"},
		{"ratelimit/a.go", "import \"hash/maphash\"\nvar s = maphash.MakeSeed()", ""},
		{"identity/a.go", "import \"hash/maphash\"\nvar s = maphash.MakeSeed()", "chance"},
		{"internal/uuid/a.go", `import "crypto/rand"`, ""},
		{"cmd/keystone-go/a.go", "import \"time\"\nimport \"crypto/rand\"\nvar now = time.Now", ""},
	} {
		s, err := parse(c.path, []byte("package p\n"+c.text))
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		got := strings.Join(s.check(), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s with %q: got %q, want %q", c.path, c.text, got, c.want)
		}
	}
}
