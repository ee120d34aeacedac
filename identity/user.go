package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// Users creates and changes local users.
type Users struct {
	DB     db.DB
	Hasher hasher
	Rules  PasswordRules
	// Limit is [identity] list_limit, 0 for none.
	Limit    int
	IdleDays *int // [security_compliance] disable_user_account_days_inactive
	Revoker  cascade.Revoker
	Now      func() time.Time
	NewID    func() string
}

// Change is what a create or an update sets; nil leaves as it is.
type Change struct {
	Name           *string
	Enabled        *bool
	DefaultProject **string // set to nil: none
	Password       **string // set to nil: a user who cannot log in
	Options        map[string]*string
	Extra          pyjson.Object // attributes without a column
}

// View is a user as the API shows him.
type View struct {
	Account Account
	Options Options
	Extra   pyjson.Object
}

// Get reads a user of any source.
func (u Users) Get(ctx context.Context, id string) (View, error) {
	return u.read(ctx, u.DB, id)
}

func (u Users) read(ctx context.Context, c db.Conn, id string) (View, error) {
	var b db.Batch
	account, options := db.Add(&b, AccountByID(id)), db.Add(&b, OptionsOf(id))
	if err := c.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return View{}, fault.NoSuch("user", id)
		}
		return View{}, fmt.Errorf("read user %s: %w", id, err)
	}
	a, err := account.One()
	if errors.Is(err, db.ErrNoRow) {
		return View{}, fault.NoSuch("user", id)
	}
	if err != nil {
		return View{}, err
	}
	return Shown(a, options.All()), nil
}

// Create stores a local user of the domain and gives him back.
func (u Users) Create(ctx context.Context, domainID string, ch Change) (View, error) {
	id, now := u.NewID(), u.Now().UTC()
	name, err := cleanName(deref(ch.Name))
	if err != nil {
		return View{}, err
	}
	s, err := u.hashed(ctx, ch, optionsWith(nil, ch.Options))
	if err != nil {
		return View{}, err
	}
	var project any
	if ch.DefaultProject != nil && *ch.DefaultProject != nil {
		project = **ch.DefaultProject
	}
	enabled := ch.Enabled == nil || *ch.Enabled
	var active any // an enabled user counts as seen, where that is counted
	if enabled && u.IdleDays != nil {
		active = db.Date(now)
	}
	var failures any // counted from here on; Python leaves it null of who is disabled
	if enabled {
		failures = 0
	}
	var made View
	err = u.DB.Tx(ctx, func(c db.Conn) error {
		if err := domainExists(ctx, c, domainID); err != nil {
			return err
		}
		if err := u.checkDefaultProject(ctx, c, ch); err != nil {
			return err
		}
		var b db.Batch
		b.Exec(`insert into "user" (id, extra, enabled, default_project_id, created_at, last_active_at, domain_id) values ($1, $2, $3, $4, $5, $6, $7)`,
			id, pyjson.WriteExtra(ch.Extra), enabled, project, now, active, domainID)
		b.Exec(`insert into local_user (user_id, domain_id, name, failed_auth_count) values ($1, $2, $3, $4)`, id, domainID, name, failures)
		if err := c.Send(ctx, &b); err != nil {
			return duplicateName(err, name+" at domain ID "+domainID)
		}
		if s != nil {
			if err := u.setPassword(ctx, c, id, *s); err != nil {
				return err
			}
		}
		if err := u.setOptions(ctx, c, id, nil, ch.Options); err != nil {
			return err
		}
		made, err = u.read(ctx, c, id)
		return err
	})
	return made, err
}

// Delete removes a user with all that is his, and voids his tokens; 404 when
// there is none.
func (u Users) Delete(ctx context.Context, id string) error {
	return u.DB.Tx(ctx, func(c db.Conn) error {
		found, err := db.All(ctx, c, held(c.Dialect(), "user", id))
		if err != nil {
			return fmt.Errorf("read user %s: %w", id, err)
		}
		if len(found) == 0 {
			return fault.NoSuch("user", id)
		}
		return u.Revoker.UserDeleted(ctx, c, id)
	})
}

// Update changes a user (keystone/identity/core.py update_user): an update of
// an enabled user also forgets his failed logins; disabling him or setting a
// password revokes his tokens.
func (u Users) Update(ctx context.Context, before View, ch Change) (View, error) {
	a := before.Account
	if a.LocalID == 0 && (ch.Name != nil && *ch.Name != a.Name || ch.Password != nil) {
		return View{}, fault.New(fault.BadRequest, "The name and the password of user %s are kept by another source and cannot be set here.", a.ID)
	}
	if ch.Name != nil {
		name, err := cleanName(*ch.Name)
		if err != nil {
			return View{}, err
		}
		ch.Name = &name
	}
	s, err := u.hashed(ctx, ch, optionsWith(before.Options, ch.Options))
	if err != nil {
		return View{}, err
	}
	var after View
	err = u.DB.Tx(ctx, func(c db.Conn) error {
		// Read anew, with the row held: no change of another is lost.
		if _, err := db.All(ctx, c, held(c.Dialect(), "user", a.ID)); err != nil {
			return fmt.Errorf("hold user %s: %w", a.ID, err)
		}
		before, err := u.read(ctx, c, a.ID)
		if err != nil {
			return err
		}
		if err := u.update(ctx, c, before, ch, s); err != nil {
			return err
		}
		after, err = u.read(ctx, c, a.ID)
		return err
	})
	return after, err
}

