package pyjson

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

type writer struct {
	item, key string
	sorted    bool
}

func (w writer) value(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return appendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return appendFloat(dst, v)
	case json.Number:
		return appendNumber(dst, v)
	case Raw:
		return append(dst, v...)
	case Object:
		return w.object(dst, v)
	case []any:
		return list(dst, v, w.item, w.value)
	case []Object:
		return list(dst, v, w.item, w.object)
	case []string:
		return list(dst, v, w.item, appendString)
	case *string:
		if v == nil {
			return append(dst, "null"...)
		}
		return appendString(dst, *v)
	case map[string]any:
		return mapping(dst, v, w)
	}
	return w.reflected(dst, reflect.ValueOf(v))
}

func (w writer) object(dst []byte, o Object) []byte {
	if w.sorted {
		o = slices.SortedStableFunc(slices.Values(o), func(a, b Member) int {
			return strings.Compare(a.Key, b.Key)
		})
	}
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, w.item...)
		}
		dst = appendString(dst, m.Key)
		dst = append(dst, w.key...)
		dst = w.value(dst, m.Value)
	}
	return append(dst, '}')
}

func list[T any](dst []byte, items []T, sep string, one func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range items {
		if i > 0 {
			dst = append(dst, sep...)
		}
		dst = one(dst, v)
	}
	return append(dst, ']')
}

func mapping[V any](dst []byte, m map[string]V, w writer) []byte {
	o := make(Object, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		o = append(o, Member{k, m[k]})
	}
	return w.object(dst, o)
}

// reflected writes the kinds that value does not name.
func (w writer) reflected(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.String:
		return appendString(dst, v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(dst, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return appendFloat(dst, v.Float())
	case reflect.Slice, reflect.Array:
		items := make([]any, v.Len())
		for i := range items {
			items[i] = v.Index(i).Interface()
		}
		return w.value(dst, items)
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			break
		}
		m := make(map[string]any, v.Len())
		for _, k := range v.MapKeys() {
			m[k.String()] = v.MapIndex(k).Interface()
		}
		return w.value(dst, m)
	case reflect.Struct:
		if o := tagged(v); len(o) > 0 {
			return w.object(dst, o)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return w.value(dst, v.Elem().Interface())
		}
	}
	return append(dst, "null"...)
}

// tagged are the fields of a struct that a json tag names, in their order;
// options in the tag count for nothing.
func tagged(v reflect.Value) (o Object) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" && v.Field(i).CanInterface() {
			o = append(o, Member{name, v.Field(i).Interface()})
		}
	}
	return o
}

// appendFloat writes a float as Python's repr does: shortest form, with a
// point, exponents from 1e16 up and below 1e-4.
func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if abs := math.Abs(f); f != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !slices.Contains(dst[start:], '.') {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendNumber writes a number that was read: an integer keeps all its digits,
// anything else passes through a float, as it does in Python.
func appendNumber(dst []byte, n json.Number) []byte {
	if strings.ContainsAny(string(n), ".eE") {
		f, _ := strconv.ParseFloat(string(n), 64)
		return appendFloat(dst, f)
	}
	switch n {
	case "":
		return append(dst, "null"...)
	case "-0":
		return append(dst, '0')
	}
	return append(dst, n...)
}

const hex = "0123456789abcdef"

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		size := 1
		if c < utf8.RuneSelf {
			dst = appendControl(dst, c)
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			dst = appendRune(dst, r)
		}
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return appendUnit(dst, uint16(c))
}

func appendRune(dst []byte, r rune) []byte {
	if r < 0x10000 {
		return appendUnit(dst, uint16(r))
	}
	high, low := utf16.EncodeRune(r)
	return appendUnit(appendUnit(dst, uint16(high)), uint16(low))
}

func appendUnit(dst []byte, u uint16) []byte {
	return append(dst, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}
