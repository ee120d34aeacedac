package token

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/tinylib/msgp/msgp"
)

const uuidSize = 16

// writer appends the elements of a payload.
type writer struct {
	f   *Fernet
	out []byte
}

func (w *writer) elements(layout []element, t *Token) error {
	for _, e := range layout {
		if err := w.element(e, t); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) element(e element, t *Token) error {
	switch e {
	case user:
		if t.UserID == "" {
			return errors.New("no user")
		}
		w.id(t.UserID)
	case methodNumber:
		w.out = msgp.AppendUint64(w.out, w.f.methods.number(t.Methods))
	case domain:
		w.id(t.DomainID)
	case bareDomain:
		return w.bareDomain(t.DomainID)
	case project:
		w.id(t.ProjectID)
	case trust:
		return w.trust(t.TrustID)
	case groups:
		w.out = msgp.AppendArrayHeader(w.out, uint32(len(t.GroupIDs)))
		for _, id := range t.GroupIDs {
			w.id(id)
		}
	case idp:
		w.id(t.IDPID)
	case protocol:
		w.out = msgp.AppendString(w.out, t.ProtocolID)
	case accessToken:
		w.id(t.AccessTokenID)
	case system:
		w.out = msgp.AppendString(w.out, t.System)
	case expires:
		w.out = msgp.AppendFloat64(w.out, float64(t.ExpiresAt.Unix()))
	case audits:
		return w.audits(t.AuditIDs)
	case appCred:
		w.id(t.AppCredID)
	case thumbprint:
		w.id(t.Thumbprint)
	}
	return nil
}

// id writes the pair [is a UUID, id]; "" is Python's None.
func (w *writer) id(id string) {
	w.out = msgp.AppendArrayHeader(w.out, 2)
	raw, ok := parseUUID(id)
	w.out = msgp.AppendBool(w.out, ok)
	switch {
	case ok:
		w.out = msgp.AppendBytes(w.out, raw[:])
	case id == "":
		w.out = msgp.AppendNil(w.out)
	default:
		w.out = msgp.AppendString(w.out, id)
	}
}

func (w *writer) bareDomain(id string) error {
	raw, ok := parseUUID(id)
	switch {
	case ok:
		w.out = msgp.AppendBytes(w.out, raw[:])
	case id == w.f.defaultDomain:
		w.out = msgp.AppendString(w.out, id)
	default:
		return fmt.Errorf("domain id %q is no UUID and not the default domain's", id)
	}
	return nil
}

func (w *writer) trust(id string) error {
	raw, ok := parseUUID(id)
	if !ok {
		return fmt.Errorf("trust id %q is no UUID", id)
	}
	w.out = msgp.AppendBytes(w.out, raw[:])
	return nil
}

func (w *writer) audits(ids []string) error {
	if len(ids) < 1 || len(ids) > maxAudits {
		return fmt.Errorf("%d audit ids", len(ids))
	}
	w.out = msgp.AppendArrayHeader(w.out, uint32(len(ids)))
	for _, id := range ids {
		raw, err := base64.RawURLEncoding.DecodeString(id)
		if err != nil || len(raw) == 0 {
			return fmt.Errorf("%q is no audit id", id)
		}
		w.out = msgp.AppendBytes(w.out, raw)
	}
	return nil
}

// parseUUID accepts what Python's uuid.UUID does. So an id in another form
// than 32 lower-case digits comes back changed, as from Keystone.
func parseUUID(id string) (raw [uuidSize]byte, ok bool) {
	if len(id) != 2*uuidSize || strings.ContainsAny(id, "-{}:") {
		id = strings.ReplaceAll(id, "urn:", "")
		id = strings.ReplaceAll(id, "uuid:", "")
		id = strings.ReplaceAll(strings.Trim(id, "{}"), "-", "")
	}
	if len(id) != 2*uuidSize {
		return raw, false
	}
	_, err := hex.Decode(raw[:], []byte(id))
	return raw, err == nil
}
