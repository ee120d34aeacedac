package auth

import (
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/db"
)

// common is what all tokens share, read in one statement: a way from role to
// role, or an enabled service provider.
type common struct {
	provider    ServiceProvider
	implication assignment.Implication
	isProvider  bool
}

var commonRows = db.Query[common]{
	Text: `select 'implies', i.prior_role_id, r.id, r.name, r.domain_id from implied_role i join role r on r.id = i.implied_role_id
union all
select 'provider', s.id, s.auth_url, s.sp_url, '' from service_provider s where s.enabled = $1`,
	Args: []any{true},
	Scan: func(r db.Row) (common, error) {
		var kind, a, b, c, d string
		if err := r.Scan(&kind, &a, &b, &c, &d); err != nil {
			return common{}, err
		}
		if kind == "provider" {
			return common{isProvider: true, provider: ServiceProvider{ID: a, AuthURL: b, SPURL: c}}, nil
		}
		return common{implication: assignment.Implication{Prior: a, Role: assignment.NewRole(b, c, d)}}, nil
	},
}

func providersOf(rows []common) []ServiceProvider {
	var out []ServiceProvider
	for _, r := range rows {
		if r.isProvider {
			out = append(out, r.provider)
		}
	}
	slices.SortFunc(out, func(a, b ServiceProvider) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func implicationsOf(rows []common) []assignment.Implication {
	out := make([]assignment.Implication, 0, len(rows))
	for _, r := range rows {
		if !r.isProvider {
			out = append(out, r.implication)
		}
	}
	return out
}
