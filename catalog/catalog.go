package catalog

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Entry is one service of a token's catalog.
type Entry struct {
	ID, Name  string
	Type      *string // a service may have none in the database
	Endpoints []EntryEndpoint
}

// EntryEndpoint is one endpoint of a catalog entry, its URL filled in.
type EntryEndpoint struct {
	ID, Interface, URL string
	RegionID           *string
	Extra              string // the endpoint's extra JSON object
}

// line is a row of the catalog read: a service with one of its endpoints.
type line struct {
	serviceID, serviceExtra               string
	serviceType                           *string
	endpointID, iface, url, endpointExtra string
	regionID                              *string
	enabled                               bool
	hasEndpoint                           bool
	serviceEnabled                        bool
}

// Reads are the rows that a catalog is made from.
type Reads struct {
	lines *db.Result[line]
	ties  *db.Result[tie]
}

// tie is what a project is tied to: an endpoint, or the filters of an endpoint
// group, in JSON.
type tie struct {
	group bool
	text  string
}

// Disabled services are read too: to be tied to their endpoints alone is a
// filter that leaves nothing.
const linesText = `select s.id, s.type, s.extra, s.enabled, e.id, e.interface, e.url, e.region_id, e.extra, e.enabled
from service s left join endpoint e on e.service_id = s.id
order by s.id, e.id`

