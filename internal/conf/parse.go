package conf

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parse turns the text of one value into the type of its kind, as
// oslo_config/types.py does; nil means unset.
func parse(o *Option, s string) (any, error) {
	switch o.Kind {
	case Bool:
		return parseBool(s)
	case Int:
		return parseInt(o, s)
	case Digits:
		return parseDigits(o, s)
	case Float:
		return parseFloat(s)
	case List:
		return parseItems(o, s)
	case Multi:
		return parseList(s), nil // the default in the tag alone is read so
	case Prefixes:
		return parsePrefixes(o, s)
	case OfLimit:
		return parseLimit(s)
	case Paths:
		return parsePaths(s)
	case Dict:
		return parseDict(s, func(v string) (string, error) { return v, nil })
	case Lists:
		return parseDict(s, parseBracketed)
	case URI:
		return parseURI(o, s)
	}
	return parseString(o, s)
}

func parseString(o *Option, s string) (any, error) {
	if len(o.Choices) == 0 || slices.Contains(o.Choices, s) {
		return s, nil
	}
	for _, c := range o.Choices {
		if strings.EqualFold(c, s) {
			if o.AnyCase {
				return s, nil
			}
			return nil, fmt.Errorf("%q is not known; did you mean %s?", s, c)
		}
	}
	return nil, fmt.Errorf("%q is not known; give %s", s, wanted(o))
}

func parseBool(s string) (any, error) {
	switch strings.ToLower(s) {
	case "true", "1", "on", "yes":
		return true, nil
	case "false", "0", "off", "no":
		return false, nil
	}
	return nil, fmt.Errorf("%q is not a truth value; give true or false", s)
}

var (
	pythonInt   = regexp.MustCompile(`^[+-]?[0-9]+(_[0-9]+)*$`)
	pythonFloat = regexp.MustCompile(`(?i)^[+-]?(([0-9]+(_[0-9]+)*\.?([0-9]+(_[0-9]+)*)?|\.[0-9]+(_[0-9]+)*)(e[+-]?[0-9]+(_[0-9]+)*)?|inf|infinity|nan)$`)
)

func parseInt(o *Option, s string) (any, error) {
	s = asciiDigits(strings.TrimFunc(s, isSpace))
	if s == "" {
		return nil, nil
	}
	if !pythonInt.MatchString(s) {
		return nil, fmt.Errorf("%q is not a whole number; give %s", s, wanted(o))
	}
	n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	if err != nil {
		return nil, fmt.Errorf("%s is out of range; give %s", s, wanted(o))
	}
	return n, nil
}

// parseDigits is stricter than Python's int, so that a limit is written in one
// way only.
func parseDigits(o *Option, s string) (any, error) {
	if s == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if errors.Is(err, strconv.ErrSyntax) {
		return nil, fmt.Errorf("%q is not a whole number in digits; give %s", s, wanted(o))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is out of range; give %s", s, wanted(o))
	}
	return int(n), nil
}

// asciiDigits writes the digits of other scripts, which Python reads too, as
// those of ASCII.
func asciiDigits(s string) string {
	return strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf || !unicode.Is(unicode.Nd, c) {
			return c
		}
		zero := c // the digits of a script follow its zero
		for unicode.Is(unicode.Nd, zero-1) && c-zero < 9 {
			zero--
		}
		return '0' + c - zero
	}, s)
}

func parseFloat(s string) (any, error) {
	s = asciiDigits(strings.TrimFunc(s, isSpace))
	if s == "" {
		return nil, nil
	}
	if !pythonFloat.MatchString(s) {
		return nil, fmt.Errorf("%q is not a number", s)
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("%q is not a number", s)
	}
	return f, nil
}

func parseList(s string) []string {
	s = strings.TrimRight(strings.TrimFunc(s, isSpace), ",")
	if s == "" {
		return []string{}
	}
	list := strings.Split(s, ",")
	for i := range list {
		list[i] = strings.TrimFunc(list[i], isSpace)
	}
	return list
}

// parseItems takes a list; where its items have choices each must be one.
func parseItems(o *Option, s string) (any, error) {
	list := parseList(s)
	for _, item := range list {
		if len(o.Items) > 0 && !slices.Contains(o.Items, item) {
			return nil, fmt.Errorf("%q is not known; give a list of %s", item, strings.Join(o.Items, ", "))
		}
	}
	return list, nil
}

// parseBracketed takes a list in brackets.
func parseBracketed(s string) ([]string, error) {
	s = strings.TrimRight(s, ",")
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") || len(s) < 2 {
		return nil, fmt.Errorf("%q is not a list in brackets, such as [one, two]", s)
	}
	inner := s[1 : len(s)-1]
	if inner == "" {
		return []string{}, nil
	}
	list := strings.Split(inner, ",")
	for i := range list {
		list[i] = strings.TrimFunc(list[i], isSpace)
	}
	return list, nil
}

