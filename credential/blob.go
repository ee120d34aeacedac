package credential

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// IsEC2 tells whether the blob of a type is an EC2 key; Python Keystone minds no
// case there.
func IsEC2(kind string) bool { return strings.ToLower(kind) == "ec2" }

// layered tells whether a new blob of a type is stored as JSON once more: of
// "ec2", whose case is minded here.
func layered(kind string) bool { return kind == "ec2" }

func plainOf(kind, blob string) []byte {
	if layered(kind) {
		return pyjson.Append(nil, blob)
	}
	return []byte(blob)
}

// errBlob says no more: what does not parse is a secret.
var errBlob = errors.New("the blob is not what its type says")

// blobOf reads what was decrypted. Under "ec2" there is a text in JSON, or the
// object itself where it was changed, and in what old releases wrote.
func blobOf(kind string, plain []byte) (string, error) {
	if !layered(kind) {
		return string(plain), nil
	}
	v, err := pyjson.Decode(plain)
	if err != nil {
		return "", errBlob
	}
	if text, isText := v.(string); isText {
		return text, nil
	}
	return pyjson.Encode(v), nil
}

// readKey reads the blob of an EC2 key: an object with "access", or a 400.
func readKey(blob string) (pyjson.Object, error) {
	v, err := pyjson.Decode([]byte(blob))
	if err != nil {
		return nil, fault.New(fault.BadRequest, "Invalid blob in credential")
	}
	key, isObject := v.(pyjson.Object)
	if !isObject || len(key) == 0 {
		return nil, fault.Invalid("blob", "credential")
	}
	if access, _ := key.Get("access"); access == nil {
		return nil, fault.Invalid("access", "credential")
	}
	return key, nil
}

// Identify gives an ec2 credential its id, the hash of the access key, and
// writes into its blob on whose behalf it was made.
func (n Credential) Identify(marks pyjson.Object) (Credential, error) {
	key, err := readKey(*n.Blob)
	if err != nil {
		return n, err
	}
	access, isText := key.String("access")
	if !isText {
		return n, fault.Invalid("access", "credential")
	}
	sum := sha256.Sum256([]byte(access))
	n.ID = hex.EncodeToString(sum[:])
	if len(marks) > 0 {
		blob := pyjson.Encode(key.Merge(marks))
		n.Blob = &blob
	}
	return n, nil
}

// marks are what says on whose behalf an EC2 key was made.
var marks = []string{"trust_id", "app_cred_id", "access_token_id", "access_id"}

// keepMarks refuses a blob with other marks than there are.
func (s Credentials) keepMarks(c Credential, blob string) error {
	fresh, err := readKey(blob)
	if err != nil {
		return err
	}
	c, err = s.Open(c)
	if err != nil {
		return err
	}
	old, err := pyjson.DecodeObject([]byte(*c.Blob))
	if err != nil {
		return errBlob
	}
	for _, mark := range marks {
		was, _ := old.Get(mark)
		is, _ := fresh.Get(mark)
		if pyjson.Encode(was) != pyjson.Encode(is) {
			return fault.New(fault.BadRequest, "%s can not be updated for credential", mark)
		}
	}
	return nil
}
