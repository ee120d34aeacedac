package notify

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// TestMasked: what oslo.utils 10 makes of the same texts.
func TestMasked(t *testing.T) {
	for text, want := range map[string]string{
		"agent/1.0 password=letters": "agent/1.0 password=***", "x token = abc def": "x token = *** def",
		"secret2='a b' c": "secret2='***' c", `PASSWORD="a b"`: `PASSWORD="***"`, "a password: word": "a password: word",
		"The password does not match the requirements: a letter": "The password does not match the requirements: a letter",
		"no=password": "no=password", "auth_token=1;b": "auth_token=***", "password=": "password=",
		"passphrase=x,y token=z": "passphrase=*** token=***", "tokens=1": "tokens=1", "--password word": "--password ***", "secretly": "secretly",
	} {
		in := pyjson.Object{{Key: "a", Value: text}, {Key: "n", Value: 1}, {Key: "o", Value: pyjson.Object{{Key: "b", Value: text}}}}
		out := pyjson.Object{{Key: "a", Value: want}, {Key: "n", Value: 1}, {Key: "o", Value: pyjson.Object{{Key: "b", Value: want}}}}
		if d := cmp.Diff(out, masked(in)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", text, d)
		}
		if v, _ := in.String("a"); v != text {
			t.Errorf("%s: what other drivers send is changed to %s", text, v)
		}
	}
}
