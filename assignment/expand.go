package assignment

import "slices"

// expansion works out groups, inheritance and implication in memory.
type expansion struct {
	Filter
	home     map[string]string   // the domain of each project read
	children map[string][]string // the projects below each
	owned    map[string][]string // the projects of each domain
	members  map[string][]string // the users of each group
	implied  map[string][]edge   // what each role leads to
	below    map[string][]string // what is below each project, found before
	subtree  []string            // the projects that are asked for
	seen     map[Assignment]bool
	out      []Assignment
}

// edge is an implication: prior leads to role.
type edge struct {
	prior, role string
	hidden      bool // a role of a domain is only a way to others
}

// known reports whether there is the project.
func (x *expansion) known(id string) bool {
	_, found := x.home[id]
	return found
}

// plant takes the projects that inheritance may reach.
func (x *expansion) plant(projects []node) {
	x.home, x.children, x.owned, x.below = map[string]string{}, map[string][]string{}, map[string][]string{}, map[string][]string{}
	for _, p := range projects {
		x.home[p.id] = p.domain
		x.children[p.parent] = append(x.children[p.parent], p.id)
		x.owned[p.domain] = append(x.owned[p.domain], p.id)
	}
	if x.ProjectID != "" {
		x.subtree = []string{x.ProjectID}
		if x.Subtree {
			x.subtree = append(x.subtree, x.under(x.ProjectID)...)
		}
	}
}

// under are the projects below one, at any depth.
func (x *expansion) under(id string) []string {
	if found, before := x.below[id]; before {
		return found
	}
	var out []string
	seen := map[string]bool{id: true} // a circle ends where it began
	for next := x.children[id]; len(next) > 0; {
		var deeper []string
		for _, p := range next {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
				deeper = append(deeper, x.children[p]...)
			}
		}
		next = deeper
	}
	x.below[id] = out
	return out
}

func (x *expansion) join(all []membership) {
	x.members = map[string][]string{}
	for _, m := range all {
		x.members[m.group] = append(x.members[m.group], m.user)
	}
}

// joinOne is join for the groups of the one user who is asked for.
func (x *expansion) joinOne(userID string, groups []string) {
	x.members = map[string][]string{}
	for _, id := range groups {
		x.members[id] = []string{userID}
	}
}

// imply finds what each prior role leads to, over any number of others.
func (x *expansion) imply(all []Implication) {
	direct := map[string][]edge{}
	for _, i := range all {
		direct[i.Prior] = append(direct[i.Prior], edge{i.Prior, i.Role.ID, i.Role.DomainID != ""})
	}
	x.implied = map[string][]edge{}
	for role := range direct {
		seen := map[string]bool{role: true}
		for next := []string{role}; len(next) > 0; next = next[1:] {
			for _, e := range direct[next[0]] {
				x.implied[role] = append(x.implied[role], e)
				if !seen[e.role] {
					seen[e.role] = true
					next = append(next, e.role)
				}
			}
		}
	}
}

// grant adds what one grant comes to.
func (x *expansion) grant(r row) {
	for _, a := range x.people(r) {
		if !a.Inherited {
			x.add(a, r, r.home)
			continue
		}
		for _, id := range x.reach(a) {
			got := a
			got.Inherited, got.ProjectID, got.DomainID = false, id, ""
			got.By.ProjectID, got.By.DomainID = a.ProjectID, a.DomainID
			x.add(got, r, x.home[id])
		}
	}
}

// people puts the members in the place of a group.
func (x *expansion) people(r row) []Assignment {
	if r.GroupID == "" {
		return []Assignment{r.Assignment}
	}
	users := x.members[r.GroupID]
	out := make([]Assignment, len(users))
	for i, id := range users {
		out[i] = r.Assignment
		out[i].UserID, out[i].GroupID, out[i].By.GroupID = id, "", r.GroupID
	}
	return out
}

// reach are the projects on which an inherited grant holds, of those that are
// asked for.
func (x *expansion) reach(a Assignment) []string {
	switch {
	case x.ProjectID != "" && a.ProjectID != "" && x.Subtree && slices.Contains(x.subtree, a.ProjectID):
		return x.under(a.ProjectID)
	case x.ProjectID != "":
		return x.subtree
	case a.DomainID != "":
		return x.owned[a.DomainID]
	}
	return x.under(a.ProjectID)
}

// add adds an assignment with all that its role leads to. home is the domain of
// its project.
func (x *expansion) add(a Assignment, r row, home string) {
	if x.InDomain != "" && a.DomainID != x.InDomain && (a.ProjectID == "" || home != x.InDomain) {
		return
	}
	if !r.hidden {
		x.put(a)
	}
	for _, e := range x.implied[a.RoleID] {
		if !e.hidden {
			got := a
			got.RoleID, got.By.RoleID = e.role, e.prior
			x.put(got)
		}
	}
}

func (x *expansion) put(a Assignment) {
	if x.RoleID != "" && a.RoleID != x.RoleID || x.seen[a] {
		return
	}
	x.seen[a] = true
	x.out = append(x.out, a)
}
