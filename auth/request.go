package auth

import (
	"slices"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Request is a login as POST /v3/auth/tokens asks for it.
type Request struct {
	Methods []string // in the order given, each once
	Payload map[string]pyjson.Object
	Scope   Scope
	Receipt string // header Openstack-Auth-Receipt; empty: none
	Catalog bool   // the answer shows the catalog
	Client  guess.Client
}

// ParseRequest checks a login body: its shape, its methods and its scope, in
// the order of keystone/api/auth.py and with its faults. A method that is not
// in [auth] methods, or not built, is a 401 that lists the configured ones.
func (s *Service) ParseRequest(body pyjson.Object) (Request, error) {
	r, err := s.parse(body)
	if err != nil {
		s.Observer.Login(label(nil), outcome(err), reason(err))
	}
	return r, err
}

func (s *Service) parse(body pyjson.Object) (Request, error) {
	raw, _ := body.Get("auth")
	if o, isObject := raw.(pyjson.Object); raw == nil || isObject && len(o) == 0 {
		return Request{}, fault.Invalid("auth", "request body")
	}
	if err := authShape.check("", raw); err != nil {
		return Request{}, err
	}
	auth := raw.(pyjson.Object)
	identity, _ := auth.Object("identity")
	r := Request{Payload: map[string]pyjson.Object{}}
	methods, _ := identity.Get("methods")
	for _, m := range methods.([]any) {
		if name := m.(string); !slices.Contains(r.Methods, name) {
			r.Methods = append(r.Methods, name)
		}
	}
	for _, name := range r.Methods {
		v, ok := identity.Get(name)
		if !ok {
			return Request{}, fault.Invalid(name, "identity")
		}
		r.Payload[name], _ = v.(pyjson.Object)
	}
	for _, name := range r.Methods {
		if _, built := s.methods[name]; !built || !slices.Contains(s.Config.Methods, name) {
			e := fault.New(fault.Unauthorized, "Attempted to authenticate with an unsupported method.").Because("unsupported_method")
			e.Identity = map[string]any{"methods": s.Config.Methods}
			return Request{}, e
		}
	}
	var err error
	r.Scope, err = parseScope(auth, s.Config.StrictProjectNames, s.Config.StrictDomainNames)
	return r, err
}
