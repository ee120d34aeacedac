package credential

import (
	"context"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

var source = hints.Source[Credential]{
	Select: `select c.id, c.user_id, c.project_id, c.type, c.encrypted_blob, c.key_hash, c.extra from credential c`,
	Columns: map[string]hints.Column{
		"user_id": {SQL: "c.user_id", Max: 64},
		"type":    {SQL: "c.type", Max: 255},
	},
	ID:   "c.id",
	Scan: scan,
}

func scan(r db.Row) (Credential, error) {
	var c Credential
	var extra *string
	err := r.Scan(&c.ID, &c.UserID, &c.ProjectID, &c.Type, &c.sealed, &c.keyHash, &extra)
	if extra != nil {
		c.Extra = pyjson.ReadExtra(*extra)
	}
	return c, err
}

func byID(id string) db.Query[Credential] {
	return db.Query[Credential]{Text: source.Select + ` where c.id = $1`, Args: []any{id}, Scan: scan}
}

func (n Credential) store(ctx context.Context, c db.Conn) error {
	_, err := c.Exec(ctx, `insert into credential (id, user_id, project_id, type, encrypted_blob, key_hash, extra)
values ($1, $2, $3, $4, $5, $6, $7)`, n.ID, n.UserID, n.ProjectID, n.Type, n.sealed, n.keyHash, pyjson.WriteExtra(n.Extra))
	return err
}

// userHeld keeps the row of a user, if there is one, until the transaction is
// over.
func userHeld(d db.Dialect, id string) db.Query[string] {
	return db.Query[string]{Text: `select id from "user" where id = $1` + db.ForUpdate(d), Args: []any{id}, Scan: db.ScanText}
}

func countOf(userID string) db.Query[int64] {
	return db.Query[int64]{
		Text: `select count(*) from credential where user_id = $1`,
		Args: []any{userID},
		Scan: func(r db.Row) (n int64, err error) { return n, r.Scan(&n) },
	}
}
