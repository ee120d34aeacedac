package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
)

// What is done to things, in notifications' words.
const (
	Created = "created"
	Updated = "updated"
	Deleted = "deleted"
)

// Change is what became of one thing.
type Change struct {
	Operation string // Created, Updated or Deleted
	Kind, ID  string // such as user; the words of notifications.py
	// Nobody: Python Keystone names no initiator, since it did this itself as
	// a part of something else.
	Nobody bool
	// Member was Added to the group that the change is about, or removed.
	Member string
	Added  bool
	Reason *Reason
}

// Reason says why something was refused.
type Reason struct{ Text, Code string }

// Grant is a role that was given or taken, or was to be.
type Grant struct {
	Operation                                    string // Created or Deleted
	RoleID, UserID, GroupID, ProjectID, DomainID string
	Inherited, Failed                            bool
	Nobody                                       bool // as of a Change
}

// Login is what became of a password.
type Login struct {
	// UserID and UserName are of the user as he is stored; of one who is not
	// found they are what was sent, and Unknown is set.
	UserID, UserName string
	Unknown          bool
	// DomainID or DomainName is what was sent for the domain of an unknown
	// name.
	DomainID, DomainName string
	Failed               bool
	Reason               *Reason
	Partial              string // of a wrong password; "" tells nothing of it
}

// event is on its way to the drivers.
type event struct {
	ctx     context.Context
	kind    string // event_type
	at      time.Time
	payload pyjson.Object
	cadf    bool   // the observer has to be named
	unknown *Login // whose domain has to be looked up
}

// types are the CADF types of the things that have one (CADF_TYPE_MAP).
var types = map[string]string{
	"group": "data/security/group", "project": "data/security/project", "role": "data/security/role",
	"user": "data/security/account/user", "domain": "data/security/domain", "region": "data/security/region",
	"endpoint": "data/security/endpoint", "service": "data/security/service", "policy": "data/security/policy",
	"OS-TRUST:trust": "data/security/trust", "OS-OAUTH1:access_token": "data/security/credential",
	"OS-OAUTH1:request_token": "data/security/credential", "OS-OAUTH1:consumer": "data/security/account",
	"application_credential": "data/security/credential",
}

const (
	accountUser  = "service/security/account/user"
	unknownType  = "unknown"
	rootDomain   = "<<keystone.domain.root>>"
	success      = "success"
	failure      = "failure"
	authenticate = "identity.authenticate"
)

// Changed tells of changes that were made, in their order.
func (n *Notifier) Changed(ctx context.Context, changes ...Change) {
	if n == nil {
		return
	}
	for _, c := range changes {
		kind := "identity." + c.Kind + "." + c.Operation
		if n.optedOut(kind, "") {
			continue
		}
		e := event{kind: kind, at: n.cfg.Now(), payload: n.basic(ctx, c)}
		if !n.cfg.Basic {
			if c.ID == rootDomain {
				continue
			}
			e.cadf, e.payload = true, n.changed(ctx, c, e.at)
		}
		n.put(ctx, e)
	}
}

func (n *Notifier) basic(ctx context.Context, c Change) pyjson.Object {
	p := pyjson.Object{{Key: "resource_info", Value: c.ID}}
	if c.Member != "" {
		operation := "removed"
		if c.Added {
			operation = "added"
		}
		p = append(p, pyjson.Member{Key: "actor_id", Value: c.Member}, pyjson.Member{Key: "actor_type", Value: "user"}, pyjson.Member{Key: "actor_operation", Value: operation})
	}
	if c.Nobody {
		return p
	}
	return appendRequest(p, olog.FromContext(ctx))
}

func appendRequest(o pyjson.Object, r *olog.Request) pyjson.Object {
	o = append(o, pyjson.Member{Key: "request_id", Value: r.ID})
	if r.GlobalID != "" {
		o = append(o, pyjson.Member{Key: "global_request_id", Value: r.GlobalID})
	}
	return o
}

func (n *Notifier) changed(ctx context.Context, c Change, at time.Time) pyjson.Object {
	target := types[c.Kind]
	if target == "" {
		target = unknownType
	}
	var who pyjson.Object
	if !c.Nobody {
		who = named(initiator(ctx), olog.FromContext(ctx).UserName)
	}
	p := cadf(at, c.Operation+"."+c.Kind, success, who, part(c.ID, target), c.Reason)
	return append(p, pyjson.Member{Key: "resource_info", Value: c.ID})
}

// Granted tells of a role that was given or taken, and of one that could not
// be.
func (n *Notifier) Granted(ctx context.Context, g Grant) {
	kind := "identity.role_assignment." + g.Operation
	if n == nil || n.optedOut(kind, "") {
		return
	}
	outcome := success
	if g.Failed {
		outcome = failure
	}
	at := n.cfg.Now()
	var who pyjson.Object
	if !g.Nobody {
		who = named(initiator(ctx), olog.FromContext(ctx).UserName)
	}
	p := cadf(at, g.Operation+".role_assignment", outcome, who, part(identifier(), accountUser), nil)
	switch {
	case g.ProjectID != "":
		p = append(p, pyjson.Member{Key: "project", Value: g.ProjectID})
	case g.DomainID != "":
		p = append(p, pyjson.Member{Key: "domain", Value: g.DomainID})
	}
	switch {
	case g.UserID != "":
		p = append(p, pyjson.Member{Key: "user", Value: g.UserID})
	case g.GroupID != "":
		p = append(p, pyjson.Member{Key: "group", Value: g.GroupID})
	}
	p = append(p, pyjson.Member{Key: "inherited_to_projects", Value: g.Inherited}, pyjson.Member{Key: "role", Value: g.RoleID})
	n.put(ctx, event{kind: kind, at: at, payload: p, cadf: true})
}

