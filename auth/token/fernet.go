package token

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/keystone-go/keystone-go/internal/fernet"
)

// Fernet is the provider of Fernet tokens and receipts.
type Fernet struct {
	repo          *fernet.Repository
	methods       methods
	defaultDomain string
}

// NewFernet takes the keys, [auth] methods in file order, whose places are
// the bits of the payload, and [identity] default_domain_id. Of a list of
// more than 32 methods the rest has no bit.
func NewFernet(repo *fernet.Repository, methodList []string, defaultDomainID string) *Fernet {
	list := slices.Clone(methodList[:min(len(methodList), longest)])
	return &Fernet{repo: repo, methods: list, defaultDomain: defaultDomainID}
}

// Issue encrypts a token; it implements Provider.
func (f *Fernet) Issue(t *Token) (string, error) {
	version, err := versionOf(t)
	if err != nil {
		return "", fmt.Errorf("issue token: %w", err)
	}
	layout := layouts[version]
	t.ExpiresAt = cut(t.ExpiresAt)
	w := writer{f: f, out: make([]byte, 0, sealSize)}
	w.out = msgp.AppendArrayHeader(w.out, uint32(1+len(layout)))
	w.out = msgp.AppendUint64(w.out, uint64(version))
	if err := w.elements(layout, t); err != nil {
		return "", fmt.Errorf("issue token: %w", err)
	}
	text, issued, err := f.repo.Encrypt(w.out)
	if err != nil {
		return "", fmt.Errorf("issue token: %w", err)
	}
	t.Version, t.IssuedAt = version, issued
	return text, nil
}

// sealSize is room for the payload of every ordinary token.
const sealSize = 256

// cut is a time as tokens hold it.
func cut(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// Decode decrypts a token; it implements Provider.
func (f *Fernet) Decode(text string) (*Token, error) {
	if text == "" {
		return nil, refuse(textNone)
	}
	r := f.reader()
	defer r.give()
	var issued time.Time
	var err error
	if r.payload, issued, err = f.repo.AppendDecrypt(r.payload[:0], text); errors.Is(err, fernet.ErrInvalid) {
		return nil, refuse(textUnknown)
	} else if err != nil {
		return nil, err
	}
	r.in = r.payload
	return r.token(issued)
}

// IssueReceipt encrypts a receipt, sets its IssuedAt and cuts its ExpiresAt
// to the second.
func (f *Fernet) IssueReceipt(r *Receipt) (string, error) {
	r.ExpiresAt = cut(r.ExpiresAt)
	t := Token{UserID: r.UserID, Methods: r.Methods, ExpiresAt: r.ExpiresAt}
	w := writer{f: f, out: msgp.AppendArrayHeader(nil, uint32(len(receiptLayout)))}
	if err := w.elements(receiptLayout, &t); err != nil {
		return "", fmt.Errorf("issue receipt: %w", err)
	}
	text, issued, err := f.repo.Encrypt(w.out)
	if err != nil {
		return "", fmt.Errorf("issue receipt: %w", err)
	}
	r.IssuedAt = issued
	return text, nil
}

// DecodeReceipt decrypts a receipt; what is none is NoReceipt.
func (f *Fernet) DecodeReceipt(text string) (*Receipt, error) {
	payload, issued, err := f.repo.Decrypt(text)
	if errors.Is(err, fernet.ErrInvalid) {
		return nil, NoReceipt(text)
	}
	if err != nil {
		return nil, err
	}
	t := Token{Methods: []string{}}
	r := f.reader()
	defer r.give()
	r.in = payload
	size := r.array()
	r.elements(receiptLayout, &t)
	if r.bad || len(r.in) > 0 || size != len(receiptLayout) {
		return nil, NoReceipt(text)
	}
	r.finish()
	return &Receipt{UserID: t.UserID, Methods: t.Methods, ExpiresAt: t.ExpiresAt, IssuedAt: issued}, nil
}
