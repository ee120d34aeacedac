package v3_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func TestDomainConfigs(t *testing.T) {
	const of, none, usual = "/v3/domains/default/config", "/v3/domains/none/config", "/v3/domains/config"
	const notSupported = "Group token is not supported for domain specific configurations."
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", of, "tok-admin", "", 404, "Could not find any options in domain configuration for domain default."},
			{"show by a member", "GET", of, "tok-member", "", 403, "identity:get_domain_config"},
			{"show without a token", "GET", of, "", "", 401, ""},
			{"show of no domain", "GET", none, "tok-admin", "", 404, "Could not find any options in domain configuration for domain none."},
			{"show of no domain by a member", "GET", none, "tok-member", "", 403, "identity:get_domain_config"},
			{"set by a member", "PUT", of, "tok-member", `{"config": {"ldap": {"url": "u"}}}`, 403, "identity:create_domain_config"},
			{"set without a token", "PUT", of, "", `{}`, 401, ""},
			{"set of no domain", "PUT", none, "tok-admin", `{}`, 404, "Could not find domain: none."},
			{"set nothing", "PUT", of, "tok-admin", `{}`, 403, "Invalid domain specific configuration: No options specified."},
			{"set without a body", "PUT", of, "tok-admin", "", 403, "No options specified."},
			{"set a text", "PUT", of, "tok-admin", `{"config": "x"}`, 400, ""},
			{"set", "PUT", of, "tok-admin", `{"config": {"ldap": {"url": "u", "password": "hush"}, "identity": {"driver": "ldap"}}, "more": 1}`, 201, `{"config": {"identity": {"driver": "ldap"}, "ldap": {"url": "u"}}}` + "\n"},
			{"set again", "PUT", of, "tok-admin", `{"config": {"ldap": {"url": "v", "password": "hush"}}}`, 200, `{"config": {"ldap": {"url": "v"}}}`},
			{"all", "GET", of, "tok-admin", "", 200, `{"config": {"ldap": {"url": "v"}}}`},
			{"a group", "GET", of + "/ldap", "tok-admin", "", 200, `{"config": {"ldap": {"url": "v"}}}`},
			{"an option", "GET", of + "/ldap/url", "tok-admin", "", 200, `{"config": {"url": "v"}}`},
			{"a secret", "GET", of + "/ldap/password", "tok-admin", "", 404, "Could not find option password in group ldap in domain configuration for domain default."},
			{"an option by a member", "GET", of + "/ldap/url", "tok-member", "", 403, "identity:get_domain_config"},
			{"another group", "GET", of + "/token", "tok-admin", "", 403, notSupported},
			{"rules", "GET", of + "/security_compliance", "tok-member", "", 200, `{"config": {"security_compliance": {"password_regex": "^a", "password_regex_description": null}}}`},
			{"a rule", "GET", of + "/security_compliance/password_regex", "tok-member", "", 200, `{"config": {"password_regex": "^a"}}`},
			{"another rule", "GET", of + "/security_compliance/lockout_duration", "tok-member", "", 403, "Reading security compliance values other than"},
			{"rules of another domain", "GET", none + "/security_compliance", "tok-member", "", 403, "Reading security compliance information for any domain other than the default domain"},
			{"rules without a token", "GET", of + "/security_compliance", "", "", 401, ""},
			{"change by a member", "PATCH", of, "tok-member", `{}`, 403, "identity:update_domain_config"},
			{"change of no domain", "PATCH", none + "/token", "tok-admin", `{}`, 404, "Could not find domain: none."},
			{"change", "PATCH", of, "tok-admin", `{"config": {"identity": {"driver": "sql"}}}`, 200, `{"config": {"identity": {"driver": "sql"}, "ldap": {"url": "v"}}}`},
			{"change a group", "PATCH", of + "/ldap", "tok-admin", `{"config": {"ldap": {"user": "w"}}}`, 200, `{"config": {"identity": {"driver": "sql"}, "ldap": {"url": "v", "user": "w"}}}`},
			{"change an option", "PATCH", of + "/ldap/url", "tok-admin", `{"config": {"url": "x"}}`, 200, `{"config": {"identity": {"driver": "sql"}, "ldap": {"url": "x", "user": "w"}}}`},
			{"change another option", "PATCH", of + "/ldap/url", "tok-admin", `{"config": {"user": "x"}}`, 403, "but config provided contains option user instead"},
			{"change an option by a member", "PATCH", of + "/ldap/url", "tok-member", `{"config": {"url": "x"}}`, 403, "identity:update_domain_config"},
			{"change what is not set", "PATCH", of + "/ldap/suffix", "tok-admin", `{"config": {"suffix": "x"}}`, 404, "Could not find option suffix in group ldap"},
			{"remove by a member", "DELETE", of + "/ldap/url", "tok-member", "", 403, "identity:delete_domain_config"},
			{"remove of no domain", "DELETE", none, "tok-admin", "", 404, "Could not find domain: none."},
			{"remove an option", "DELETE", of + "/ldap/url", "tok-admin", "", 204, ""},
			{"remove it again", "DELETE", of + "/ldap/url", "tok-admin", "", 404, "Could not find option url in group ldap"},
			{"remove a group", "DELETE", of + "/ldap", "tok-admin", "", 204, ""},
			{"remove another group", "DELETE", of + "/token", "tok-admin", "", 403, notSupported},
			{"what is left", "GET", of, "tok-admin", "", 200, `{"config": {"identity": {"driver": "sql"}}}`},
			{"remove all", "DELETE", of, "tok-admin", "", 204, ""},
			{"remove nothing", "DELETE", of, "tok-admin", "", 204, ""},
			{"what holds anyway", "GET", usual + "/default", "tok-admin", "", 200, `{"config": {"identity": {"driver": "sql", "list_limit": null}, "ldap": {"url": "ldap://localhost", "user": null, `},
			{"of a group", "GET", usual + "/identity/default", "tok-admin", "", 200, `{"config": {"identity": {"driver": "sql", "list_limit": null}}}`},
			{"of an option", "GET", usual + "/ldap/user_attribute_ignore/default", "tok-admin", "", 200, `{"config": {"user_attribute_ignore": ["default_project_id"]}}`},
			{"of a secret", "GET", usual + "/ldap/password/default", "tok-admin", "", 403, "Reading the default for option password in group ldap is not supported."},
			{"of another group", "GET", usual + "/token/default", "tok-admin", "", 403, notSupported},
			{"by a member", "GET", usual + "/default", "tok-member", "", 403, "identity:get_domain_config_default"},
			{"without a token", "GET", usual + "/ldap/default", "", "", 401, ""},
		})
	})
}

