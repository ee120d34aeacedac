package pyjson_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/pyjson"
)

func TestEncode(t *testing.T) {
	s := "x"
	var none *string
	cases := []struct {
		in   any
		want string
	}{
		{nil, `null`},
		{none, `null`},
		{&s, `"x"`},
		{true, `true`},
		{-3, `-3`},
		{int64(1) << 62, `4611686018427387904`},
		{uint8(7), `7`},
		// json.dumps of Python 3.11 for the same floats
		{1.0, `1.0`},
		{0.1, `0.1`},
		{1e15, `1000000000000000.0`},
		{1e16, `1e+16`},
		{123456789012345680.0, `1.2345678901234568e+17`},
		{0.0001, `0.0001`},
		{0.00001, `1e-05`},
		{math.Copysign(0, -1), `-0.0`},
		{math.Inf(1), `Infinity`},
		{math.NaN(), `NaN`},
		{json.Number("10"), `10`},
		{json.Number("-0"), `0`},
		{json.Number("1.50"), `1.5`},
		{json.Number("1E5"), `100000.0`},
		{json.Number("123456789012345678901234567890"), `123456789012345678901234567890`},
		{"a\"\\/\b\f\n\r\t\x00\x1f\x7f~", `"a\"\\/\b\f\n\r\t\u0000\u001f\u007f~"`},
		{"é\u20ac\U0001F600", `"\u00e9\u20ac\ud83d\ude00"`},
		{[]any{}, `[]`},
		{[]string{"a", "b"}, `["a", "b"]`},
		{pyjson.Object{}, `{}`},
		{pyjson.Object{{Key: "z", Value: 1}, {Key: "a", Value: []any{pyjson.Object{{Key: "b", Value: nil}}}}}, `{"z": 1, "a": [{"b": null}]}`},
		{[]pyjson.Object{{{Key: "a", Value: 1}}, {}}, `[{"a": 1}, {}]`},
		{map[string]any{"z": 1, "a": 2}, `{"a": 2, "z": 1}`},
		{map[string]string{"z": "1", "a": "2"}, `{"a": "2", "z": "1"}`},
		{[]int{1, 2}, `[1, 2]`},
		{pyjson.Raw(`{"as": "is"}`), `{"as": "is"}`},
		{struct{}{}, `null`},
		{[]struct {
			B float64 `json:"b,omitempty"`
			A []int   `json:"a"`
			C string
			D int `json:"-"`
		}{{B: 1}}, `[{"b": 1.0, "a": []}]`},
	}
	for _, c := range cases {
		if got := pyjson.Encode(c.in); got != c.want {
			t.Errorf("Encode(%#v): got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestAppendCompact(t *testing.T) {
	in := pyjson.Object{{Key: "title", Value: "x"}, {Key: "code", Value: 1}, {Key: "m", Value: pyjson.Object{{Key: "b", Value: []string{"é", "y"}}, {Key: "a", Value: 2}}}}
	want := `{"code":1,"m":{"a":2,"b":["\u00e9","y"]},"title":"x"}`
	if got := string(pyjson.AppendCompact(nil, in)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if in[0].Key != "title" {
		t.Errorf("the object was sorted in place: %v", in)
	}
}

func TestAppendDense(t *testing.T) {
	v := pyjson.Object{{Key: "b", Value: []any{1, "\u00e9", nil}}, {Key: "a", Value: pyjson.Object{{Key: "z", Value: true}, {Key: "y", Value: []string{}}}}}
	if got, want := string(pyjson.AppendDense(nil, v)), `{"b":[1,"\u00e9",null],"a":{"z":true,"y":[]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecode(t *testing.T) {
	cases := []struct {
		in   string
		want any
	}{
		{` {"b": 1, "a": [true, false, null, "x"]} `, pyjson.Object{{Key: "b", Value: json.Number("1")}, {Key: "a", Value: []any{true, false, nil, "x"}}}},
		{`{"a": 1, "b": 2, "a": 3}`, pyjson.Object{{Key: "a", Value: json.Number("3")}, {Key: "b", Value: json.Number("2")}}},
		{`{}`, pyjson.Object{}},
		{`[]`, []any{}},
		{"\"\\u00e9\\ud83d\\ude00\\n\\/\\\"é\x7f\"", "é\U0001F600\n/\"é\x7f"},
		{`"\u0000"`, "\x00"},
		{`-0.5e-3`, json.Number("-0.5e-3")},
		{`0`, json.Number("0")},
	}
	for _, c := range cases {
		got, err := pyjson.Decode([]byte(c.in))
		if err != nil {
			t.Errorf("Decode(%s): %v", c.in, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("Decode(%s): %s", c.in, d)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	for _, in := range []string{
		``, ` `, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{'a':1}`, `[1`, `[1,]`, `[1 2]`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`,
		`tru`, `nul`, `NaN`, `Infinity`, `01`, `-`, `+1`, `.5`, `1.`, `1e`, `1e+`, `0x1`, `1 2`, `{} x`,
		"\"a\nb\"", "\"a\x00b\"", "\"\xff\"", "\"\xed\xa0\x80\"", `"\ud800"`, `"\ud800\u0041"`, `"\udc00"`, `"\ud800\ud800"`, `{"\ud800": 1}`, "\"\\n\xff\"",
		deep, strings.Repeat(`{"a":`, 1000) + `1` + strings.Repeat(`}`, 1000), strings.Repeat("9", 5000),
	} {
		if v, err := pyjson.Decode([]byte(in)); !errors.Is(err, pyjson.ErrSyntax) {
			t.Errorf("Decode(%.40q): got %v, %v", in, v, err)
		}
	}
	for _, in := range []string{`[]`, `"x"`, `null`, `1`} {
		if _, err := pyjson.DecodeObject([]byte(in)); !errors.Is(err, pyjson.ErrSyntax) {
			t.Errorf("DecodeObject(%s): got %v", in, err)
		}
	}
}

// Many keys, all of them twice, must not cost a square of time.
func TestDecodeManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteByte('{')
	const n = 50_000
	for i := range 2 * n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + pyjson.Encode(i%n) + `":` + pyjson.Encode(i))
	}
	b.WriteByte('}')
	o, err := pyjson.DecodeObject([]byte(b.String()))
	if err != nil || len(o) != n {
		t.Fatalf("got %d members, %v", len(o), err)
	}
	for i, m := range o {
		if m.Key != pyjson.Encode(i) || m.Value != json.Number(pyjson.Encode(i+n)) {
			t.Fatalf("member %d: got %v", i, m)
		}
	}
}

func TestObject(t *testing.T) {
	o := pyjson.Object{{Key: "a", Value: "x"}, {Key: "b", Value: pyjson.Object{{Key: "c", Value: []any{pyjson.Object{}}}}}}
	if s, ok := o.String("a"); s != "x" || !ok {
		t.Errorf("String: %q %v", s, ok)
	}
	if _, ok := o.String("b"); ok {
		t.Error("an object passed for a string")
	}
	if sub, ok := o.Object("b"); !ok || len(sub) != 1 {
		t.Errorf("Object: %v %v", sub, ok)
	}
	if _, ok := o.Get("c"); ok {
		t.Error("Get found what is not there")
	}
	want := map[string]any{"a": "x", "b": map[string]any{"c": []any{map[string]any{}}}}
	if d := cmp.Diff(want, o.Map()); d != "" {
		t.Error(d)
	}
	if got := pyjson.Encode(o.Without("a").Set("d", 1).Set("b", 2)); got != `{"b": 2, "d": 1}` {
		t.Errorf("got %s", got)
	}
}

// What is decoded and encoded again decodes to the same, and whatever we take
// the standard library takes too.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a": [1, -2.5e3, "\ud83d\ude00\u0000", null, true]}`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `[[[[]]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := pyjson.Decode(in)
		if err != nil {
			return
		}
		if !json.Valid(in) {
			t.Fatalf("taken, but no JSON: %q", in)
		}
		text := pyjson.Encode(v)
		if strings.ContainsFunc(text, func(r rune) bool { return r > '~' || r < ' ' }) {
			t.Fatalf("not in ASCII: %q", text)
		}
		if strings.Contains(text, "Infinity") {
			return // Python overflows the same way, and does not read it back either
		}
		again, err := pyjson.Decode([]byte(text))
		if err != nil {
			t.Fatalf("%q became %q: %v", in, text, err)
		}
		if pyjson.Encode(again) != text {
			t.Fatalf("%q changed into %q", text, pyjson.Encode(again))
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	o := pyjson.Object{
		{Key: "id", Value: "ce6bd5ca1ccc4c4b9c6bb2f8963193d7"},
		{Key: "name", Value: "admin"},
		{Key: "enabled", Value: true},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: "http://127.0.0.1:5000/v3/users/ce6bd5ca1ccc4c4b9c6bb2f8963193d7"}}},
	}
	dst := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		dst = pyjson.Append(dst[:0], o)
	}
}
