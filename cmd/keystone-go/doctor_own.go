package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/migrations"
)

// doctorTime bounds what doctor asks of the database.
const doctorTime = time.Minute

// ownFindings are what keystone-manage does not look for: warnings about what
// is wrong, notes about what an operator should know.
func ownFindings(ctx context.Context, cfg *conf.Config) (warnings, notes []finding) {
	warnings = append(ofConfiguration(cfg), ofPolicy(cfg)...)
	notes = append(ofPasswords(cfg), ofLimits(cfg)...)
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	w, n := ofDatabase(ctx, cfg)
	return append(warnings, w...), append(notes, n...)
}

func ofConfiguration(cfg *conf.Config) []finding {
	var list []finding
	for _, u := range cfg.Unknown {
		text := "It changes nothing."
		if u.Near != "" {
			text += " Did you mean " + u.Near + "?"
		}
		list = append(list, finding{fmt.Sprintf("%s:%d: %s is not known.", u.File, u.Line, u.Name), text})
	}
	for _, s := range cfg.NotServed {
		list = append(list, finding{s.Origin() + ": " + notServed(s) + ".", "What the option asks for is not there."})
	}
	if m := otherMethods(cfg); len(m) > 0 {
		list = append(list, finding{"[auth] methods names methods that are not served: " + strings.Join(m, ", ") + ".", "A login with one of them is refused like one with an unknown method."})
	}
	if keep := cfg.Token.Expiration + cfg.Revoke.ExpirationBuffer; keep < shortMemory {
		list = append(list, finding{
			fmt.Sprintf("Revocations are forgotten after %d seconds.", keep),
			"An event of revocation is kept for [token] expiration plus [revoke] expiration_buffer. A token that was issued when expiration was longer, or that a service fetches with allow_expired after it has expired, may be valid again when the event is gone. Make [revoke] expiration_buffer longer.",
		})
	}
	return list
}

// shortMemory is less than the least that [token] expiration usually is.
const shortMemory = 3600

func ofPolicy(cfg *conf.Config) []finding {
	log := &collector{}
	_, err := wire.NewPolicy(cfg, nil, slog.New(log))
	var list []finding
	if err != nil {
		list = append(list, finding{"The policy files cannot be read.", err.Error()})
	}
	for _, line := range log.lines {
		list = append(list, finding{"The policy files have a fault.", line})
	}
	return list
}

// collector is a log of warnings, a line each.
type collector struct{ lines []string }

// Enabled takes warnings and worse.
func (c *collector) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle keeps the record.
func (c *collector) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	c.lines = append(c.lines, line)
	return nil
}

// WithAttrs and WithGroup are not used by who logs here.
func (c *collector) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup gives the same log.
func (c *collector) WithGroup(string) slog.Handler { return c }

// bcryptBytes is how much of a password bcrypt looks at.
const bcryptBytes = 72

func ofPasswords(cfg *conf.Config) []finding {
	var list []finding
	if cfg.KeystoneGo.PasswordHashAlgorithm == "argon2id" {
		list = append(list, finding{"New passwords are hashed with argon2id.", "Python Keystone cannot verify them: there is no way back to it for who changed his password since, and a Python server beside this one refuses him."})
		return list
	}
	if cfg.Identity.PasswordHashAlgorithm == "bcrypt" && cfg.Identity.MaxPasswordLength > bcryptBytes {
		list = append(list, finding{
			fmt.Sprintf("Passwords may have %d bytes, and bcrypt looks at the first %d.", cfg.Identity.MaxPasswordLength, bcryptBytes),
			"Two long passwords that begin alike are the same password. Set [identity] max_password_length = 72 with [DEFAULT] strict_password_check, or hash with bcrypt_sha256, scrypt or pbkdf2_sha512.",
		})
	}
	return list
}

func ofLimits(cfg *conf.Config) []finding {
	var list []finding
	for _, w := range wire.LimitWarnings(cfg) {
		list = append(list, finding{"Rate limits: " + w + ".", "docs/ratelimit.md says what to set."})
	}
	return list
}

func ofDatabase(ctx context.Context, cfg *conf.Config) (warnings, notes []finding) {
	unreachable := func(err error) []finding {
		return []finding{{"The database cannot be asked.", err.Error()}}
	}
	if err := wire.DatabaseFile(cfg.Database.Connection); err != nil {
		return unreachable(err), nil
	}
	d, err := wire.OpenDB(ctx, cfg, nil)
	if err != nil {
		return unreachable(err), nil
	}
	defer d.Close()
	if err := migrations.Verify(ctx, d, cfg.KeystoneGo.AllowNewerSchema); err != nil {
		return []finding{{"The database schema is not the one that is needed.", err.Error()}}, nil
	}
	if code, err := migrations.Check(ctx, d); err == nil && code == migrations.ContractNeeded {
		notes = append(notes, finding{"The database schema is expanded and not contracted.", "Run db_sync --contract once no server of the older release runs."})
	}
	n, err := ofHashes(ctx, d, cfg)
	if err != nil {
		return unreachable(err), notes
	}
	orphans, err := migrations.FindOrphans(ctx, d)
	if err != nil {
		return unreachable(err), notes
	}
	for _, o := range orphans {
		warnings = append(warnings, finding{o.String() + ".", "They are left over from something that was deleted. They grant nothing unless something gets the same id again. Look at them before they are removed."})
	}
	return warnings, append(notes, n...)
}

func ofHashes(ctx context.Context, d db.DB, cfg *conf.Config) (notes []finding, err error) {
	rows, err := identity.UnindexedPasswords(ctx, d)
	if err != nil {
		return nil, err
	}
	if rows > 0 {
		notes = append(notes, finding{
			fmt.Sprintf("The password table has about %d rows and no index by user.", rows),
			"Each login reads all of it. An index is outside of Keystone's schema, and does it no harm:\ncreate index concurrently keystone_go_password_user on password (local_user_id)",
		})
	}
	hashes, err := identity.Argon2Hashes(ctx, d)
	if err != nil {
		return nil, err
	}
	if hashes > 0 && cfg.KeystoneGo.PasswordHashAlgorithm != "argon2id" {
		notes = append(notes, finding{fmt.Sprintf("%d passwords are hashed with argon2.", hashes), "Python Keystone cannot verify them; who has one has to get a new password before a way back."})
	}
	return notes, nil
}
