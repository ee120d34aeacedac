package resource

import "github.com/keystone-go/keystone-go/internal/db"

// Held finds a project's id, if there is one, and keeps its row from being
// changed until the transaction is over.
func Held(d db.Dialect, id string) db.Query[string] {
	return db.Query[string]{Text: `select p.id from project p where p.id = $1` + db.ForUpdate(d), Args: []any{id}, Scan: scanText}
}
