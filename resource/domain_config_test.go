package resource_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// config reads what a domain has set, secrets behind the rest.
func (s *stand) config(domainID string) string {
	s.Helper()
	var all []string
	for _, table := range []string{"whitelisted_config", "sensitive_config"} {
		list, err := db.All(s.Context(), s.db, db.Query[string]{
			Text: `select "group" || '.' || "option" || '=' || value from ` + table + ` where domain_id = $1 order by "group", "option"`,
			Args: []any{domainID},
			Scan: func(r db.Row) (text string, err error) { err = r.Scan(&text); return text, err },
		})
		s.must(err)
		all = append(all, strings.Join(list, " "))
	}
	return strings.Join(all, " | ")
}

// TestDomainConfigs: a set takes the place of all that was there, keeps
// secrets apart, and touches no other domain.
func TestDomainConfigs(t *testing.T) {
	each(t, func(s *stand) {
		c := resource.DomainConfigs{DB: s.db}
		has := func(want bool) {
			s.Helper()
			if got, err := c.Has(s.Context(), "a"); err != nil || got != want {
				s.Errorf("has options: %v, %v, want %v", got, err, want)
			}
		}
		has(false)
		s.must(c.Set(s.Context(), "b", resource.DomainOptions{"identity": {"driver": "sql"}}))
		has(false)
		s.must(c.Set(s.Context(), "a", resource.DomainOptions{"ldap": {"password": "pä", "url": "u", "page_size": 5}, "identity": {"driver": "ldap"}}))
		has(true)
		if got, want := s.config("a"), `identity.driver="ldap" ldap.page_size=5 ldap.url="u" | ldap.password="p\u00e4"`; got != want {
			s.Errorf("got %s, want %s", got, want)
		}
		s.must(c.Set(s.Context(), "a", resource.DomainOptions{"ldap": {"password": "q"}}))
		has(true)
		if got, want := s.config("a")+s.config("b"), ` | ldap.password="q"`+`identity.driver="sql" | `; got != want {
			s.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestDomainConfigRefuses: what no domain may set changes nothing.
func TestDomainConfigRefuses(t *testing.T) {
	each(t, func(s *stand) {
		c := resource.DomainConfigs{DB: s.db}
		s.must(c.Set(s.Context(), "a", resource.DomainOptions{"identity": {"driver": "ldap"}}))
		for want, options := range map[string]resource.DomainOptions{
			"No options specified": {},
			"The value of group ldap specified in the config should be a dictionary of options":           {"identity": {"driver": "x"}, "ldap": {}},
			"Group token is not supported for domain specific configurations":                             {"identity": {"driver": "x"}, "token": {"expiration": 1}},
			"Group LDAP is not supported for domain specific configurations":                              {"LDAP": {"url": "u"}},
			"Option randomize_urls in group ldap is not supported for domain specific configurations":     {"identity": {"driver": "x"}, "ldap": {"url": "u", "randomize_urls": true}},
			"Option connection_timeout in group ldap is not supported for domain specific configurations": {"ldap": {"connection_timeout": 1}},
		} {
			err := c.Set(s.Context(), "a", options)
			if !fault.Is(err, fault.Forbidden) || err.Error() != "Invalid domain specific configuration: "+want+"." {
				s.Errorf("got %v, want %s", err, want)
			}
			if got := s.config("a"); got != `identity.driver="ldap" | ` {
				s.Errorf("%s: the domain has %s", want, got)
			}
		}
	})
}

// TestDomainConfigAdditional: options of the operator's stand in the place of
// those of their group.
func TestDomainConfigAdditional(t *testing.T) {
	each(t, func(s *stand) {
		c := resource.DomainConfigs{
			DB: s.db, Additional: map[string][]string{"ldap": {"mine"}, "other": {"x"}},
			AdditionalSecrets: map[string][]string{"ldap": {"url"}, "vault": {"y"}},
		}
		s.must(c.Set(s.Context(), "a", resource.DomainOptions{"identity": {"driver": "d"}, "ldap": {"mine": "1", "url": "2"}, "other": {"x": "3"}, "vault": {"y": "4"}}))
		if got, want := s.config("a"), `identity.driver="d" ldap.mine="1" other.x="3" | ldap.url="2" vault.y="4"`; got != want {
			s.Errorf("got %s, want %s", got, want)
		}
		if err := c.Set(s.Context(), "a", resource.DomainOptions{"ldap": {"password": "p"}}); !fault.Is(err, fault.Forbidden) {
			s.Errorf("an option of Keystone's in a group that was given anew: got %v", err)
		}
	})
}
