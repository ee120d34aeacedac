package v3_test

import (
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func day(n int) time.Time { return time.Date(2027, 1, n, 0, 0, 0, 0, time.UTC) }

func TestRevokeEvents(t *testing.T) {
	const all = "/v3/OS-REVOKE/events"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for i, values := range []string{
			`'u', null, null, 'p', null, null, null, null, null, null, $1, $2`,
			`null, 'r', 'd', null, 'a', 'c', 't', 'k', 'o', null, $1, $2`,
			`null, null, 'd', null, null, null, null, null, null, $1, $1, $2`,
		} {
			_, err := d.Exec(t.Context(), `insert into revocation_event (user_id, role_id, domain_id, project_id, audit_id, audit_chain_id, trust_id, consumer_id, access_token_id, expires_at, issued_before, revoked_at) values (`+values+`)`,
				day(1), day(5-i))
			if err != nil {
				t.Fatal(err)
			}
		}
		const (
			third  = `{"domain_scope_id": "d", "expires_at": "2027-01-01T00:00:00Z", "issued_before": "2027-01-01T00:00:00.000000Z", "revoked_at": "2027-01-03T00:00:00.000000Z"}`
			second = `{"role_id": "r", "domain_id": "d", "audit_id": "a", "audit_chain_id": "c", "OS-TRUST:trust_id": "t", "OS-OAUTH1:consumer_id": "k", "OS-OAUTH1:access_token_id": "o", "issued_before": "2027-01-01T00:00:00.000000Z", "revoked_at": "2027-01-04T00:00:00.000000Z"}`
			first  = `{"user_id": "u", "project_id": "p", "issued_before": "2027-01-01T00:00:00.000000Z", "revoked_at": "2027-01-05T00:00:00.000000Z"}`
			links  = `"links": {"next": null, "self": "http://127.0.0.1:5000/v3/OS-REVOKE/events", "previous": null}}` + "\n"
		)
		script(t, newStand(t, setup{db: d}), []step{
			{"all", "GET", all, "tok-admin", "", 200, `{"events": [` + third + `, ` + second + `, ` + first + `], ` + links},
			{"to a service", "GET", all, "tok-service", "", 200, third},
			{"to a member", "GET", all, "tok-member", "", 403, "identity:list_revoke_events"},
			{"without a token", "GET", all, "", "", 401, ""},
			{"since a time", "GET", all + "?since=2027-01-04T00:00:00Z", "tok-admin", "", 200, `{"events": [` + first + `], ` + links},
			{"since that time elsewhere", "GET", all + "?since=2027-01-04T01:00:00%2B01:00&since=x", "tok-admin", "", 200, `{"events": [` + first + `], ` + links},
			{"since later", "GET", all + "?since=2028", "tok-admin", "", 200, `{"events": [], ` + links},
			{"since nothing", "GET", all + "?since=", "tok-admin", "", 200, third},
			{"since no time", "GET", all + "?since=x", "tok-admin", "", 400, "invalidate date format x"},
			{"since no time by a member", "GET", all + "?since=x", "tok-member", "", 403, ""},
		})
	})
}
