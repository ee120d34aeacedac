package resource

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/rules"
)

// shown are the options that may be read. References among them that cannot be
// filled in are told, as Python Keystone tells them; their text is not, since
// it may hold what should have been a secret.
func (c DomainConfigs) shown(ctx context.Context, domainID string, d domainConfig) pyjson.Object {
	secrets := map[string]any{}
	for _, o := range d.secret {
		secrets[o.name] = o.value
	}
	for _, o := range d.plain {
		text, isText := o.value.(string)
		if !isText || c.Warn == nil {
			continue
		}
		if _, err := fill(text, secrets); err != nil {
			c.Warn(ctx, "An option of a domain refers to a secret in a way that leads nowhere", "domain", domainID, "group", o.group, "option", o.name, "fault", err.Error())
		}
	}
	return grouped(d.plain)
}

var (
	errNoSecret  = errors.New("there is no secret option of that name")
	errMalformed = errors.New("no reference of the form %(name)s")
)

// reference is a percent sign with what belongs to it. Python pads a text of
// any width; a line's worth will do.
var reference = regexp.MustCompile(`(?s)%(%|\(([^()]*)\)([-#0 +]*)(\d{0,3})(\.\d{0,3})?[hlL]?(.))?`)

// fill puts secrets where a text refers to them, as Python's % does with a
// dict: %(name)s, padded or cut if so wanted, and %% for a percent sign. Its
// other conversions are of numbers, which no secret is.
func fill(text string, secrets map[string]any) (string, error) {
	var b strings.Builder
	for {
		at := reference.FindStringSubmatchIndex(text)
		if at == nil {
			return b.String() + text, nil
		}
		m := reference.FindStringSubmatch(text)
		b.WriteString(text[:at[0]])
		text = text[at[1]:]
		if m[1] == "%" {
			b.WriteByte('%')
			continue
		}
		value, found := secrets[m[2]]
		switch {
		case m[1] != "" && !found:
			return "", errNoSecret
		case m[6] != "s":
			return "", errMalformed
		}
		left := ""
		if strings.Contains(m[3], "-") {
			left = "-"
		}
		fmt.Fprintf(&b, "%"+left+m[4]+m[5]+"s", rules.Str(value))
	}
}
