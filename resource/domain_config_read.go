package resource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// configOption is an option that a domain sets, as a row has it.
type configOption struct {
	group, name string
	value       any
}

const plainTable, secretTable = "whitelisted_config", "sensitive_config"

// configRows reads what a domain sets, in the order of the names.
func configRows(table, domainID string, at ConfigPath) db.Query[configOption] {
	w := at.where(domainID)
	return db.Query[configOption]{
		Text: `select "group", "option", value from ` + table + w.String() + ` order by "group", "option"`, Args: w.Args,
		Scan: func(r db.Row) (configOption, error) {
			var o configOption
			var text string
			err := r.Scan(&o.group, &o.name, &text)
			// What Python stores of an infinite number is no JSON.
			o.value, _ = pyjson.Decode([]byte(text))
			return o, err
		},
	}
}

func (p ConfigPath) where(domainID string) *db.Where {
	w := &db.Where{}
	w.And(`domain_id = ?`, domainID)
	if p.Group != "" {
		w.And(`"group" = ?`, p.Group)
	}
	if p.Option != "" {
		w.And(`"option" = ?`, p.Option)
	}
	return w
}

// grouped puts options together.
func grouped(options []configOption) pyjson.Object {
	out := pyjson.Object{}
	for _, o := range options {
		group, _ := out.Object(o.group)
		out = out.Set(o.group, group.Set(o.name, o.value))
	}
	return out
}

// Has reports whether a domain has set any option.
func (c DomainConfigs) Has(ctx context.Context, domainID string) (bool, error) {
	n, err := db.One(ctx, c.DB, db.Query[int]{
		Text: `select (select count(*) from whitelisted_config where domain_id = $1) + (select count(*) from sensitive_config where domain_id = $1)`,
		Args: []any{domainID},
		Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err },
	})
	return n > 0, err
}

// Get gives what a domain sets and may be read: by group, or of one option its
// name and value; 404 when that is nothing.
func (c DomainConfigs) Get(ctx context.Context, domainID string, at ConfigPath) (pyjson.Object, error) {
	if err := c.allow(at); err != nil {
		return nil, err
	}
	var b db.Batch
	domain, rows := db.Add(&b, DomainByID(domainID)), db.Add(&b, configRows(plainTable, domainID, at))
	if err := c.DB.Send(ctx, &b); err != nil && !errors.Is(err, db.ErrBadValue) {
		return nil, fmt.Errorf("read the configuration of domain %s: %w", domainID, err)
	}
	found := rows.All()
	switch {
	case len(found) == 0:
		return nil, noDomainConfig(domainID, at) // also of a domain that is not there
	case len(domain.All()) == 0:
		return nil, fault.NoSuch("domain", domainID)
	case at.Option != "":
		return pyjson.Object{{Key: found[0].name, Value: found[0].value}}, nil
	}
	return grouped(found), nil
}

// Default gives what holds for a domain that sets nothing: all options that may
// be read, those of a group, or one. What the configuration does not have is
// left out.
func (c DomainConfigs) Default(at ConfigPath) (pyjson.Object, error) {
	if err := c.allow(at); err != nil {
		return nil, err
	}
	if at.Option != "" {
		plain, _ := c.plain(at.Group)
		value, known := c.Running(at.Group, at.Option)
		if !known || !slices.Contains(plain, at.Option) {
			return nil, invalidDomainConfig("Reading the default for option %s in group %s is not supported", at.Option, at.Group)
		}
		return pyjson.Object{{Key: at.Option, Value: value}}, nil
	}
	groups := []string{at.Group}
	if at.Group == "" {
		groups = slices.AppendSeq(slices.Collect(maps.Keys(domainOptions)), maps.Keys(c.Additional))
	}
	out := pyjson.Object{}
	for _, group := range slices.Compact(slices.Sorted(slices.Values(groups))) {
		plain, _ := c.plain(group)
		if options := c.running(group, plain); len(options) > 0 {
			out = out.Set(group, options)
		}
	}
	return out, nil
}

// running are the options of a group that the configuration has.
func (c DomainConfigs) running(group string, names []string) (out pyjson.Object) {
	for _, name := range names {
		if value, known := c.Running(group, name); known {
			out = out.Set(name, value)
		}
	}
	return out
}

// Compliance gives the rules for passwords that everybody may know, of the
// default domain alone; option may be empty.
func (c DomainConfigs) Compliance(ctx context.Context, domainID, option string) (pyjson.Object, error) {
	const group = "security_compliance"
	switch {
	case domainID != c.DefaultDomain:
		return nil, invalidDomainConfig("Reading security compliance information for any domain other than the default domain is not allowed or supported.")
	case option != "" && !slices.Contains(readableRules, option):
		return nil, invalidDomainConfig("Reading security compliance values other than password_regex and password_regex_description is not allowed.")
	}
	_, err := db.One(ctx, c.DB, DomainByID(domainID))
	switch {
	case errors.Is(err, db.ErrNoRow):
		return nil, fault.NoSuch("domain", domainID)
	case err != nil:
		return nil, fmt.Errorf("read domain %s: %w", domainID, err)
	}
	if option != "" {
		return c.running(group, []string{option}), nil
	}
	return pyjson.Object{{Key: group, Value: c.running(group, readableRules)}}, nil
}