// LoggedIn tells of a password that was right or wrong.
func (n *Notifier) LoggedIn(ctx context.Context, l Login) {
	outcome := success
	if l.Failed {
		outcome = failure
	}
	if n == nil || n.optedOut(authenticate, outcome) {
		return
	}
	e := event{kind: authenticate, at: n.cfg.Now(), cadf: true}
	who := initiator(ctx)
	switch {
	case !l.Unknown:
		who = named(who.Set("id", resourceID(l.UserID)).Set("user_id", l.UserID), l.UserName)
	case l.UserID != "":
		who = append(who.Set("user_id", l.UserID), pyjson.Member{Key: "domain_id"}, pyjson.Member{Key: "domain_name"})
	default:
		who = append(who, pyjson.Member{Key: "user_name", Value: l.UserName})
		e.unknown = &l
	}
	e.payload = cadf(e.at, "authenticate", outcome, who, part(identifier(), accountUser), l.Reason)
	if l.Partial != "" {
		e.payload = append(e.payload, pyjson.Member{Key: "attachments", Value: []any{pyjson.Object{
			{Key: "typeURI", Value: "mime:text/plain"}, {Key: "content", Value: l.Partial}, {Key: "name", Value: "partial_password_hash"},
		}}})
	}
	n.put(ctx, e)
}

// named adds the name of who did it, where it is known.
func named(who pyjson.Object, name string) pyjson.Object {
	if name == "" {
		return who
	}
	return append(who, pyjson.Member{Key: "name", Value: name}, pyjson.Member{Key: "username", Value: name})
}

// initiator is who did it, as far as his request says (build_audit_initiator).
func initiator(ctx context.Context) pyjson.Object {
	r := olog.FromContext(ctx)
	var host pyjson.Object
	if r.Addr.IsValid() {
		host = append(host, pyjson.Member{Key: "address", Value: r.Addr.String()})
	}
	host = append(host, pyjson.Member{Key: "agent", Value: r.Agent})
	id := identifier()
	if r.User != "" {
		id = resourceID(r.User)
	}
	o := append(part(id, accountUser), pyjson.Member{Key: "host", Value: host})
	for _, m := range []pyjson.Member{{Key: "user_id", Value: r.User}, {Key: "project_id", Value: r.Project}, {Key: "domain_id", Value: r.Domain}} {
		if m.Value != "" {
			o = append(o, m)
		}
	}
	return appendRequest(o, r)
}

// part is a resource of CADF.
func part(id, kind string) pyjson.Object {
	return pyjson.Object{{Key: "id", Value: id}, {Key: "typeURI", Value: kind}}
}

// cadf is an event of CADF (DSP0262); its observer is named later.
func cadf(at time.Time, action, outcome string, who, target pyjson.Object, why *Reason) pyjson.Object {
	p := pyjson.Object{
		{Key: "typeURI", Value: "http://schemas.dmtf.org/cloud/audit/1.0/event"},
		{Key: "eventType", Value: "activity"},
		{Key: "id", Value: identifier()},
		{Key: "eventTime", Value: at.UTC().Format("2006-01-02T15:04:05.000000+0000")},
		{Key: "action", Value: action},
		{Key: "outcome", Value: outcome},
		{Key: "observer"},
	}
	if who != nil {
		p = append(p, pyjson.Member{Key: "initiator", Value: who})
	}
	p = append(p, pyjson.Member{Key: "target", Value: target})
	if why != nil {
		p = append(p, pyjson.Member{Key: "reason", Value: pyjson.Object{{Key: "reasonType", Value: why.Text}, {Key: "reasonCode", Value: why.Code}}})
	}
	return p
}

// lookUp names the observer and the domain of an unknown user. It reports
// whether the event is one: a name in a domain that is not there, or is
// disabled, is refused before Python Keystone looks for the user.
func (n *Notifier) lookUp(e *event) bool {
	if !e.cadf {
		return true
	}
	ctx, cancel := context.WithTimeout(n.ctx, lookUpLimit)
	defer cancel()
	if l := e.unknown; l != nil {
		d, err := n.cfg.Directory.Domain(ctx, l.DomainID, l.DomainName)
		switch {
		case err != nil:
			n.cfg.Log.WarnContext(e.ctx, "the domain of a failed login is not known", slog.Any("error", err))
			d = Domain{ID: l.DomainID, Name: l.DomainName}
		case !d.Enabled:
			return false
		}
		who, _ := e.payload.Object("initiator")
		e.payload = e.payload.Set("initiator", append(who, pyjson.Member{Key: "domain_id", Value: d.ID}, pyjson.Member{Key: "domain_name", Value: d.Name}))
	}
	id, err := n.cfg.Directory.IdentityService(ctx)
	if err != nil {
		n.cfg.Log.WarnContext(e.ctx, "the identity service of the catalog is not known", slog.Any("error", err))
	}
	if id == "" {
		id = identifier()
	}
	e.payload = e.payload.Set("observer", part(id, "service/security"))
	return true
}

// lookUpLimit bounds the wait for the database; an event goes without what it
// does not say in time.
const lookUpLimit = 5 * time.Second

// identifier is a new one of pycadf.
func identifier() string { return uuid.Text() }

// users is the namespace of ids that are no UUID (RESOURCE_ID_NAMESPACE of
// keystone/common/utils.py).
var users = uuid.MustParse("4332ecab-770b-4288-a680-b9aca3b1b153")

// resourceID is what CADF calls a user: his id, or one made of it where it is
// no UUID.
func resourceID(id string) string {
	if uuid.Valid(id) {
		return id
	}
	return uuid.Named(users, id)
}
