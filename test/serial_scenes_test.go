package test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
	"github.com/keystone-go/keystone-go/test/harness"
)

// TestTogetherInSomeOrder has many clients work on one and the same thing at
// once. What they were answered must be what one of them after the other would
// have been, in some order that fits when each asked.
func TestTogetherInSomeOrder(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := harness.New(t, harness.Options{Engine: engine, Conf: func(cfg *conf.Config) {
				cfg.Database.MaxPoolSize, cfg.Database.MaxOverflow = 16, 0
			}})
			on := &stage{Server: s, t: t, admin: s.Admin(), random: rand.New(rand.NewPCG(1, 7))}
			for name, scene := range map[string]func(*stage, *testing.T){
				"a grant": grantScene, "names": nameScene, "a parent": parentScene, "a domain": domainScene, "a service": serviceScene, "changes": changeScene,
			} {
				t.Run(name, func(t *testing.T) {
					for range rounds {
						scene(on, t)
					}
				})
			}
			orphans, err := migrations.FindOrphans(t.Context(), s.DB)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range orphans {
				t.Error(o)
			}
		})
	}
}

const (
	rounds  = 5
	actors  = 32
	callsOf = 3 // each actor makes in a round
)

// stage is where scenes are played, each round on things of its own.
type stage struct {
	*harness.Server
	t      *testing.T
	admin  string
	random *rand.Rand
	named  int
	mu     sync.Mutex // of what the acts of a scene remember
}

// act is a call that an actor may make. answer shortens what comes back to what
// the order hangs on; without one it is the status.
type act struct {
	ask          string
	often        int // of all that are made
	method, path string
	body         any
	answer       func(harness.Answer) string
}

// fresh is a name that nothing has yet.
func (s *stage) fresh() string {
	s.named++
	return fmt.Sprintf("scene-%d", s.named)
}

func (s *stage) perform(a act) event {
	from := time.Now()
	r := s.Do(harness.Call{Method: a.method, Path: a.path, Token: s.admin, Body: a.body})
	e := event{ask: a.ask, answer: fmt.Sprint(r.Status), from: from.UnixNano(), to: time.Now().UnixNano()}
	e.idle = r.Status >= 400 || a.method == "GET" || a.method == "HEAD"
	if r.Status >= 500 {
		s.t.Errorf("%s: %d %s", a.ask, r.Status, r.Body)
	}
	if a.answer != nil && r.Status < 300 {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.answer = a.answer(r)
	}
	return e
}

// make makes a thing for a scene to be about, and gives its id.
func (s *stage) make(kind, at string, body harness.M) string {
	r := s.Do(harness.Call{Method: "POST", Path: at, Token: s.admin, Body: harness.M{kind: body}})
	id, _ := r.At(s.t, kind, "id").(string)
	if id == "" {
		s.t.Fatalf("POST %s: %d %s", at, r.Status, r.Body)
	}
	return id
}

// play has the actors choose among acts, and then looks once at each.
func (s *stage) play(acts func() []act, looks ...string) []event {
	var events []event
	var all sync.WaitGroup
	for range actors {
		r := rand.New(rand.NewPCG(s.random.Uint64(), 7))
		all.Go(func() {
			for range callsOf {
				s.mu.Lock()
				a := chosen(r, acts())
				s.mu.Unlock()
				e := s.perform(a)
				s.mu.Lock()
				events = append(events, e)
				s.mu.Unlock()
			}
		})
	}
	all.Wait()
	for _, a := range acts() {
		if slices.Contains(looks, a.ask) {
			events = append(events, s.perform(a))
		}
	}
	return events
}

func chosen(r *rand.Rand, acts []act) act {
	sum := 0
	for _, a := range acts {
		sum += a.often
	}
	n := r.IntN(sum)
	for _, a := range acts {
		if n -= a.often; n < 0 {
			return a
		}
	}
	return acts[0]
}

// judge holds a round against what the things are said to do.
func judge[S comparable](t *testing.T, start S, events []event, step func(S, event) (S, bool)) {
	t.Helper()
	ok, state, stuck := serial(start, events, step)
	if ok {
		return
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.from, b.from) })
	text := func(list []event) string {
		var out strings.Builder
		for _, e := range list {
			fmt.Fprintf(&out, "\n%8d-%8d µs %s: %s", (e.from-events[0].from)/1000, (e.to-events[0].from)/1000, e.ask, e.answer)
		}
		return out.String()
	}
	t.Fatalf("no order of these is legal, or none was found soon:%s\nat the latest in the state %+v none of these may come next:%s", text(events), state, text(stuck))
}

