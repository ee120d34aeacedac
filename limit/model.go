package limit

import (
	"context"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// Model says which limits go together with those above and below.
type Model struct {
	Name, Description string
	// levels is how many there may be of a domain and the projects below it, 0
	// without a bound.
	levels int
}

// The models of [unified_limit] enforcement_model.
var (
	Flat           = Model{Name: "flat", Description: "Limit enforcement and validation does not take project hierarchy into consideration."}
	StrictTwoLevel = Model{Name: "strict_two_level", Description: "This model requires project hierarchy never exceeds a depth of two", levels: 2}
)

// ModelOf finds a model by its name; Flat for any other.
func ModelOf(name string) Model {
	if name == StrictTwoLevel.Name {
		return StrictTwoLevel
	}
	return Flat
}

// mostTold bounds what TooDeep lists.
const mostTold = 10

// TooDeep lists some of the projects that stand deeper than the model knows; the
// domain is its first level.
func (m Model) TooDeep(ctx context.Context, c db.Conn) ([]string, error) {
	if m.levels == 0 {
		return nil, nil
	}
	ids, err := db.All(ctx, c, idsOf(`select p.id from project p join project u on u.id = p.parent_id join project d on d.id = u.parent_id order by p.id limit $1`, mostTold))
	return ids, fault.Wrap(err, "look for deep", "projects")
}

// tree is what the model looks at beside the limits that it checks.
type tree struct {
	parents    map[string]string // of the projects
	registered map[Resource]Registered
	above      []Limit  // of domains
	below      []branch // of projects below the domains
}

// allow checks a limit that is stored already, with a new value.
func (m Model) allow(ctx context.Context, c db.Conn, owners []resource.Project, l Limit) error {
	if m.levels == 0 {
		return nil
	}
	t := newTree(owners)
	var b db.Batch
	defaults := db.Add(&b, db.Query[Registered]{Text: registeredSource.Select + ` where r.id = $1`, Args: []any{l.registered}, Scan: scanRegistered})
	load := t.queue(&b, []Limit{l}, []string{l.registered})
	if err := c.Send(ctx, &b); err != nil {
		return err
	}
	t.register(defaults.All())
	load()
	return t.check([]Limit{l})
}

func newTree(projects []resource.Project) *tree {
	t := &tree{parents: map[string]string{}, registered: map[Resource]Registered{}}
	for _, p := range projects {
		t.parents[p.ID] = p.ParentID
	}
	return t
}

// register takes in registered limits.
func (t *tree) register(list []Registered) {
	for _, r := range list {
		t.registered[r.Resource] = r
	}
}

// queue adds the reads of the limits above and below, for load to take in once
// they are sent.
func (t *tree) queue(b *db.Batch, list []Limit, registered []string) (load func()) {
	var domains, parents []string
	for _, l := range list {
		domains, parents = append(domains, l.DomainID), append(parents, t.parents[l.ProjectID])
	}
	above, below := db.Add(b, limitsOf(`l.domain_id`, distinct(parents), registered)), db.Add(b, limitsBelow(distinct(domains), registered))
	return func() { t.above, t.below = above.All(), below.All() }
}

// check holds each limit against that of its domain, which may be among them,
// or those of the projects below it (keystone/limit/models/strict_two_level.py).
func (t *tree) check(list []Limit) error {
	for _, l := range list {
		fits := t.aboveProjects(l)
		if l.ProjectID != "" {
			fits = t.belowDomain(l, list)
		}
		if !fits {
			return unfit(l)
		}
	}
	return nil
}

// belowDomain reports whether a project's limit is no greater than its
// domain's, or than the registered one. 0 there bounds nothing, as in Python
// Keystone.
func (t *tree) belowDomain(l Limit, list []Limit) bool {
	domain := t.parents[l.ProjectID]
	ofDomain := func(d Limit) bool { return d.DomainID != "" && d.DomainID == domain && d.Resource == l.Resource }
	if i := slices.IndexFunc(list, ofDomain); i >= 0 {
		return l.Value <= list[i].Value
	}
	bound := t.registered[l.Resource].Default
	if i := slices.IndexFunc(t.above, ofDomain); i >= 0 {
		bound = t.above[i].Value
	}
	return bound == 0 || l.Value <= bound
}

// aboveProjects reports whether a domain's limit is no smaller than those of
// the projects below it.
func (t *tree) aboveProjects(l Limit) bool {
	for _, b := range t.below {
		if b.domainID == l.DomainID && b.registered == t.registered[l.Resource].ID && b.value != 0 && l.Value < b.value {
			return false
		}
	}
	return true
}

func unfit(l Limit) error {
	level, id, region := "domain_id", l.DomainID, "None"
	if l.ProjectID != "" {
		level, id = "project_id", l.ProjectID
	}
	if l.RegionID != "" {
		region = l.RegionID
	}
	reason := fmt.Sprintf("The resource limit (%s: %s, resource_name: %s, resource_limit: %d, service_id: %s, region_id: %s) doesn't satisfy current hierarchy model.",
		level, id, l.Name, l.Value, l.ServiceID, region)
	return fault.New(fault.Forbidden, "Invalid resource limit: %s.", reason)
}
