package clients_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
)

// grantDomain makes admin an admin of the domain Default as well: bootstrap
// does not, and logins with that scope are tested.
func grantDomain(t *testing.T, s server) {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: s.database})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	changed, err := d.Exec(t.Context(), `insert into assignment (type, actor_id, target_id, role_id, inherited)
		select $1, actor_id, $2, role_id, $3
		from assignment
		where type = $4`, "UserDomain", "default", false, "UserProject")
	if err != nil || changed != 1 {
		t.Fatalf("grant admin on the domain Default: %d rows, %v", changed, err)
	}
}
