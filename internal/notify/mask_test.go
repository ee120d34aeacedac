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

// TestPartial: what keystone.common.password_hashing makes of the same words.
func TestPartial(t *testing.T) {
	for _, tt := range []struct {
		function string
		most     int
		want     string
	}{
		{"sha256", 0, "4CalBdrgKcPvEHuKXLu9sehv7c3XmicAIvByC4k9Y2E"}, {"sha256", 5, "4CalB"}, {"sha512", 0, "ub6GzWH9fa/Uos4YtMwoqYfbl540B4xayjFGJaPAbBGtz5awAYqCe31SV7jDh8Ho65na00xnR6vwB+oHlO/n8g"},
	} {
		f, err := Partial("pepper", tt.function, tt.most)
		if err != nil {
			t.Fatal(err)
		}
		if got := f("wörd"); got != tt.want {
			t.Errorf("%s, %d: %s, want %s", tt.function, tt.most, got, tt.want)
		}
	}
	for _, bad := range [][2]string{{"", "sha256"}, {"pepper", "md5"}} {
		if _, err := Partial(bad[0], bad[1], 0); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
