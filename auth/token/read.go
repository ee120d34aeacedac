package token

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"
)

// lastSecond is the end of the year 9999, the last that an answer can show.
const lastSecond = 253402300799

// reader takes a payload apart. After something that does not fit it is bad
// and finds nothing any more, so that callers need to look only once.
type reader struct {
	f   *Fernet
	in  []byte // what is left to read
	bad bool
	// All strings of a token are parts of one, made by finish.
	text []byte
	refs []reference
	// payload is room for what is read, used over and over.
	payload []byte
}

// reference is a string that finish will cut out of the text.
type reference struct {
	to         *string
	start, end int
}

var readers = sync.Pool{New: func() any { return new(reader) }}

func (f *Fernet) reader() *reader {
	r := readers.Get().(*reader)
	r.f, r.bad, r.text = f, false, r.text[:0]
	return r
}

// give puts the reader back for others, without what was read.
func (r *reader) give() {
	clear(r.refs)
	r.f, r.in, r.refs = nil, nil, r.refs[:0]
	if cap(r.payload) <= keep && cap(r.text) <= keep {
		readers.Put(r)
	}
}

// keep is the longest buffer that is worth keeping.
const keep = 8 << 10

// record is a token with room for its short lists, so that all of it is one
// allocation.
type record struct {
	Token
	methods [6]string
	audits  [maxAudits]string
}

// maxAudits is a token's own audit id and its parent's.
const maxAudits = 2

// token reads a payload. What decrypts was made by this cloud, so whatever is
// wrong with it is answered as an unknown token, where Python breaks off.
func (r *reader) token(issued time.Time) (*Token, error) {
	rec := new(record)
	rec.Methods, rec.AuditIDs = rec.methods[:0], rec.audits[:0]
	size := r.array()
	version := r.number()
	switch {
	case r.bad || version > math.MaxInt:
		return nil, refuse(textUnknown)
	case version >= uint64(len(layouts)):
		return nil, refuse(textVersion, version)
	}
	layout := layouts[version]
	r.elements(layout, &rec.Token)
	if r.bad || len(r.in) > 0 || size != 1+len(layout) {
		return nil, refuse(textUnknown)
	}
	r.finish()
	rec.Version, rec.IssuedAt = int(version), issued
	rec.Federated = version >= federatedFrom && version <= federatedTo
	rec.Methods, rec.AuditIDs = slices.Clip(rec.Methods), slices.Clip(rec.AuditIDs)
	return &rec.Token, nil
}

// finish sets the strings that were read.
func (r *reader) finish() {
	text := string(r.text)
	for _, ref := range r.refs {
		*ref.to = text[ref.start:ref.end]
	}
}

// elements reads a payload's; the strings are set by finish.
func (r *reader) elements(layout []element, t *Token) {
	for _, e := range layout {
		if r.bad {
			return
		}
		r.element(e, t)
	}
}

func (r *reader) element(e element, t *Token) {
	switch e {
	case user:
		r.id(&t.UserID)
		r.bad = r.bad || len(r.text) == 0
	case methodNumber:
		t.Methods = r.f.methods.names(t.Methods, r.number())
	case domain:
		r.id(&t.DomainID)
	case bareDomain:
		r.bareDomain(&t.DomainID)
	case project:
		r.id(&t.ProjectID)
	case trust:
		r.uuid(&t.TrustID, r.bytes())
	case groups:
		t.GroupIDs = r.groups()
	case idp:
		r.id(&t.IDPID)
	case protocol:
		r.plain(&t.ProtocolID, r.bytes())
	case accessToken:
		r.id(&t.AccessTokenID)
	case system:
		r.plain(&t.System, r.bytes())
	case expires:
		t.ExpiresAt = r.time()
	case audits:
		t.AuditIDs = r.audits(t.AuditIDs)
	case appCred:
		r.id(&t.AppCredID)
	case thumbprint:
		r.id(&t.Thumbprint)
	}
}

