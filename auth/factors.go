package auth

import (
	"context"
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// PasswordChanger stores a new password (identity.Users).
type PasswordChanger interface {
	ChangePassword(ctx context.Context, a identity.Account, o identity.Options, password string) error
}

// factors adds the methods of the receipt and holds all that passed against
// the user's rules (keystone/auth/core.py UserMFARulesValidator).
func (s *Service) factors(r Request, p *method.Proof) error {
	if r.Receipt != "" {
		if err := s.addReceipt(r.Receipt, p); err != nil {
			return err
		}
	}
	rules := s.usable(p.Options.MFARules())
	if len(rules) == 0 {
		return nil
	}
	for _, rule := range rules {
		if covered(rule, p.Methods) {
			return nil
		}
	}
	return s.unfinished(p, rules)
}

func (s *Service) addReceipt(text string, p *method.Proof) error {
	receipt, err := s.tokens.DecodeReceipt(text)
	if err != nil {
		return err
	}
	if !s.now().UTC().Before(receipt.ExpiresAt) || receipt.UserID != p.Account.ID {
		return token.NoReceipt(text)
	}
	for _, m := range receipt.Methods {
		if !slices.Contains(p.Methods, m) {
			p.Methods = append(p.Methods, m)
		}
	}
	return nil
}

// usable cuts each rule to the configured methods; one of which nothing is
// left does not count, so that a method that was switched off locks nobody out.
func (s *Service) usable(rules [][]string) [][]string {
	var out [][]string
	for _, rule := range rules {
		var cut []string
		for _, m := range rule {
			if slices.Contains(s.Methods, m) {
				cut = append(cut, m)
			}
		}
		if len(cut) > 0 {
			out = append(out, cut)
		}
	}
	return out
}

func covered(rule, passed []string) bool {
	for _, m := range rule {
		if !slices.Contains(passed, m) {
			return false
		}
	}
	return true
}

// unfinished is the 401 that says which methods are missing and hands out the
// receipt for those that passed.
func (s *Service) unfinished(p *method.Proof, rules [][]string) error {
	receipt := &token.Receipt{
		UserID: p.Account.ID, Methods: p.Methods,
		ExpiresAt: s.now().UTC().Add(s.ReceiptExpiration).Truncate(time.Second),
	}
	text, err := s.tokens.IssueReceipt(receipt)
	if err != nil {
		return err
	}
	required := []any{}
	for _, rule := range rules {
		if slices.ContainsFunc(rule, func(m string) bool { return slices.Contains(p.Methods, m) }) {
			required = append(required, rule)
		}
	}
	user := p.Account
	return &fault.Error{
		Kind: fault.Unauthorized, Plain401: true, Reason: reasonFactors,
		Message: "Additional authentications steps required.",
		Header:  map[string]string{"Openstack-Auth-Receipt": text},
		Body: map[string]any{
			"receipt": pyjson.Object{
				{Key: "methods", Value: p.Methods},
				{Key: "user", Value: pyjson.Object{
					{Key: "id", Value: user.ID},
					{Key: "name", Value: user.Name},
					{Key: "domain", Value: pyjson.Object{{Key: "id", Value: user.Domain.ID}, {Key: "name", Value: user.Domain.Name}}},
				}},
				{Key: "expires_at", Value: isoZ(receipt.ExpiresAt)},
				{Key: "issued_at", Value: isoZ(receipt.IssuedAt)},
			},
			"required_auth_methods": required,
		},
	}
}
