package identity

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/passhash"
)

// PasswordRules is [security_compliance] as it concerns new passwords.
type PasswordRules struct {
	Regex, RegexDescription string
	ExpiresDays             *int
	History                 int // passwords that may not come again
	MinimumAgeDays          int
	ChangeUponFirstUse      bool
}

// regexTimeout bounds one match: the pattern is the operator's, the text is not.
const regexTimeout = 250 * time.Millisecond

// checkStrength holds a new password against the pattern, as Python's re.match
// does: anchored at the start alone.
func (r PasswordRules) checkStrength(password string) error {
	if r.Regex == "" {
		return nil
	}
	re, err := r.compile()
	if err != nil {
		return unfit("Unable to validate password due to invalid configuration")
	}
	re.MatchTimeout = regexTimeout
	if ok, err := re.MatchString(password); err != nil || !ok {
		detail := "None"
		if r.RegexDescription != "" {
			detail = r.RegexDescription
		}
		return fault.New(fault.BadRequest, "The password does not match the requirements: %s.", detail)
	}
	return nil
}

func (r PasswordRules) compile() (*regexp2.Regexp, error) {
	return regexp2.Compile(`\A(?:`+goRegex(r.Regex)+`)`, regexp2.None)
}

// Valid reports what keeps the pattern from being used; without one, nothing.
func (r PasswordRules) Valid() error {
	_, err := r.compile()
	return err
}

func unfit(detail string) error {
	return fault.New(fault.BadRequest, "Password validation error: %s.", detail)
}

var pythonBackreference = regexp.MustCompile(`\(\?P=(\w+)\)`)

// goRegex writes Python's named groups and the references to them in the form
// that regexp2 reads.
func goRegex(pattern string) string {
	return pythonBackreference.ReplaceAllString(strings.ReplaceAll(pattern, "(?P<", "(?<"), `\k<$1>`)
}

func passwordsOf(userID string) db.Query[Password] {
	return db.Query[Password]{
		Text: `select p.id, p.password_hash, p.created_at, p.created_at_int, p.expires_at, p.expires_at_int, p.self_service
from password p join local_user l on l.id = p.local_user_id
where l.user_id = $1 order by p.created_at_int desc, p.id desc`,
		Args: []any{userID},
		Scan: func(r db.Row) (Password, error) {
			var p Password
			var hash *string
			var created, expires *time.Time
			var createdInt, expiresInt *int64
			err := r.Scan(&p.ID, &hash, &created, &createdInt, &expires, &expiresInt, &p.SelfService)
			p.Hash, p.CreatedAt, p.ExpiresAt = deref(hash), deref(moment(createdInt, created)), moment(expiresInt, expires)
			return p, err
		},
	}
}

// stored is a new row of the password table.
type stored struct {
	hash        *string
	expires     *time.Time
	selfService bool
}

// newPassword hashes a password and decides when it expires; nil stores none.
func (u Users) newPassword(ctx context.Context, password *string, o Options, selfService bool) (stored, error) {
	s := stored{selfService: selfService}
	if password != nil {
		hash, err := u.Hasher.Hash(ctx, *password)
		if err != nil {
			return s, err
		}
		s.hash = &hash
	}
	now := u.Now().UTC()
	switch {
	case !selfService && u.Rules.ChangeUponFirstUse && !o.On(OptionIgnoreFirstUse):
		s.expires = &now
	case u.Rules.ExpiresDays != nil && !o.On(OptionIgnoreExpiry):
		at := now.AddDate(0, 0, *u.Rules.ExpiresDays).Truncate(time.Second)
		s.expires = &at
	}
	return s, nil
}