func parseDict[T any](s string, value func(string) (T, error)) (any, error) {
	d := map[string]T{}
	if s = strings.TrimFunc(s, isSpace); s == "" {
		return d, nil
	}
	parts := strings.Split(s, ",")
	for i := 0; i < len(parts); i++ {
		// A comma may stand inside a name or a value: pieces are put together
		// until they make a pair.
		name, v, err := parsePair(parts[i], value)
		for pair := parts[i]; err != nil; {
			if i++; i == len(parts) {
				return nil, err
			}
			pair += "," + parts[i]
			name, v, err = parsePair(pair, value)
		}
		if name == "" {
			return nil, fmt.Errorf("%q has no name before the colon", parts[i])
		}
		if _, twice := d[name]; twice {
			return nil, fmt.Errorf("the name %q stands twice", name)
		}
		d[name] = v
	}
	return d, nil
}

func parsePair[T any](pair string, value func(string) (T, error)) (string, T, error) {
	name, text, ok := strings.Cut(pair, ":")
	if !ok {
		var none T
		return "", none, fmt.Errorf("%q is not a name:value pair; separate pairs by commas", pair)
	}
	v, err := value(strings.TrimFunc(text, isSpace))
	return strings.TrimFunc(name, isSpace), v, err
}

// The parts of a URL as the package rfc3986 takes them, which oslo.config asks;
// a path may be anything without brackets.
var (
	uriParts     = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://([^\\/?#]+)[^?#\[\]]*(?:[?#]|$)`)
	uriAuthority = regexp.MustCompile(`^(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})+@)?((?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*|\[[^\]]*\])(?::[0-9]{0,5})?\n?$`)
	uriLikeIPv4  = regexp.MustCompile(`^[0-9]{1,3}(?:\.[0-9]{1,3}){3}$`)
	uriFuture    = regexp.MustCompile(`^v[0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+$`)
	uriZone      = regexp.MustCompile(`^(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+$`)
)

func parseURI(o *Option, s string) (any, error) {
	m := uriParts.FindStringSubmatch(s)
	if m == nil || !uriHost(m[2]) {
		return nil, fmt.Errorf("%q is not a URL with scheme and host, such as https://id.example.org:5000", s)
	}
	if len(o.Schemes) > 0 && !slices.Contains(o.Schemes, m[1]) {
		return nil, fmt.Errorf("the scheme %q is not known; give %s", m[1], strings.Join(o.Schemes, " or "))
	}
	if o.MaxLength > 0 && utf8.RuneCountInString(s) > o.MaxLength {
		return nil, fmt.Errorf("the URL is longer than %d characters", o.MaxLength)
	}
	return s, nil
}

func uriHost(authority string) bool {
	m := uriAuthority.FindStringSubmatch(authority)
	if m == nil {
		return false
	}
	host, bracketed := strings.CutPrefix(m[1], "[")
	if !bracketed {
		if uriLikeIPv4.MatchString(host) {
			_, err := netip.ParseAddr(host)
			return err == nil
		}
		return true
	}
	host = strings.TrimSuffix(host, "]")
	if uriFuture.MatchString(host) {
		return true
	}
	address, zone, zoned := strings.Cut(host, "%25")
	_, err := netip.ParseAddr(address)
	return err == nil && !strings.Contains(address, "%") && strings.Contains(address, ":") && (!zoned || uriZone.MatchString(zone))
}

// parsePrefixes takes networks as CIDRs; a single address is a network of one.
func parsePrefixes(o *Option, s string) (any, error) {
	everybody := "would be everybody; name the networks that are meant"
	if o.Name == proxies {
		everybody = "would trust everybody; name the proxies' own networks"
	}
	list := parseList(s)
	for _, item := range list {
		if o.Name == proxies && item == loopback {
			continue
		}
		if err := checkPrefix(item, everybody); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// loopback is a word for the proxies on this host.
const loopback = "loopback"

func checkPrefix(s, everybody string) error {
	if strings.Contains(s, "%") {
		return fmt.Errorf("%q: a network has no zone", s)
	}
	if a, err := netip.ParseAddr(s); err == nil {
		if a.Is4In6() {
			return fmt.Errorf("%q: write the IPv4 address %s", s, a.Unmap())
		}
		return nil
	}
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a network; give CIDRs such as 10.0.0.0/8, fd00::/8", s)
	case p.Addr().Is4In6():
		return fmt.Errorf("%q: write an IPv4 network as such", s)
	case p.Bits() == 0:
		return fmt.Errorf("%q %s", s, everybody)
	case p != p.Masked():
		return fmt.Errorf("%q has bits set beyond its length; did you mean %s?", s, p.Masked())
	}
	return nil
}

// fieldValue fits a typed value to its field.
func fieldValue(o *Option, v any) reflect.Value {
	r := reflect.ValueOf(v)
	if !o.Nullable {
		return r
	}
	p := reflect.New(r.Type())
	p.Elem().Set(r)
	return p
}
