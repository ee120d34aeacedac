package migrations

import (
	"context"
	"fmt"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
)

// reference is a column that names a row of another table, whether the schema
// says so or not. Null names nothing.
type reference struct {
	table, column string
	of, key       string
	when          string // of the rows that it holds for, under the name x; empty: all
	or            string // another place where the row may be, with %s for the column
}

// mapped are users and groups of identity drivers that keep them elsewhere.
const mapped = `select 1 from id_mapping m where m.public_id = %s`

// references leave out what names things that may be gone: revocation events,
// a user's default project, the roles of a domain, which Keystone leaves when
// it goes, and credentials, which may be made for anybody.
var references = []reference{
	{table: "project", column: "domain_id", of: "project", key: "id"},
	{table: "project", column: "parent_id", of: "project", key: "id"},
	{table: "project_tag", column: "project_id", of: "project", key: "id"},
	{table: "project_option", column: "project_id", of: "project", key: "id"},
	{table: "project_endpoint", column: "project_id", of: "project", key: "id"},
	{table: "project_endpoint", column: "endpoint_id", of: "endpoint", key: "id"},
	{table: "project_endpoint_group", column: "project_id", of: "project", key: "id"},
	{table: "project_endpoint_group", column: "endpoint_group_id", of: "endpoint_group", key: "id"},
	{table: "endpoint", column: "service_id", of: "service", key: "id"},
	{table: "endpoint", column: "region_id", of: "region", key: "id"},
	{table: "region", column: "parent_region_id", of: "region", key: "id"},
	{table: "policy_association", column: "policy_id", of: "policy", key: "id"},
	{table: "policy_association", column: "endpoint_id", of: "endpoint", key: "id"},
	{table: "policy_association", column: "service_id", of: "service", key: "id"},
	{table: "policy_association", column: "region_id", of: "region", key: "id"},
	{table: "registered_limit", column: "service_id", of: "service", key: "id"},
	{table: "registered_limit", column: "region_id", of: "region", key: "id"},
	{table: "limit", column: "registered_limit_id", of: "registered_limit", key: "id"},
	{table: "limit", column: "project_id", of: "project", key: "id"},
	{table: "limit", column: "domain_id", of: "project", key: "id"},
	{table: "user", column: "domain_id", of: "project", key: "id"},
	{table: "user_option", column: "user_id", of: "user", key: "id"},
	{table: "local_user", column: "user_id", of: "user", key: "id"},
	{table: "nonlocal_user", column: "user_id", of: "user", key: "id"},
	{table: "federated_user", column: "user_id", of: "user", key: "id"},
	{table: "federated_user", column: "idp_id", of: "identity_provider", key: "id"},
	{table: "password", column: "local_user_id", of: "local_user", key: "id"},
	{table: "group", column: "domain_id", of: "project", key: "id"},
	{table: "user_group_membership", column: "user_id", of: "user", key: "id", or: mapped},
	{table: "user_group_membership", column: "group_id", of: "group", key: "id"},
	{table: "expiring_user_group_membership", column: "user_id", of: "user", key: "id"},
	{table: "expiring_user_group_membership", column: "group_id", of: "group", key: "id"},
	{table: "id_mapping", column: "domain_id", of: "project", key: "id"},
	{table: "role_option", column: "role_id", of: "role", key: "id"},
	{table: "implied_role", column: "prior_role_id", of: "role", key: "id"},
	{table: "implied_role", column: "implied_role_id", of: "role", key: "id"},
	{table: "assignment", column: "role_id", of: "role", key: "id"},
	{table: "assignment", column: "target_id", of: "project", key: "id"},
	{table: "assignment", column: "actor_id", of: "user", key: "id", when: `x.type in ('UserProject', 'UserDomain')`, or: mapped},
	{table: "assignment", column: "actor_id", of: "group", key: "id", when: `x.type in ('GroupProject', 'GroupDomain')`, or: mapped},
	{table: "system_assignment", column: "role_id", of: "role", key: "id"},
	{table: "system_assignment", column: "actor_id", of: "user", key: "id", when: `x.type = 'UserSystem'`, or: mapped},
	{table: "system_assignment", column: "actor_id", of: "group", key: "id", when: `x.type = 'GroupSystem'`, or: mapped},
	{table: "trust_role", column: "trust_id", of: "trust", key: "id"},
	{table: "application_credential", column: "project_id", of: "project", key: "id"},
	{table: "application_credential", column: "user_id", of: "user", key: "id", or: mapped},
	{table: "application_credential_role", column: "role_id", of: "role", key: "id"},
	{table: "access_rule", column: "user_id", of: "user", key: "id", or: mapped},
	{table: "access_token", column: "consumer_id", of: "consumer", key: "id"},
	{table: "request_token", column: "consumer_id", of: "consumer", key: "id"},
	{table: "identity_provider", column: "domain_id", of: "project", key: "id"},
	{table: "idp_remote_ids", column: "idp_id", of: "identity_provider", key: "id"},
	{table: "federation_protocol", column: "idp_id", of: "identity_provider", key: "id"},
	{table: "federation_protocol", column: "mapping_id", of: "mapping", key: "id"},
	{table: "whitelisted_config", column: "domain_id", of: "project", key: "id"},
	{table: "sensitive_config", column: "domain_id", of: "project", key: "id"},
	{table: "config_register", column: "domain_id", of: "project", key: "id"},
}

// Orphans are rows of a table whose column names what is not there.
type Orphans struct {
	Table, Column, Of string
	Rows              int64
}

// String is a sentence about them.
func (o Orphans) String() string {
	return fmt.Sprintf("%d rows of %s have a %s that no %s has", o.Rows, o.Table, o.Column, o.Of)
}

func (r reference) query() db.Query[int64] {
	column := "x." + r.column
	var b strings.Builder
	fmt.Fprintf(&b, `select count(*) from "%s" x where %s is not null and not exists (select 1 from "%s" y where y.%s = %s)`, r.table, column, r.of, r.key, column)
	if r.when != "" {
		b.WriteString(" and " + r.when)
	}
	if r.or != "" {
		b.WriteString(" and not exists (" + fmt.Sprintf(r.or, column) + ")")
	}
	return db.Query[int64]{Text: b.String(), Scan: func(row db.Row) (n int64, err error) {
		err = row.Scan(&n)
		return n, err
	}}
}

// FindOrphans follows every reference in the database. It reads whole tables.
func FindOrphans(ctx context.Context, c db.Conn) ([]Orphans, error) {
	var b db.Batch
	counts := make([]*db.Result[int64], len(references))
	for i, r := range references {
		counts[i] = db.Add(&b, r.query())
	}
	if err := c.Send(ctx, &b); err != nil {
		return nil, fmt.Errorf("look for what is referred to and not there: %w", err)
	}
	var found []Orphans
	for i, r := range references {
		n, err := counts[i].One()
		if err != nil {
			return nil, err
		}
		if n > 0 {
			found = append(found, Orphans{r.table, r.column, r.of, n})
		}
	}
	return found, nil
}