// setPassword ends the passwords that a user has, forgets those beyond the
// history, and adds the new one. c is a transaction.
func (u Users) setPassword(ctx context.Context, c db.Conn, userID string, s stored) error {
	old, err := db.All(ctx, c, passwordsOf(userID))
	if err != nil {
		return fmt.Errorf("read the passwords of user %s: %w", userID, err)
	}
	now := u.Now().UTC()
	created := now.UnixMicro()
	var b db.Batch
	for i, p := range old {
		if i == 0 {
			created = max(created, p.CreatedAt.UnixMicro()+1) // the newest row is the current one
		}
		if i >= max(u.Rules.History, 1) {
			b.Exec(`delete from password where id = $1`, p.ID)
		} else if p.ExpiresAt == nil || p.ExpiresAt.After(now) {
			b.Exec(`update password set expires_at = $1, expires_at_int = $2 where id = $3`, now, now.UnixMicro(), p.ID)
		}
	}
	var expiresInt *int64
	if s.expires != nil {
		micros := s.expires.UnixMicro()
		expiresInt = &micros
	}
	b.Exec(`insert into password (local_user_id, expires_at, self_service, password_hash, created_at_int, expires_at_int, created_at)
values ((select l.id from local_user l where l.user_id = $1), $2, $3, $4, $5, $6, $7)`,
		userID, s.expires, s.selfService, s.hash, created, expiresInt, time.UnixMicro(created).UTC())
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("set the password of user %s: %w", userID, err)
	}
	return nil
}

// ChangePassword is the self-service change of a password that the caller has
// just proved to know (keystone/identity/backends/sql.py change_password).
func (u Users) ChangePassword(ctx context.Context, a Account, o Options, password string) error {
	if err := u.acceptable(password); err != nil {
		return err
	}
	if o.On(OptionLockPassword) {
		return fault.New(fault.BadRequest, "You cannot change your password at this time due to password policy disallowing password changes. Please contact your administrator to reset your password.")
	}
	if err := u.checkAge(a.Password); err != nil {
		return err
	}
	if err := u.checkHistory(ctx, a.ID, password); err != nil {
		return err
	}
	s, err := u.newPassword(ctx, &password, o, true)
	if err != nil {
		return err
	}
	return u.DB.Tx(ctx, func(c db.Conn) error {
		if err := u.setPassword(ctx, c, a.ID, s); err != nil {
			return err
		}
		return u.revoke(ctx, c, a.ID)
	})
}

func (u Users) acceptable(password string) error {
	if err := u.Hasher.CheckLength(password); err != nil {
		return err
	}
	return u.Rules.checkStrength(password)
}

func (u Users) checkAge(p Password) error {
	if u.Rules.MinimumAgeDays == 0 || !p.SelfService {
		return nil
	}
	allowed := p.CreatedAt.AddDate(0, 0, u.Rules.MinimumAgeDays)
	left := allowed.Sub(u.Now().UTC())
	if left <= 0 {
		return nil
	}
	return fault.New(fault.BadRequest, "You cannot change your password at this time due to the minimum password age. Once you change your password, it must be used for %d day(s) before it can be changed. Please try again in %d day(s) or contact your administrator to reset your password.",
		u.Rules.MinimumAgeDays, int(math.Ceil(left.Hours()/24)))
}

// checkHistory compares with the last passwords; all of them run through the
// hashing gate.
func (u Users) checkHistory(ctx context.Context, userID, password string) error {
	if u.Rules.History == 0 {
		return nil
	}
	old, err := db.All(ctx, u.DB, passwordsOf(userID))
	if err != nil {
		return fmt.Errorf("read the passwords of user %s: %w", userID, err)
	}
	for i, p := range old {
		if i == u.Rules.History {
			break
		}
		same, err := u.Hasher.Verify(ctx, p.Hash, password)
		if err != nil {
			return err
		}
		if same {
			return fault.New(fault.BadRequest, "The new password cannot be identical to a previous password. The total number which includes the new password must be unique is %d.", u.Rules.History)
		}
	}
	return nil
}

// hasher is what users need of internal/passhash.
var _ hasher = (*passhash.Hasher)(nil)

type hasher interface {
	Hash(ctx context.Context, password string) (string, error)
	Verify(ctx context.Context, stored, password string) (bool, error)
	CheckLength(password string) error
}