// listed shortens a list to the sorted ids in it.
func (s *stage) listed(key string) func(harness.Answer) string {
	return func(a harness.Answer) string {
		items, _ := a.At(s.t, key).([]any)
		ids := []string{}
		for _, x := range items {
			ids = append(ids, fmt.Sprint(x.(harness.M)["id"]))
		}
		slices.Sort(ids)
		return strings.Join(ids, " ")
	}
}

// a grantState is a role, a user, and whether he has it.
type grantState struct{ role, user, given bool }

func grantScene(s *stage, t *testing.T) {
	name := s.fresh()
	role := s.make("role", "/v3/roles", harness.M{"name": name})
	user := s.make("user", "/v3/users", harness.M{"name": name})
	project := s.make("project", "/v3/projects", harness.M{"name": name})
	roles := "/v3/projects/" + project + "/users/" + user + "/roles"
	grant := roles + "/" + role
	events := s.play(func() []act {
		return []act{
			{"give", 12, "PUT", grant, nil, nil},
			{"take", 12, "DELETE", grant, nil, nil},
			{"look", 8, "HEAD", grant, nil, nil},
			{"list", 8, "GET", roles, nil, s.listed("roles")},
			{"drop the role", 1, "DELETE", "/v3/roles/" + role, nil, nil},
			{"drop the user", 1, "DELETE", "/v3/users/" + user, nil, nil},
		}
	}, "look", "list", "give")
	judge(t, grantState{role: true, user: true}, events, func(g grantState, e event) (grantState, bool) {
		both := g.role && g.user
		switch e.ask + " " + e.answer {
		case "give 204":
			g.given = true
			return g, both
		case "give 404":
			return g, !both
		case "take 204":
			was := g.given
			g.given = false
			return g, was
		case "look 204", "list " + role:
			return g, g.given
		case "take 404", "look 404":
			return g, !g.given
		case "list ":
			return g, !g.given && g.user
		case "list 404", "drop the user 404":
			return g, !g.user
		case "drop the role 204":
			return grantState{user: g.user}, g.role
		case "drop the role 404":
			return g, !g.role
		case "drop the user 204":
			return grantState{role: g.role}, g.user
		}
		return g, false
	})
}

// made remembers the id of what was made, and puts it into the answer.
func (s *stage) made(kind string, latest *string) func(harness.Answer) string {
	return func(a harness.Answer) string {
		*latest = fmt.Sprint(a.At(s.t, kind, "id"))
		return "made " + *latest
	}
}

// nameScene: of those who make the same name one at a time has it.
func nameScene(s *stage, t *testing.T) {
	for kind, at := range map[string]string{"user": "/v3/users", "group": "/v3/groups", "role": "/v3/roles", "project": "/v3/projects"} {
		name, latest := s.fresh(), "none"
		events := s.play(func() []act {
			return []act{
				{"make", 6, "POST", at, harness.M{kind: harness.M{"name": name}}, s.made(kind, &latest)},
				{"drop " + latest, 4, "DELETE", at + "/" + latest, nil, nil},
				{"change " + latest, 3, "PATCH", at + "/" + latest, harness.M{kind: harness.M{"description": "d"}}, nil},
				{"list", 6, "GET", at + "?name=" + name, nil, s.listed(kind + "s")},
			}
		}, "list", "make")
		judge(t, "", events, func(holder string, e event) (string, bool) {
			ask, id, _ := strings.Cut(e.ask, " ")
			made, isMade := strings.CutPrefix(e.answer, "made ")
			switch {
			case isMade:
				return made, holder == ""
			case ask == "list":
				return holder, e.answer == holder
			case e.answer == "409":
				return holder, holder != ""
			case e.answer == "404":
				return holder, holder != id
			case ask == "drop" && e.answer == "204":
				return "", holder == id
			}
			return holder, ask == "change" && e.answer == "200" && holder == id
		})
	}
}

// parentState is a project, whether it is enabled, and the one below it.
type parentState struct {
	there, enabled bool
	child          string
}