// TestDomainConfigNames: a domain may be called config, and a group default.
func TestDomainConfigNames(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		script(t, newStand(t, setup{db: d}), []step{
			{"the domain", "GET", "/v3/domains/config", "tok-admin", "", 404, "Could not find domain: config."},
			{"its options", "GET", "/v3/domains/config/config", "tok-admin", "", 404, "for domain config."},
			{"its group", "GET", "/v3/domains/config/config/ldap", "tok-admin", "", 404, "group ldap in domain configuration for domain config."},
			{"its option", "GET", "/v3/domains/config/config/ldap/url", "tok-admin", "", 404, "option url in group ldap in domain configuration for domain config."},
			{"its group of the other name", "PATCH", "/v3/domains/config/config/default", "tok-admin", `{"config": {}}`, 404, "Could not find domain: config."},
			{"the defaults of the group config", "GET", "/v3/domains/config/config/default", "tok-admin", "", 403, "Group config is not supported"},
			{"the default of an option of it", "GET", "/v3/domains/config/config/ldap/default", "tok-admin", "", 403, "Group config is not supported"},
			{"no write of defaults", "PUT", "/v3/domains/config/default", "tok-admin", "{}", 405, ""},
			{"a role in it", "GET", "/v3/domains/config/users/none/roles", "tok-admin", "", 404, "Could not find domain: config."},
		})
	})
}

// TestDomainConfigSecrets: no value of a secret option, those of the operator
// among them, is in an answer, in the log or in what a rule may look at.
func TestDomainConfigSecrets(t *testing.T) {
	const secret = "n0b0dy-may-see-this"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		rules, all := &seen{}, resources(t, d)
		all.DomainConfigs.AdditionalSecrets = map[string][]string{"vault": {"pin"}}
		st := newStand(t, setup{db: d, rows: v3.Table(all), change: func(c *v3.Config) { c.Policy = rules }})
		answers := ""
		for _, c := range []call{
			{method: "PUT", path: "/v3/domains/default/config", body: `{"config": {"ldap": {"password": "` + secret + `", "url": "seen"}, "vault": {"pin": "` + secret + `"}}}`},
			{method: "PATCH", path: "/v3/domains/default/config", body: `{"config": {"ldap": {"user": "%(none)s", "password": "` + secret + `"}, "vault": {"pin": "` + secret + `"}}}`},
			{method: "PATCH", path: "/v3/domains/default/config/vault", body: `{"config": {"vault": {"pin": "` + secret + `"}}}`},
			{method: "PATCH", path: "/v3/domains/default/config/vault/pin", body: `{"config": {"pin": "` + secret + `"}}`},
			{method: "PATCH", path: "/v3/domains/default/config/ldap/url", body: `{"config": {"password": "` + secret + `"}}`},
			{method: "PUT", path: "/v3/domains/default/config", body: `{"config": {"vault": "` + secret + `"}, "more": "seen"}`},
			{method: "PATCH", path: "/v3/domains/default/config/vault/pin", body: `{"config": "` + secret + `"}`},
			{path: "/v3/domains/default/config"},
			{path: "/v3/domains/default/config/ldap"},
			{path: "/v3/domains/default/config/vault"},
			{path: "/v3/domains/default/config/vault/pin"},
			{path: "/v3/domains/config/default"},
			{path: "/v3/domains/config/vault/default"},
		} {
			c.token = "tok-admin"
			w := st.do(c)
			answers += w.Body.String()
			if w.Code == http.StatusInternalServerError || w.Code == http.StatusUnauthorized {
				t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
			}
		}
		looked := fmt.Sprint(rules.targets)
		for what, text := range map[string]string{"an answer": answers, "the log": st.log.String(), "a rule": looked} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has the secret: %s", what, text)
			}
		}
		if !strings.Contains(looked, "seen") || !strings.Contains(answers, "seen") {
			t.Errorf("the rest is hidden too: %s", looked)
		}
	})
}
