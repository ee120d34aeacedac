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
		return parseList(s), nil
	case Multi:
		return parseList(s), nil // the default in the tag alone is read so
	case Prefixes:
		return parsePrefixes(s)
	case Dict:
		return parseDict(s)
	case URI:
		return parseURI(s)
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
	s = strings.TrimFunc(s, isSpace)
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

func parseFloat(s string) (any, error) {
	s = strings.TrimFunc(s, isSpace)
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

func parseDict(s string) (any, error) {
	d := map[string]string{}
	if s = strings.TrimFunc(s, isSpace); s == "" {
		return d, nil
	}
	parts := strings.Split(s, ",")
	for i := 0; i < len(parts); i++ {
		pair := parts[i]
		// A comma may stand inside a name: pieces are put together until a
		// colon turns up.
		for !strings.Contains(pair, ":") {
			if i++; i == len(parts) {
				return nil, fmt.Errorf("%q is not a name:value pair; separate pairs by commas", pair)
			}
			pair += "," + parts[i]
		}
		k, v, _ := strings.Cut(pair, ":")
		k = strings.TrimFunc(k, isSpace)
		if k == "" {
			return nil, fmt.Errorf("%q has no name before the colon", pair)
		}
		if _, twice := d[k]; twice {
			return nil, fmt.Errorf("the name %q stands twice", k)
		}
		d[k] = strings.TrimFunc(v, isSpace)
	}
	return d, nil
}

var (
	uriParts  = regexp.MustCompile(`^(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)`)
	uriScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)
	uriHost   = regexp.MustCompile(`^(?:[^@]*@)?((?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+|\[[0-9A-Fa-f:.]+(?:%25[A-Za-z0-9._~-]+)?\])(?::[0-9]*)?$`)
	uriPath   = regexp.MustCompile(`^(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*$`)
)

func parseURI(s string) (any, error) {
	m := uriParts.FindStringSubmatch(s)
	if m == nil || !uriScheme.MatchString(m[1]) || !uriHost.MatchString(m[2]) || !uriPath.MatchString(m[3]) {
		return nil, fmt.Errorf("%q is not a URL with scheme and host, such as https://id.example.org:5000", s)
	}
	return s, nil
}

// parsePrefixes takes networks as CIDRs; a single address is a network of one.
func parsePrefixes(s string) (any, error) {
	list := parseList(s)
	for _, item := range list {
		if err := checkPrefix(item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func checkPrefix(s string) error {
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
		return fmt.Errorf("%q would trust everybody; name the proxies' own networks", s)
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