func parentScene(s *stage, t *testing.T) {
	parent, name, latest := s.make("project", "/v3/projects", harness.M{"name": s.fresh()}), s.fresh(), "none"
	at := "/v3/projects/" + parent
	turn := func(enabled bool) any { return harness.M{"project": harness.M{"enabled": enabled}} }
	events := s.play(func() []act {
		return []act{
			{"make", 12, "POST", "/v3/projects", harness.M{"project": harness.M{"name": name, "parent_id": parent}}, s.made("project", &latest)},
			{"drop " + latest, 8, "DELETE", "/v3/projects/" + latest, nil, nil},
			{"list", 6, "GET", "/v3/projects?parent_id=" + parent, nil, s.listed("projects")},
			{"disable", 5, "PATCH", at, turn(false), nil},
			{"enable", 5, "PATCH", at, turn(true), nil},
			{"look", 4, "GET", at, nil, func(a harness.Answer) string { return fmt.Sprint(a.At(s.t, "project", "enabled")) }},
			{"drop the parent", 2, "DELETE", at, nil, nil},
		}
	}, "list", "look", "make")
	judge(t, parentState{there: true, enabled: true}, events, func(p parentState, e event) (parentState, bool) {
		ask, id, _ := strings.Cut(e.ask, " ")
		if made, isMade := strings.CutPrefix(e.answer, "made "); isMade {
			return parentState{true, true, made}, p.there && p.enabled && p.child == ""
		}
		switch ask + " " + e.answer {
		case "make 400":
			return p, !p.there || !p.enabled
		case "make 409":
			return p, p.enabled && p.child != ""
		case "list " + p.child:
			return p, true
		case "disable 200":
			return parentState{there: true}, p.there && p.child == ""
		case "disable 403":
			return p, p.enabled && p.child != ""
		case "enable 200":
			return parentState{true, true, p.child}, p.there
		case "look true", "look false":
			return p, p.there && e.answer == fmt.Sprint(p.enabled)
		case "disable 404", "enable 404", "look 404":
			return p, !p.there
		}
		switch {
		case e.ask == "drop the parent" && e.answer == "204":
			return parentState{}, p.there && p.child == ""
		case e.ask == "drop the parent" && e.answer == "403":
			return p, p.child != ""
		case e.ask == "drop the parent" && e.answer == "404":
			return p, !p.there
		case ask == "drop" && e.answer == "204":
			return parentState{p.there, p.enabled, ""}, p.child == id
		}
		return p, ask == "drop" && e.answer == "404" && p.child != id
	})
}

// domainState is a domain, which is disabled, and a user and a group in it.
type domainState struct {
	there       bool
	user, group string
}

func domainScene(s *stage, t *testing.T) {
	domain := s.make("domain", "/v3/domains", harness.M{"name": s.fresh(), "enabled": false})
	user, group := "none", "none"
	in := func(kind string) any { return harness.M{kind: harness.M{"name": "inside", "domain_id": domain}} }
	events := s.play(func() []act {
		return []act{
			{"make a user", 8, "POST", "/v3/users", in("user"), s.made("user", &user)},
			{"make a group", 8, "POST", "/v3/groups", in("group"), s.made("group", &group)},
			{"drop user " + user, 4, "DELETE", "/v3/users/" + user, nil, nil},
			{"drop group " + group, 4, "DELETE", "/v3/groups/" + group, nil, nil},
			{"list users", 4, "GET", "/v3/users?domain_id=" + domain, nil, s.listed("users")},
			{"list groups", 4, "GET", "/v3/groups?domain_id=" + domain, nil, s.listed("groups")},
			{"look", 2, "HEAD", "/v3/domains/" + domain, nil, nil},
			{"drop the domain", 1, "DELETE", "/v3/domains/" + domain, nil, nil},
		}
	}, "list users", "list groups", "make a user", "make a group", "look")
	judge(t, domainState{there: true}, events, func(d domainState, e event) (domainState, bool) {
		words := strings.Fields(e.ask)
		ask, what, id := words[0], words[len(words)-1], ""
		if len(words) == 3 && ask == "drop" && words[1] != "the" {
			what, id = words[1], words[2]
		}
		one := &d.user
		if strings.HasPrefix(what, "group") {
			one = &d.group
		}
		if made, isMade := strings.CutPrefix(e.answer, "made "); isMade {
			right := d.there && *one == ""
			*one = made
			return d, right
		}
		switch {
		case e.ask == "drop the domain" && e.answer == "204":
			return domainState{}, d.there
		case ask == "drop" && id != "" && e.answer == "204":
			right := *one == id
			*one = ""
			return d, right
		case ask == "drop" && id != "" && e.answer == "404":
			return d, *one != id
		case ask == "make" && e.answer == "409":
			return d, *one != ""
		case ask == "list":
			return d, e.answer == *one
		case ask == "look" && e.answer == "200":
			return d, d.there
		}
		return d, e.answer == "404" && !d.there
	})
}

