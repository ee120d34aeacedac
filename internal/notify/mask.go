package notify

import (
	"regexp"

	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Clients choose their agent, and people names and tags: one that reads
// password=… is hidden from the log, as oslo.messaging's driver does it. Other
// drivers tell it as it is.
const secretWords = `(?:password|passphrase|adminpass|admin_pass|new_pass|secret_uuid|secret|token|sys_pswd|configdrive|encrypted_key|private_key)[0-9]*`

var (
	assigned = regexp.MustCompile(`(?i)(` + secretWords + `\s*=\s*)(?:(")[^"]*(")|(')[^']*(')|[^\s'"^]+)`)
	argument = regexp.MustCompile(`(?i)(--` + secretWords + `\s+)[^\s'"=^]+`)
)

// masked hides secrets in the texts of a message.
func masked(o pyjson.Object) pyjson.Object {
	out := make(pyjson.Object, len(o))
	for i, m := range o {
		switch v := m.Value.(type) {
		case string:
			m.Value = argument.ReplaceAllString(assigned.ReplaceAllString(v, "$1$2$4***$3$5"), "$1***")
		case pyjson.Object:
			m.Value = masked(v)
		}
		out[i] = m
	}
	return out
}