// id reads the pair [is a UUID, id].
func (r *reader) id(to *string) {
	if r.array() != 2 {
		r.bad = true
		return
	}
	isUUID := r.bool()
	switch {
	case r.bad:
	case isUUID:
		r.uuid(to, r.bytes())
	case msgp.IsNil(r.in):
		r.in = r.in[1:]
	default:
		r.plain(to, r.bytes())
	}
}

// bareDomain reads a UUID or the id of the default domain; any other text is
// the default domain of a node that is configured otherwise.
func (r *reader) bareDomain(to *string) {
	b := r.bytes()
	switch {
	case string(b) == r.f.defaultDomain:
		r.plain(to, b)
	default:
		r.uuid(to, b)
	}
}

func (r *reader) groups() []string {
	n := r.array()
	if n > len(r.in) { // each takes a byte at least
		r.bad = true
	}
	if r.bad {
		return nil
	}
	ids := make([]string, n)
	for i := range ids {
		r.id(&ids[i])
	}
	return ids
}

func (r *reader) audits(dst []string) []string {
	n := r.array()
	if n < 1 || n > maxAudits {
		r.bad = true
		return nil
	}
	dst = dst[:n]
	for i := range dst {
		raw := r.bytes()
		r.bad = r.bad || len(raw) == 0
		start := len(r.text)
		r.text = base64.RawURLEncoding.AppendEncode(r.text, raw)
		r.refer(&dst[i], start)
	}
	return dst
}

// time reads seconds since 1970: a float, or an integer from other writers.
func (r *reader) time() time.Time {
	var seconds float64
	switch msgp.NextType(r.in) {
	case msgp.Float64Type, msgp.Float32Type:
		var err error
		seconds, r.in, err = msgp.ReadFloat64Bytes(r.in)
		r.bad = r.bad || err != nil
	default:
		seconds = float64(r.number())
	}
	if !(seconds >= 0 && seconds <= lastSecond) { // NaN is neither
		r.bad = true
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

func (r *reader) uuid(to *string, raw []byte) {
	if len(raw) != uuidSize {
		r.bad = true
		return
	}
	start := len(r.text)
	r.text = hex.AppendEncode(r.text, raw)
	r.refer(to, start)
}

// plain takes text that a database can look up: UTF-8 without NUL.
func (r *reader) plain(to *string, text []byte) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		r.bad = true
		return
	}
	start := len(r.text)
	r.text = append(r.text, text...)
	r.refer(to, start)
}

func (r *reader) refer(to *string, start int) {
	r.refs = append(r.refs, reference{to: to, start: start, end: len(r.text)})
}

// array reads the length of an array.
func (r *reader) array() int {
	n, rest, err := msgp.ReadArrayHeaderBytes(r.in)
	if r.bad = r.bad || err != nil; r.bad {
		return -1
	}
	r.in = rest
	return int(n)
}

func (r *reader) bool() bool {
	b, rest, err := msgp.ReadBoolBytes(r.in)
	if r.bad = r.bad || err != nil; r.bad {
		return false
	}
	r.in = rest
	return b
}

func (r *reader) number() uint64 {
	n, rest, err := msgp.ReadUint64Bytes(r.in)
	if r.bad = r.bad || err != nil; r.bad {
		return 0
	}
	r.in = rest
	return n
}

// bytes reads what msgpack calls bin or str: before msgpack 1.0 there was but
// one of them, and other writers choose otherwise than Python.
func (r *reader) bytes() []byte {
	var b, rest []byte
	var err error
	if msgp.NextType(r.in) == msgp.StrType {
		b, rest, err = msgp.ReadStringZC(r.in)
	} else {
		b, rest, err = msgp.ReadBytesZC(r.in)
	}
	if r.bad = r.bad || err != nil; r.bad {
		return nil
	}
	r.in = rest
	return b
}
