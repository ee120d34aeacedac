package resource

import (
	"context"
	"errors"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Set stores options in the place of all that the domain had, gives those that
// may be read, and reports whether there were none before. Those that no domain
// may set are refused, and nothing is changed.
func (c DomainConfigs) Set(ctx context.Context, domainID string, sent any) (shown pyjson.Object, first bool, err error) {
	var now domainConfig
	err = c.change(ctx, domainID, func(conn db.Conn, had []ConfigPath) error {
		first = len(had) == 0
		options, err := c.checked(sent)
		if err != nil {
			return err
		}
		var b db.Batch
		remove(&b, domainID, ConfigPath{})
		now, err = c.store(ctx, conn, &b, domainID, options)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return c.shown(ctx, domainID, now), first, nil
}

// Update stores options over those that the domain has, and gives all that may
// be read then. With a path they have to be of that group, or that option, and
// there before: 404 otherwise.
func (c DomainConfigs) Update(ctx context.Context, domainID string, at ConfigPath, sent any) (shown pyjson.Object, err error) {
	if at.Option != "" {
		sent = pyjson.Object{{Key: at.Group, Value: sent}}
	}
	var now domainConfig
	err = c.change(ctx, domainID, func(conn db.Conn, had []ConfigPath) error {
		options, err := c.checked(sent)
		if err != nil {
			return err
		}
		if err := c.allow(at); err != nil {
			return err
		}
		if err := at.alone(options); err != nil {
			return err
		}
		if at.Group != "" && !slices.ContainsFunc(had, at.holds) {
			return noDomainConfig(domainID, at)
		}
		var b db.Batch
		for _, g := range options {
			for _, o := range g.Value.(pyjson.Object) {
				remove(&b, domainID, ConfigPath{g.Key, o.Key})
			}
		}
		now, err = c.store(ctx, conn, &b, domainID, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c.shown(ctx, domainID, now), nil
}

// alone refuses options beside those that the path names.
func (p ConfigPath) alone(options pyjson.Object) error {
	if p.Group == "" {
		return nil
	}
	group, found := options.Object(p.Group)
	_, foundOption := group.Get(p.Option)
	switch {
	case p.Option != "" && len(group) != 1:
		return invalidDomainConfig("Trying to update option %s in group %s, so that, and only that, option must be specified  in the config", p.Option, p.Group)
	case len(options) != 1:
		return invalidDomainConfig("Trying to update group %s, so that, and only that, group must be specified in the config", p.Group)
	case !found:
		return invalidDomainConfig("request to update group %s, but config provided contains group %s instead", p.Group, options[0].Key)
	case p.Option != "" && !foundOption:
		return invalidDomainConfig("Trying to update option %s in group %s, but config provided contains option %s instead", p.Option, p.Group, group[0].Key)
	}
	return nil
}

// Delete removes all that a domain sets, or a group or an option of it: 404
// when that is not there.
func (c DomainConfigs) Delete(ctx context.Context, domainID string, at ConfigPath) error {
	return c.change(ctx, domainID, func(conn db.Conn, had []ConfigPath) error {
		if err := c.allow(at); err != nil {
			return err
		}
		for _, part := range []ConfigPath{{Group: at.Group}, at} {
			if part.Group != "" && !slices.ContainsFunc(had, part.holds) {
				return noDomainConfig(domainID, part)
			}
		}
		var b db.Batch
		remove(&b, domainID, at)
		return conn.Send(ctx, &b)
	})
}

// holds reports whether an option is that of the path, or in its group.
func (p ConfigPath) holds(o ConfigPath) bool {
	return o.Group == p.Group && (p.Option == "" || o.Option == p.Option)
}

// change runs f with the names of the options that a domain sets, while nobody
// else changes them; 404 without the domain.
func (c DomainConfigs) change(ctx context.Context, domainID string, f func(conn db.Conn, had []ConfigPath) error) error {
	err := c.DB.Tx(ctx, func(conn db.Conn) error {
		var b db.Batch
		db.Add(&b, Held(conn.Dialect(), domainID))
		domain, had := db.Add(&b, DomainByID(domainID)), db.Add(&b, configNames(domainID))
		if err := conn.Send(ctx, &b); err != nil {
			return err
		}
		if len(domain.All()) == 0 {
			return fault.NoSuch("domain", domainID)
		}
		return f(conn, had.All())
	})
	if errors.Is(err, db.ErrDuplicate) {
		// A Python server, which holds nothing, has stored the same meanwhile.
		return fault.Duplicate("domain configuration", "it is being changed")
	}
	return fault.Wrap(err, "change the configuration of domain", domainID)
}

func configNames(domainID string) db.Query[ConfigPath] {
	return db.Query[ConfigPath]{
		Text: `select "group", "option" from whitelisted_config where domain_id = $1 union select "group", "option" from sensitive_config where domain_id = $1`,
		Args: []any{domainID},
		Scan: func(r db.Row) (p ConfigPath, err error) { err = r.Scan(&p.Group, &p.Option); return p, err },
	}
}

// domainConfig is what a domain sets.
type domainConfig struct{ plain, secret []configOption }

// store queues options, sends the batch, and reads what is set then.
func (c DomainConfigs) store(ctx context.Context, conn db.Conn, b *db.Batch, domainID string, options pyjson.Object) (now domainConfig, err error) {
	for _, g := range options {
		secret, _ := c.secret(g.Key)
		for _, o := range g.Value.(pyjson.Object) {
			table := plainTable
			if slices.Contains(secret, o.Key) {
				table = secretTable
			}
			b.Exec(`insert into `+table+` (domain_id, "group", "option", value) values ($1, $2, $3, $4)`, domainID, g.Key, o.Key, pyjson.Encode(o.Value))
		}
	}
	plain, secret := db.Add(b, configRows(plainTable, domainID, ConfigPath{})), db.Add(b, configRows(secretTable, domainID, ConfigPath{}))
	err = conn.Send(ctx, b)
	return domainConfig{plain.All(), secret.All()}, err
}

// remove queues that options go, secret or not.
func remove(b *db.Batch, domainID string, at ConfigPath) {
	for _, table := range []string{plainTable, secretTable} {
		w := at.where(domainID)
		b.Exec(`delete from `+table+w.String(), w.Args...)
	}
}
