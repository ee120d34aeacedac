package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/internal/jws"
)

// tokens are the providers of tokens and of receipts. Receipts are Fernet
// messages whatever tokens are.
type tokens struct {
	token.Provider
	receipts *token.Fernet
	repos    map[string]*fernet.Repository // by section
	signers  *jws.Keys                     // nil with Fernet
}

// IssueReceipt encrypts a receipt.
func (t tokens) IssueReceipt(r *token.Receipt) (string, error) { return t.receipts.IssueReceipt(r) }

// DecodeReceipt decrypts a receipt.
func (t tokens) DecodeReceipt(s string) (*token.Receipt, error) { return t.receipts.DecodeReceipt(s) }

// ready reports what keeps keys from being read.
func (t tokens) ready() error {
	for name, repo := range t.repos {
		if err := repo.Info().Err; err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if t.signers != nil {
		if err := t.signers.Err(); err != nil {
			return fmt.Errorf("jwt_tokens: %w", err)
		}
	}
	return nil
}

// keys opens what [token] provider needs, and the keys of receipts, which may
// be others.
func (b *builder) keys(context.Context) error {
	var err, receiptErr error
	b.tokens.repos = map[string]*fernet.Repository{}
	switch provider := b.cfg.Token.Provider; provider {
	case "fernet":
		b.tokens.Provider, err = b.fernet("fernet_tokens", b.cfg.FernetTokens.KeyRepository)
	case "jws":
		b.tokens.signers, err = held(b, "jwt_tokens", b.cfg.JWTTokens, func() (*jws.Keys, error) { return jws.Open(b.jws()) }, nil)
		b.tokens.Provider = token.NewJWS(b.tokens.signers, b.Now)
		if err != nil {
			err = b.blame("jwt_tokens", "jws_private_key_repository", err)
		}
	default:
		err = b.blame("token", "provider", fmt.Errorf("%q is not known; give fernet or jws", provider))
	}
	if receipts := b.cfg.FernetReceipts.KeyRepository; err == nil || b.cfg.Token.Provider != "fernet" || receipts != b.cfg.FernetTokens.KeyRepository {
		b.tokens.receipts, receiptErr = b.fernet("fernet_receipts", receipts)
	}
	b.app.tokens = b.tokens
	return errors.Join(err, receiptErr)
}

// fernet opens a folder of keys, once where two sections name the same one.
func (b *builder) fernet(section, dir string) (*token.Fernet, error) {
	repo, err := held(b, "keys "+dir, dir, func() (*fernet.Repository, error) { return fernet.Open(dir, b.Now) }, nil)
	if err != nil {
		return nil, b.blame(section, "key_repository", err)
	}
	if b.tokens.repos["fernet_tokens"] != repo {
		b.tokens.repos[section] = repo
	}
	return token.NewFernet(repo, b.cfg.Auth.Methods, b.cfg.Identity.DefaultDomainID), nil
}

// credentialKeys opens the keys of stored credentials. That there are none is
// told, and no reason not to start: Python Keystone starts as well.
func (b *builder) credentialKeys(context.Context) error {
	dir := b.cfg.Credential.KeyRepository
	v, err := held(b, "credential keys", dir, func() (*fernet.Vault, error) { return fernet.OpenVault(dir, b.Now) }, nil)
	if err != nil {
		return b.blame("credential", "key_repository", err)
	}
	if b.vault = v; v.Keyless() {
		b.app.Warnings = append(b.app.Warnings, fmt.Sprintf("[credential] key_repository: %s holds no key: stored credentials are encrypted with the null key, which everybody knows", dir))
	}
	return nil
}

func (b *builder) jws() jws.Config {
	c := b.cfg.JWTTokens
	out := jws.Config{
		PrivateDir: c.JWSPrivateKeyRepository, PublicDir: c.JWSPublicKeyRepository,
		Sign: jws.Algorithm(c.JWSAlgorithm), Now: b.Now, Log: b.Log,
	}
	for _, name := range c.JWSAcceptedAlgorithms {
		if a := jws.Algorithm(name); a.Known() {
			out.Accept = append(out.Accept, a)
		} else {
			b.Log.Warn("[jwt_tokens] jws_accepted_algorithms has a name that no token of Keystone has", "algorithm", name)
		}
	}
	return out
}