func scanLine(r db.Row) (line, error) {
	var l line
	var serviceExtra, id, iface, url, extra *string
	var enabled *bool
	err := r.Scan(&l.serviceID, &l.serviceType, &serviceExtra, &l.serviceEnabled, &id, &iface, &url, &l.regionID, &extra, &enabled)
	l.serviceExtra = deref(serviceExtra)
	l.endpointID, l.iface, l.url, l.endpointExtra = deref(id), deref(iface), deref(url), deref(extra)
	l.hasEndpoint, l.enabled = id != nil, enabled != nil && *enabled
	return l, err
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

const tiesText = `select 'endpoint', f.endpoint_id from project_endpoint f where f.project_id = $1
union all
select 'group', g.filters from project_endpoint_group f join endpoint_group g on g.id = f.endpoint_group_id where f.project_id = $1`

func tiesOf(projectID string) db.Query[tie] {
	return db.Query[tie]{Text: tiesText, Args: []any{projectID}, Scan: scanTie}
}

func scanTie(r db.Row) (tie, error) {
	var t tie
	var kind string
	err := r.Scan(&kind, &t.text)
	t.group = kind == "group"
	return t, err
}

// Read queues the reads of a catalog; projectID is empty for domain and system
// scope, which no filter concerns.
func Read(b *db.Batch, projectID string) Reads {
	r := Reads{lines: db.Add(b, db.Query[line]{Text: linesText, Scan: scanLine})}
	if projectID != "" {
		r.ties = db.Add(b, tiesOf(projectID))
	}
	return r
}

// Rows names rows found in memory: two that are equal name the same ones.
type Rows struct {
	first any
	count int
}

// Rows names the rows that the catalog is made of: those of all catalogs, and
// what ties this one to its project.
func (r Reads) Rows() (lines, ties Rows) {
	if r.ties != nil {
		ties = rowsOf(r.ties.All())
	}
	return rowsOf(r.lines.All()), ties
}

func rowsOf[T any](rows []T) Rows {
	if len(rows) == 0 {
		return Rows{}
	}
	return Rows{&rows[0], len(rows)}
}

// Scope holds what endpoint URLs are filled with; an empty ProjectID leaves
// out the endpoints whose URL names the project.
type Scope struct {
	ProjectID, UserID, PublicEndpoint string
	// AllWithoutFilter is [endpoint_filter] return_all_endpoints_if_no_filter.
	AllWithoutFilter bool
}

// Entries makes the catalog of a token (keystone/catalog/backends/sql.py):
// enabled services with their enabled endpoints, filtered for the project,
// URLs filled in; an endpoint whose URL cannot be filled is left out.
func (r Reads) Entries(s Scope) []Entry {
	keep := r.associated()
	if keep == nil && !s.AllWithoutFilter {
		return []Entry{}
	}
	out := []Entry{}
	for _, l := range r.lines.All() {
		if !l.serviceEnabled {
			continue
		}
		if len(out) == 0 || out[len(out)-1].ID != l.serviceID {
			if n := len(out); keep != nil && n > 0 && len(out[n-1].Endpoints) == 0 {
				out = out[:n-1]
			}
			out = append(out, Entry{ID: l.serviceID, Type: l.serviceType, Name: nameOf(l.serviceExtra), Endpoints: []EntryEndpoint{}})
		}
		if !l.hasEndpoint || !l.enabled || keep != nil && !keep[l.endpointID] {
			continue
		}
		url, err := Fill(l.url, s)
		if err != nil || url == "" {
			continue
		}
		e := &out[len(out)-1]
		e.Endpoints = append(e.Endpoints, EntryEndpoint{ID: l.endpointID, Interface: l.iface, URL: url, RegionID: l.regionID, Extra: l.endpointExtra})
	}
	if n := len(out); keep != nil && n > 0 && len(out[n-1].Endpoints) == 0 {
		out = out[:n-1]
	}
	return out
}

// associated gives the endpoints that the project is tied to, one by one or
// through endpoint groups; nil when it is tied to none that is there.
func (r Reads) associated() map[string]bool {
	if r.ties == nil || len(r.ties.All()) == 0 {
		return nil
	}
	linked, filters := sorted(r.ties.All())
	known := map[string]bool{}
	for _, l := range r.lines.All() {
		matches := func(f groupFilter) bool { return f.match(l) }
		if l.hasEndpoint && (linked[l.endpointID] || slices.ContainsFunc(filters, matches)) {
			known[l.endpointID] = true
		}
	}
	if len(known) == 0 {
		return nil
	}
	return known
}

// sorted tells the endpoints of ties from the filters of groups.
func sorted(ties []tie) (linked map[string]bool, filters []groupFilter) {
	linked = map[string]bool{}
	for _, t := range ties {
		if !t.group {
			linked[t.text] = true
		} else if f, ok := parseFilter(t.text); ok {
			filters = append(filters, f)
		}
	}
	return linked, filters
}

type groupFilter map[string]any

func parseFilter(text string) (groupFilter, bool) {
	var f groupFilter
	err := json.Unmarshal([]byte(text), &f)
	return f, err == nil && f != nil
}

func (f groupFilter) match(l line) bool {
	for k, v := range f {
		switch k {
		case "service_id":
			if v != l.serviceID {
				return false
			}
		case "region_id":
			var region any
			if l.regionID != nil {
				region = *l.regionID
			}
			if v != region {
				return false
			}
		case "interface":
			if v != l.iface {
				return false
			}
		case "enabled":
			if v != l.enabled {
				return false
			}
		}
	}
	return true
}

// nameOf finds the name among a service's extra attributes. Nearly always it
// stands first and plain, as Python writes it.
func nameOf(extra string) string {
	if rest, ok := strings.CutPrefix(extra, `{"name": "`); ok {
		if name, _, ok := strings.Cut(rest, `"`); ok && !strings.Contains(name, `\`) {
			return name
		}
	}
	if !strings.Contains(extra, `"name"`) {
		return ""
	}
	var o struct {
		Name string `json:"name"`
	}
	if json.Unmarshal([]byte(extra), &o) != nil {
		return ""
	}
	return o.Name
}

// errURL says that an endpoint URL cannot be filled in.
var errURL = errors.New("endpoint URL cannot be filled in")

// Fill puts the scope's values into an endpoint URL: $(key)s and %(key)s, with
// %% for a percent sign (keystone/common/utils.py format_url).
func Fill(url string, s Scope) (string, error) {
	if !strings.ContainsAny(url, "$%") {
		return url, nil
	}
	url = strings.ReplaceAll(url, "$(", "%(")
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(url, "%")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		if strings.HasPrefix(rest, "%") {
			out.WriteByte('%')
			url = rest[1:]
			continue
		}
		key, after, ok := strings.Cut(strings.TrimPrefix(rest, "("), ")s")
		if !ok || !strings.HasPrefix(rest, "(") {
			return "", errURL
		}
		value, ok := s.value(key)
		if !ok {
			return "", errURL
		}
		out.WriteString(value)
		url = after
	}
}

func (s Scope) value(key string) (string, bool) {
	switch key {
	case "tenant_id", "project_id":
		return s.ProjectID, s.ProjectID != ""
	case "user_id":
		return s.UserID, true
	case "public_endpoint":
		if s.PublicEndpoint == "" {
			return "None", true
		}
		return s.PublicEndpoint, true
	}
	return "", false
}
