package v3

import (
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/resource"
)

// domainConfigs serves what domains set for themselves, and what holds where
// they do not (keystone/api/domains.py). Python Keystone tells nobody of it.
type domainConfigs struct{ resource.DomainConfigs }

func (h domainConfigs) routes() []Route {
	const of, usual = "/v3/domains/{domain_id}/config", "/v3/domains/config"
	rows := []Route{
		{Method: "PUT", Path: of, Rule: "identity:create_domain_config", Do: h.set, Limit: ratelimit.ClassToken, Rel: "domain_config", Summary: "Set all options of a domain"},
	}
	for _, x := range []struct{ tail, rel, what string }{
		{"", "", "all options"}, {"/{group}", "_group", "a group of options"}, {"/{group}/{option}", "_option", "an option"},
	} {
		get := Route{Method: "GET", Path: of + x.tail, Rule: "identity:get_domain_config", Do: h.show, Limit: ratelimit.ClassToken, Rel: "domain_config" + x.rel, Summary: "Show " + x.what + " of a domain"}
		if x.tail != "" {
			get.Other, get.Choose = "identity:get_security_compliance_domain_config", ofCompliance
		}
		rows = append(rows, get,
			Route{Method: "PATCH", Path: of + x.tail, Rule: "identity:update_domain_config", Do: h.update, Limit: ratelimit.ClassToken, Rel: "domain_config" + x.rel, Summary: "Change " + x.what + " of a domain"},
			Route{Method: "DELETE", Path: of + x.tail, Rule: "identity:delete_domain_config", Do: h.delete, Limit: ratelimit.ClassToken, Rel: "domain_config" + x.rel, Summary: "Remove " + x.what + " of a domain"},
			Route{Method: "GET", Path: usual + x.tail + "/default", Rule: "identity:get_domain_config_default", Do: h.showDefault, Limit: ratelimit.ClassToken, Rel: "domain_config_default" + x.rel, Summary: "Show " + x.what + " of domains that set none"},
		)
	}
	for i := range rows {
		// Any of it may be a secret, one in a wrong place too.
		rows[i].Hidden = []string{"config"}
	}
	return rows
}

// configOf is what the path of a row asks for.
func configOf(c *Call) resource.ConfigPath {
	return resource.ConfigPath{Group: c.Param("group"), Option: c.Param("option")}
}

// ofCompliance tells the rules for passwords, which everybody may read.
func ofCompliance(c *Call) bool { return c.Param("group") == "security_compliance" }

func (h domainConfigs) show(c *Call) (Reply, error) {
	id, at := c.Param("domain_id"), configOf(c)
	if ofCompliance(c) {
		return config(h.Compliance(c.Ctx(), id, at.Option))
	}
	return config(h.Get(c.Ctx(), id, at))
}

func (h domainConfigs) showDefault(c *Call) (Reply, error) { return config(h.Default(configOf(c))) }

func (h domainConfigs) set(c *Call) (Reply, error) {
	sent, _ := c.JSON().Get("config")
	shown, first, err := h.Set(c.Ctx(), c.Param("domain_id"), sent)
	if err == nil && first {
		return created("config", shown), nil
	}
	return config(shown, err)
}

func (h domainConfigs) update(c *Call) (Reply, error) {
	sent, _ := c.JSON().Get("config")
	return config(h.Update(c.Ctx(), c.Param("domain_id"), configOf(c), sent))
}

func (h domainConfigs) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("domain_id"), configOf(c)))
}

func config(options pyjson.Object, err error) (Reply, error) {
	if err != nil {
		return Reply{}, err
	}
	return ok("config", options), nil
}