// serviceState is a service and a region, and how many endpoints are of both:
// which they are would make too many orders to try.
type serviceState struct {
	service, region bool
	endpoints       int
}

func serviceScene(s *stage, t *testing.T) {
	name, latest := s.fresh(), "none"
	service := s.make("service", "/v3/services", harness.M{"name": name, "type": "scene"})
	region := s.make("region", "/v3/regions", harness.M{"id": name})
	endpoint := harness.M{"interface": "public", "url": "http://x", "service_id": service, "region_id": region}
	made := func(a harness.Answer) string {
		s.made("endpoint", &latest)(a)
		return "made"
	}
	count := func(a harness.Answer) string { return fmt.Sprint(len(strings.Fields(s.listed("endpoints")(a)))) }
	events := s.play(func() []act {
		return []act{
			{"make", 8, "POST", "/v3/endpoints", harness.M{"endpoint": endpoint}, made},
			{"drop", 10, "DELETE", "/v3/endpoints/" + latest, nil, nil},
			{"list", 8, "GET", "/v3/endpoints?service_id=" + service, nil, count},
			{"drop the region", 2, "DELETE", "/v3/regions/" + region, nil, nil},
			{"drop the service", 1, "DELETE", "/v3/services/" + service, nil, nil},
		}
	}, "list", "make")
	judge(t, serviceState{service: true, region: true}, events, func(v serviceState, e event) (serviceState, bool) {
		switch e.ask + " " + e.answer {
		case "make made":
			return serviceState{v.service, v.region, v.endpoints + 1}, v.service && v.region
		case "make 400":
			return v, !v.service || !v.region
		case "drop 204":
			return serviceState{v.service, v.region, v.endpoints - 1}, v.endpoints > 0
		case "drop 404": // of one that was dropped before
			return v, true
		case "list " + fmt.Sprint(v.endpoints):
			return v, true
		case "drop the service 204":
			return serviceState{region: v.region}, v.service
		case "drop the service 404":
			return v, !v.service
		case "drop the region 204":
			return serviceState{service: v.service}, v.region && v.endpoints == 0
		case "drop the region 403":
			return v, v.endpoints > 0
		case "drop the region 404":
			return v, !v.region
		}
		return v, false
	})
}

// twoAttributes are what different actors change.
type twoAttributes struct{ description, color string }

// changeScene: who changes one attribute loses no change of the other.
func changeScene(s *stage, t *testing.T) {
	for kind, at := range map[string]string{
		"user": "/v3/users", "group": "/v3/groups", "role": "/v3/roles", "project": "/v3/projects", "service": "/v3/services", "region": "/v3/regions",
	} {
		path := at + "/" + s.make(kind, at, harness.M{"name": s.fresh(), "type": "scene", "description": "0", "color": "0"})
		shown := func(a harness.Answer) string {
			return fmt.Sprint(a.At(s.t, kind, "description"), " ", a.At(s.t, kind, "color"))
		}
		change := func(what, value string) act {
			return act{what + " " + value, 5, "PATCH", path, harness.M{kind: harness.M{what: value}}, shown}
		}
		events := s.play(func() []act {
			value := s.fresh()
			return []act{change("description", value), change("color", value), {"look", 3, "GET", path, nil, shown}}
		}, "look")
		judge(t, twoAttributes{"0", "0"}, events, func(v twoAttributes, e event) (twoAttributes, bool) {
			switch what, value, _ := strings.Cut(e.ask, " "); what {
			case "description":
				v.description = value
			case "color":
				v.color = value
			}
			return v, e.answer == v.description+" "+v.color
		})
	}
}
