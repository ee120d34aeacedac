package conf

import (
	"fmt"
	"net/textproto"
	"regexp"
	"strings"
)

// check looks at what spans options: bounds that matter only while a sibling
// is on, and the names that the limiter's header option may take.
func (l *loader) check() {
	for _, o := range l.table.all {
		if o.When != "" && !l.blamed[o.Name] {
			l.checkWhen(o)
		}
	}
	l.checkHeader()
	l.checkLimits()
}

func (l *loader) checkWhen(o *Option) {
	sibling := l.table.byName[Name{o.Section, o.When}]
	on := l.value(sibling)
	if on.value != true {
		return
	}
	r := l.value(o)
	if r.value == nil {
		at := on.from
		if r.from != nil {
			at = r.from
		}
		l.blame(o.Name, at, fmt.Sprintf("a number is needed while %s is true; give %s", o.When, wanted(o)))
		return
	}
	if err := inBounds(o, r.value); err != nil {
		l.blame(o.Name, r.from, err.Error())
	}
}

var (
	headerName = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`)
	trusted    = Name{"rate_limit_trusted_proxies", "trusted_header"}
	proxies    = Name{"rate_limit_trusted_proxies", "trusted_proxies"}
)

func (l *loader) checkHeader() {
	r := l.value(l.table.byName[trusted])
	value, _ := r.value.(string)
	if l.blamed[trusted] || value == "x_forwarded_for" || value == "forwarded" {
		return
	}
	name, single := strings.CutPrefix(value, "single:")
	switch name = strings.TrimSpace(name); {
	case !single || !headerName.MatchString(name):
		l.blame(trusted, r.from, fmt.Sprintf("%q is not known; give x_forwarded_for, forwarded, or single:NAME for a header that holds one address (single:X-Real-IP)", value))
	case textproto.CanonicalMIMEHeaderKey(name) == "X-Forwarded-For", textproto.CanonicalMIMEHeaderKey(name) == "Forwarded":
		l.blame(trusted, r.from, fmt.Sprintf("%s holds a list, not one address; give x_forwarded_for or forwarded", name))
	}
}

// dynamic reads the two places whose names depend on the file: plugins of
// further methods in [auth], and the sections of federation protocols.
func (l *loader) dynamic() {
	c := l.config
	c.Auth.Plugins = map[string]string{}
	for _, method := range c.Auth.Methods {
		n := Name{"auth", method}
		if _, fixed := l.table.byName[n]; fixed {
			continue
		}
		if _, twice := c.Auth.Plugins[method]; twice {
			continue
		}
		if text, ok := l.text(n); ok {
			c.Auth.Plugins[method] = text
		}
	}
	for _, d := range l.docs {
		for _, n := range d.sectionsOf() {
			if n.Option != "remote_id_attribute" || l.table.sections[n.Section] != nil {
				continue
			}
			if _, twice := c.Protocols[n.Section]; twice {
				continue
			}
			if text, ok := l.text(n); ok {
				c.Protocols[n.Section] = Protocol{RemoteIDAttribute: text}
			}
		}
	}
}

// text reads a name that no field has.
func (l *loader) text(n Name) (string, bool) {
	o := &Option{Name: n, Kind: String}
	if l.blamed[n] {
		return "", false
	}
	r := l.compute(o)
	s, ok := r.value.(string)
	if !ok || r.from == nil {
		return "", false
	}
	l.config.dynamic = append(l.config.dynamic, Setting{Name: n, Value: s, File: r.from.file, Line: r.from.line})
	return s, true
}

// isDynamic tells whether a name that no field has is read all the same.
func (l *loader) isDynamic(n Name) bool {
	if n.Section == "auth" {
		_, ok := l.config.Auth.Plugins[n.Option]
		return ok
	}
	return n.Option == "remote_id_attribute" && l.table.sections[n.Section] == nil && !ours(n.Section)
}
