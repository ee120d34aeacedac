package resource_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
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

// options reads JSON.
func (s *stand) options(text string) any {
	s.Helper()
	v, err := pyjson.Decode([]byte(text))
	s.must(err)
	return v
}

// set stores options of a domain, and gives what is shown of them.
func (s *stand) set(c resource.DomainConfigs, domainID, text string) string {
	s.Helper()
	shown, _, err := c.Set(s.Context(), domainID, s.options(text))
	s.must(err)
	return pyjson.Encode(shown)
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
		s.set(c, "b", `{"identity": {"driver": "sql"}}`)
		has(false)
		shown := s.set(c, "a", `{"ldap": {"password": "p\u00e4", "url": "u", "page_size": 5}, "identity": {"driver": "ldap"}}`)
		has(true)
		if want := `{"identity": {"driver": "ldap"}, "ldap": {"page_size": 5, "url": "u"}}`; shown != want {
			s.Errorf("shown is %s, want %s", shown, want)
		}
		if got, want := s.config("a"), `identity.driver="ldap" ldap.page_size=5 ldap.url="u" | ldap.password="p\u00e4"`; got != want {
			s.Errorf("got %s, want %s", got, want)
		}
		if shown := s.set(c, "a", `{"ldap": {"password": "q"}}`); shown != "{}" {
			s.Errorf("shown is %s, want nothing", shown)
		}
		has(true)
		if got, want := s.config("a")+s.config("b"), ` | ldap.password="q"`+`identity.driver="sql" | `; got != want {
			s.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestDomainConfigRefuses: what no domain may set changes nothing. The first
// fault, in the order of the body, is told.
func TestDomainConfigRefuses(t *testing.T) {
	const group, option = "Group %s is not supported for domain specific configurations", "Option %s in group %s is not supported for domain specific configurations"
	const noDict = "The value of group ldap specified in the config should be a dictionary of options"
	each(t, func(s *stand) {
		c := resource.DomainConfigs{DB: s.db}
		s.set(c, "a", `{"identity": {"driver": "ldap"}}`)
		for text, want := range map[string]string{
			`{}`: "No options specified", `null`: "No options specified", `[]`: "No options specified", `""`: "No options specified",
			`0.0`: "No options specified", `false`: "No options specified",
			`{"identity": {"driver": "x"}, "ldap": {}}`:      noDict,
			`{"ldap": "url", "token": {"expiration": 1}}`:    noDict,
			`{"ldap": [{"url": "u"}]}`:                       noDict,
			`{"token": {"expiration": 1}, "ldap": null}`:     fmt.Sprintf(group, "token"),
			`{"LDAP": {"url": "u"}}`:                         fmt.Sprintf(group, "LDAP"),
			`{"": {"url": "u"}}`:                             fmt.Sprintf(group, ""),
			`{"": {"": "u"}}`:                                fmt.Sprintf(option, "", ""),
			`{"ldap": {"": "u"}}`:                            fmt.Sprintf(option, "", "ldap"),
			`{"ldap": {"url": "u", "randomize_urls": true}}`: fmt.Sprintf(option, "randomize_urls", "ldap"),
			`{"ldap": {"connection_timeout": 1}}`:            fmt.Sprintf(option, "connection_timeout", "ldap"),
		} {
			_, _, err := c.Set(s.Context(), "a", s.options(text))
			_, uerr := c.Update(s.Context(), "a", resource.ConfigPath{}, s.options(text))
			for _, err := range []error{err, uerr} {
				if !fault.Is(err, fault.Forbidden) || err.Error() != "Invalid domain specific configuration: "+want+"." {
					s.Errorf("%s: got %v, want %s", text, err, want)
				}
			}
			if got := s.config("a"); got != `identity.driver="ldap" | ` {
				s.Errorf("%s: the domain has %s", text, got)
			}
		}
		for _, text := range []string{`"ldap"`, `5`, `true`, `[{"ldap": {}}]`} {
			if _, _, err := c.Set(s.Context(), "a", s.options(text)); !fault.Is(err, fault.BadRequest) {
				s.Errorf("%s: got %v, want 400", text, err)
			}
		}
		for _, id := range []string{"none", "p", resource.RootDomainID} {
			if _, _, err := c.Set(s.Context(), id, s.options(`{}`)); !fault.Is(err, fault.NotFound) {
				s.Errorf("%s: got %v, want 404", id, err)
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
			Running:           func(group, option string) (any, bool) { return group + "." + option, group != "vault" && option != "x" },
		}
		s.set(c, "a", `{"identity": {"driver": "d"}, "ldap": {"mine": "1", "url": "2"}, "other": {"x": "3"}, "vault": {"y": "4"}}`)
		if got, want := s.config("a"), `identity.driver="d" ldap.mine="1" other.x="3" | ldap.url="2" vault.y="4"`; got != want {
			s.Errorf("got %s, want %s", got, want)
		}
		if _, _, err := c.Set(s.Context(), "a", s.options(`{"ldap": {"password": "p"}}`)); !fault.Is(err, fault.Forbidden) {
			s.Errorf("an option of Keystone's in a group that was given anew: got %v", err)
		}
		for at, want := range map[resource.ConfigPath]string{
			{}:                              `{"identity": {"driver": "identity.driver", "list_limit": "identity.list_limit"}, "ldap": {"mine": "ldap.mine"}}`,
			{Group: "vault"}:                `{}`,
			{Group: "other"}:                `{}`,
			{Group: "other", Option: "x"}:   "Invalid domain specific configuration: Reading the default for option x in group other is not supported.",
			{Group: "ldap", Option: "url"}:  "Invalid domain specific configuration: Reading the default for option url in group ldap is not supported.",
			{Group: "ldap", Option: "mine"}: `{"mine": "ldap.mine"}`,
		} {
			got, err := c.Default(at)
			if text := pyjson.Encode(got); err == nil && text != want || err != nil && err.Error() != want {
				s.Errorf("default of %s: got %s, %v, want %s", at, text, err, want)
			}
		}
	})
}

// TestDomainConfigPaths reads, changes and removes all, a group, an option.
func TestDomainConfigPaths(t *testing.T) {
	all, ldap, url, secret := resource.ConfigPath{}, resource.ConfigPath{Group: "ldap"}, resource.ConfigPath{Group: "ldap", Option: "url"}, resource.ConfigPath{Group: "ldap", Option: "password"}
	pages := resource.ConfigPath{Group: "ldap", Option: "page_size"}
	const missing, invalid = "Could not find %s in domain configuration for domain a.", "Invalid domain specific configuration: %s."
	each(t, func(s *stand) {
		c := resource.DomainConfigs{DB: s.db}
		s.set(c, "b", `{"ldap": {"url": "other", "password": "other"}}`)
		get, remove := "get", "delete"
		for i, x := range []struct {
			do   string // get, delete, or a body to store
			at   resource.ConfigPath
			want string
		}{
			{get, all, fmt.Sprintf(missing, "any options")},
			{get, ldap, fmt.Sprintf(missing, "group ldap")},
			{get, url, fmt.Sprintf(missing, "option url in group ldap")},
			{remove, ldap, fmt.Sprintf(missing, "group ldap")},
			{remove, url, fmt.Sprintf(missing, "group ldap")},
			{remove, all, ""},
			{`{"ldap": {"url": "u"}}`, ldap, fmt.Sprintf(missing, "group ldap")},
			{`{"ldap": {"password": "p"}}`, all, "{}"},
			{get, all, fmt.Sprintf(missing, "any options")},
			{get, secret, fmt.Sprintf(missing, "option password in group ldap")},
			{`{"url": "u"}`, url, fmt.Sprintf(missing, "option url in group ldap")},
			{remove, url, fmt.Sprintf(missing, "option url in group ldap")},
			{`{"ldap": {"url": "u", "page_size": 0}}`, ldap, `{"ldap": {"page_size": 0, "url": "u"}}`},
			{`{"identity": {"driver": "x"}}`, all, `{"identity": {"driver": "x"}, "ldap": {"page_size": 0, "url": "u"}}`},
			{get, ldap, `{"ldap": {"page_size": 0, "url": "u"}}`},
			{get, url, `{"url": "u"}`},
			{`{"password": "q"}`, secret, `{"identity": {"driver": "x"}, "ldap": {"page_size": 0, "url": "u"}}`},
			{`{"url": null}`, url, `{"identity": {"driver": "x"}, "ldap": {"page_size": 0, "url": null}}`},
			{`{"ldap": {"url": "v"}, "identity": {"driver": "y"}}`, ldap, fmt.Sprintf(invalid, "Trying to update group ldap, so that, and only that, group must be specified in the config")},
			{`{"identity": {"driver": "y"}}`, ldap, fmt.Sprintf(invalid, "request to update group ldap, but config provided contains group identity instead")},
			{`{"url": "v", "user": "w"}`, url, fmt.Sprintf(invalid, "Trying to update option url in group ldap, so that, and only that, option must be specified  in the config")},
			{`{"user": "w"}`, url, fmt.Sprintf(invalid, "Trying to update option url in group ldap, but config provided contains option user instead")},
			{`"w"`, url, fmt.Sprintf(invalid, "The value of group ldap specified in the config should be a dictionary of options")},
			{`{"ldap": {"url": "v"}}`, resource.ConfigPath{Group: "token"}, fmt.Sprintf(invalid, "Group token is not supported for domain specific configurations")},
			{get, resource.ConfigPath{Group: "ldap", Option: "timeout"}, fmt.Sprintf(invalid, "Option timeout in group ldap is not supported for domain specific configurations")},
			{remove, resource.ConfigPath{Group: "token"}, fmt.Sprintf(invalid, "Group token is not supported for domain specific configurations")},
			{remove, pages, ""},
			{remove, secret, ""},
			{get, all, `{"identity": {"driver": "x"}, "ldap": {"url": null}}`},
			{remove, ldap, ""},
			{get, all, `{"identity": {"driver": "x"}}`},
			{remove, all, ""},
		} {
			var shown pyjson.Object
			var err error
			switch x.do {
			case get:
				shown, err = c.Get(s.Context(), "a", x.at)
			case remove:
				err = c.Delete(s.Context(), "a", x.at)
			default:
				shown, err = c.Update(s.Context(), "a", x.at, s.options(x.do))
			}
			got := ""
			if err != nil {
				got = err.Error()
			} else if x.do != remove {
				got = pyjson.Encode(shown)
			}
			if got != x.want {
				s.Errorf("%d: %s %s: got %s, want %s", i, x.do, x.at, got, x.want)
			}
		}
		if got := s.config("a") + s.config("b"); got != ` | ldap.url="other" | ldap.password="other"` {
			s.Errorf("what is left: %s", got)
		}
	})
}

// TestDomainConfigDomains: a domain that is not there has no options, and none
// are stored for it; those of a lost domain are not shown.
func TestDomainConfigDomains(t *testing.T) {
	each(t, func(s *stand) {
		c := resource.DomainConfigs{DB: s.db, DefaultDomain: "a", Running: func(group, option string) (any, bool) { return group + "." + option, true }}
		s.exec(`insert into whitelisted_config (domain_id, "group", "option", value) values ('lost', 'ldap', 'url', 'Infinity'), ('a', 'ldap', 'page_size', 'Infinity')`)
		want := func(what, wanted string, got pyjson.Object, err error) {
			s.Helper()
			text := pyjson.Encode(got)
			if err != nil {
				text = err.Error()
			}
			if text != wanted {
				s.Errorf("%s: got %s, want %s", what, text, wanted)
			}
		}
		got, err := c.Get(s.Context(), "none", resource.ConfigPath{})
		want("no domain", "Could not find any options in domain configuration for domain none.", got, err)
		got, err = c.Get(s.Context(), "lost", resource.ConfigPath{})
		want("options without a domain", "Could not find domain: lost.", got, err)
		got, err = c.Get(s.Context(), "a", resource.ConfigPath{})
		want("a number of Python's", `{"ldap": {"page_size": null}}`, got, err)
		got, err = c.Compliance(s.Context(), "a", "")
		want("rules", `{"security_compliance": {"password_regex": "security_compliance.password_regex", "password_regex_description": "security_compliance.password_regex_description"}}`, got, err)
		got, err = c.Compliance(s.Context(), "a", "password_regex")
		want("a rule", `{"password_regex": "security_compliance.password_regex"}`, got, err)
		got, err = c.Compliance(s.Context(), "a", "lockout_duration")
		want("another rule", "Invalid domain specific configuration: Reading security compliance values other than password_regex and password_regex_description is not allowed..", got, err)
		got, err = c.Compliance(s.Context(), "b", "lockout_duration")
		want("rules of another domain", "Invalid domain specific configuration: Reading security compliance information for any domain other than the default domain is not allowed or supported..", got, err)
		c.DefaultDomain = "none"
		got, err = c.Compliance(s.Context(), "none", "")
		want("no default domain", "Could not find domain: none.", got, err)
		for what, err := range map[string]error{"update": second(c.Update(s.Context(), "lost", resource.ConfigPath{}, s.options(`{}`))), "delete": c.Delete(s.Context(), "p", resource.ConfigPath{Group: "token"})} {
			if !fault.Is(err, fault.NotFound) {
				s.Errorf("%s without a domain: %v", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestDomainConfigWarns: references that lead nowhere are told, without their
// text; what leads somewhere is shown as it is.
func TestDomainConfigWarns(t *testing.T) {
	each(t, func(s *stand) {
		var told []string
		c := resource.DomainConfigs{DB: s.db, Warn: func(_ context.Context, _ string, args ...any) { told = append(told, fmt.Sprint(args...)) }}
		shown := s.set(c, "a", `{"ldap": {"password": "hush", "url": "ldap://%(password)s", "user": "hidden%(secret)s", "suffix": "50%", "page_size": 5}}`)
		if !strings.Contains(shown, `"url": "ldap://%(password)s"`) || strings.Contains(shown, "hush") {
			s.Errorf("shown is %s", shown)
		}
		_, err := c.Update(s.Context(), "a", resource.ConfigPath{}, s.options(`{"identity": {"driver": "%s"}}`))
		s.must(err)
		text := strings.Join(told, "\n")
		for _, option := range []string{"groupldapoptionuser", "groupldapoptionsuffix", "groupidentityoptiondriver"} {
			if !strings.Contains(strings.ReplaceAll(text, " ", ""), option) {
				s.Errorf("no word of %s in %s", option, text)
			}
		}
		if len(told) != 5 || strings.Contains(text, "hush") || strings.Contains(text, "hidden") || strings.Contains(text, "option url") {
			s.Errorf("told: %s", text)
		}
	})
}

// TestDomainConfigRace: of two sets at once one comes after the other.
func TestDomainConfigRace(t *testing.T) {
	each(t, func(s *stand) {
		c := resource.DomainConfigs{DB: s.db}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				option := []string{"url", "user"}[i%2]
				if _, _, err := c.Set(s.Context(), "a", pyjson.Object{{Key: "ldap", Value: pyjson.Object{{Key: option, Value: "x"}, {Key: "suffix", Value: "y"}}}}); err != nil {
					s.Error(err)
				}
			})
		}
		all.Wait()
		if got := s.config("a"); got != `ldap.suffix="y" ldap.url="x" | ` && got != `ldap.suffix="y" ldap.user="x" | ` {
			s.Errorf("got %s", got)
		}
	})
}

// TestDomainConfigCost: what is sent grows with what is stored, not with what
// is there.
func TestDomainConfigCost(t *testing.T) {
	each(t, func(s *stand) {
		d := dbtest.Count(s.T, s.db)
		c := resource.DomainConfigs{DB: d, DefaultDomain: "a", Running: func(string, string) (any, bool) { return nil, true }}
		s.set(resource.DomainConfigs{DB: s.db}, "a", `{"ldap": {"url": "u", "user": "v", "password": "p", "suffix": "s"}, "identity": {"driver": "x"}}`)
		one, ldap := s.options(`{"ldap": {"url": "w"}}`), resource.ConfigPath{Group: "ldap"}
		for _, x := range []struct {
			name, want string // round trips, statements, writes; a transaction has two of its own
			do         func() error
		}{
			{"get", "1 2 0", func() error { return second(c.Get(s.Context(), "a", ldap)) }},
			{"defaults", "0 0 0", func() error { return second(c.Default(ldap)) }},
			{"rules", "1 1 0", func() error { return second(c.Compliance(s.Context(), "a", "")) }},
			{"update", "4 10 3", func() error { return second(c.Update(s.Context(), "a", ldap, one)) }},
			{"delete", "4 7 2", func() error { return c.Delete(s.Context(), "a", ldap) }},
			{"set", "4 10 3", func() error { _, _, err := c.Set(s.Context(), "a", one); return err }},
		} {
			d.Reset()
			s.must(x.do())
			if got := fmt.Sprint(d.RoundTrips, d.Statements, d.Writes); got != x.want {
				s.Errorf("%s: %s round trips, statements and writes, want %s: %q", x.name, got, x.want, d.Texts)
			}
		}
	})
}