func (u Users) update(ctx context.Context, c db.Conn, before View, ch Change, s *stored) error {
	a := before.Account
	if err := u.checkDefaultProject(ctx, c, ch); err != nil {
		return err
	}
	if ch.Name != nil && *ch.Name != a.Name {
		_, err := c.Exec(ctx, `update local_user set name = $1 where user_id = $2`, *ch.Name, a.ID)
		if err != nil {
			return duplicateName(err, *ch.Name)
		}
	}
	if s != nil {
		if err := u.setPassword(ctx, c, a.ID, *s); err != nil {
			return err
		}
	}
	if err := u.setOptions(ctx, c, a.ID, before.Options, ch.Options); err != nil {
		return err
	}
	if err := c.Send(ctx, u.row(before, ch)); err != nil {
		return fmt.Errorf("update user %s: %w", a.ID, err)
	}
	disabled := ch.Enabled != nil && !*ch.Enabled && a.Enabled
	if disabled {
		if err := cascade.UserDisabled(ctx, c, a.ID); err != nil {
			return err
		}
	}
	if disabled || ch.Password != nil && *ch.Password != nil {
		return u.revoke(ctx, c, a.ID)
	}
	return nil
}

// row queues the update of the user's own row and, where he is enabled, of
// his failed logins and his activity.
func (u Users) row(before View, ch Change) *db.Batch {
	a := before.Account
	enabled := a.Active(u.Now().UTC(), u.IdleDays) // one idle for too long stays out until he is enabled
	if ch.Enabled != nil {
		enabled = *ch.Enabled
	}
	var project any
	if a.DefaultProjectID != "" {
		project = a.DefaultProjectID
	}
	if ch.DefaultProject != nil {
		project = *ch.DefaultProject
	}
	extra := slices.Clone(before.Extra)
	for _, m := range ch.Extra {
		extra = extra.Set(m.Key, m.Value)
	}
	var b db.Batch
	b.Exec(`update "user" set enabled = $1, default_project_id = $2, extra = $3 where id = $4`,
		enabled, project, pyjson.WriteExtra(extra), a.ID)
	if !enabled {
		return &b
	}
	b.Exec(`update local_user set failed_auth_count = $1, failed_auth_at = $2 where user_id = $3`, 0, nil, a.ID)
	if u.IdleDays != nil {
		b.Exec(`update "user" set last_active_at = $1 where id = $2`, db.Date(u.Now().UTC()), a.ID)
	}
	return &b
}

func (u Users) hashed(ctx context.Context, ch Change, o Options) (*stored, error) {
	if ch.Password == nil {
		return nil, nil
	}
	if p := *ch.Password; p != nil {
		if err := u.acceptable(*p); err != nil {
			return nil, err
		}
	} else if u.Rules.Regex != "" {
		return nil, unfit("Password must be a string type")
	}
	s, err := u.newPassword(ctx, *ch.Password, o, false)
	return &s, err
}

func (u Users) checkDefaultProject(ctx context.Context, c db.Conn, ch Change) error {
	if ch.DefaultProject == nil || *ch.DefaultProject == nil {
		return nil
	}
	p, err := db.One(ctx, c, resource.ProjectByID(**ch.DefaultProject))
	if errors.Is(err, db.ErrNoRow) {
		return nil // the login then gives an unscoped token
	}
	if err != nil {
		return fmt.Errorf("read the default project: %w", err)
	}
	if p.IsDomain {
		return fault.New(fault.BadRequest, "User's default project ID cannot be a domain ID: %s", p.ID)
	}
	return nil
}

func (u Users) setOptions(ctx context.Context, c db.Conn, id string, before Options, set map[string]*string) error {
	var b db.Batch
	for option := range before {
		if !known(option) {
			b.Exec(`delete from user_option where user_id = $1 and option_id = $2`, id, option)
		}
	}
	for option, value := range set {
		b.Exec(`delete from user_option where user_id = $1 and option_id = $2`, id, option)
		if value != nil {
			b.Exec(`insert into user_option (user_id, option_id, option_value) values ($1, $2, $3)`, id, option, *value)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("set the options of user %s: %w", id, err)
	}
	return nil
}

func (u Users) revoke(ctx context.Context, c db.Conn, userID string) error {
	var b db.Batch
	u.Revoker.Revoke(&b, cascade.Revocation{UserID: userID})
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("revoke the tokens of user %s: %w", userID, err)
	}
	return nil
}

func optionsWith(before Options, set map[string]*string) Options {
	o := make(Options, len(before)+len(set))
	for id, v := range before {
		o[id] = v
	}
	for id, v := range set {
		if v == nil {
			delete(o, id)
		} else {
			o[id] = *v
		}
	}
	return o
}

func known(option string) bool {
	for _, n := range optionNames {
		if n.id == option {
			return true
		}
	}
	return false
}

// cleanName strips a name as Python does and refuses what no engine stores.
func cleanName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", fault.New(fault.BadRequest, "Invalid input for field 'name': the value must not be blank")
	}
	if strings.ContainsRune(name, 0) {
		return "", fault.New(fault.BadRequest, "Invalid input for field 'name': the value must not hold a NUL")
	}
	return name, nil
}

func duplicateName(err error, name string) error {
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("user", "Duplicate entry found with name %s", name)
	}
	return fmt.Errorf("store user: %w", err)
}
