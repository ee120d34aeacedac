package identity

import (
	"bytes"
	"encoding/json"

	"github.com/keystone-go/keystone-go/internal/db"
)

// The ids of the user options (keystone/identity/backends/resource_options.py).
const (
	OptionIgnoreFirstUse   = "1000"
	OptionIgnoreExpiry     = "1001"
	OptionIgnoreLockout    = "1002"
	OptionLockPassword     = "1003"
	OptionIgnoreInactivity = "1004"
	OptionMFARules         = "MFAR"
	OptionMFAEnabled       = "MFAE"
)

// optionNames pairs each option with its name in the API, in the order shown.
var optionNames = []struct{ id, name string }{
	{OptionIgnoreFirstUse, "ignore_change_password_upon_first_use"},
	{OptionIgnoreExpiry, "ignore_password_expiry"},
	{OptionIgnoreLockout, "ignore_lockout_failure_attempts"},
	{OptionLockPassword, "lock_password"},
	{OptionIgnoreInactivity, "ignore_user_inactivity"},
	{OptionMFARules, "multi_factor_auth_rules"},
	{OptionMFAEnabled, "multi_factor_auth_enabled"},
}

// Option is a stored option: its id and its JSON value.
type Option struct{ UserID, ID, Value string }

// Options are the options of one user by id.
type Options map[string]string

// OptionsOf reads the options of a user.
func OptionsOf(userID string) db.Query[Option] {
	return optionsWhere(`o.user_id = $1`, userID)
}

// OptionsByName reads the options of a local user, found as AccountByName does.
func OptionsByName(name, domainID string) db.Query[Option] {
	return optionsWhere(`o.user_id = (select l.user_id from local_user l where l.name = $1 and l.domain_id = $2)`, name, domainID)
}

// OptionsByNames reads the options of a local user, found as AccountByNames does.
func OptionsByNames(name, domainName string) db.Query[Option] {
	return optionsWhere(`o.user_id = (select l.user_id from local_user l join project d on d.id = l.domain_id
  where l.name = $1 and d.name = $2 and d.is_domain = $3)`, name, domainName, true)
}

func optionsWhere(where string, args ...any) db.Query[Option] {
	return db.Query[Option]{
		Text: `select o.user_id, o.option_id, o.option_value from user_option o where ` + where,
		Args: args,
		Scan: func(r db.Row) (Option, error) {
			var o Option
			var value *string
			err := r.Scan(&o.UserID, &o.ID, &value)
			o.Value = deref(value)
			return o, err
		},
	}
}

// OptionsFrom collects rows into a map.
func OptionsFrom(rows []Option) Options {
	o := make(Options, len(rows))
	for _, row := range rows {
		o[row.ID] = row.Value
	}
	return o
}

// On tells whether a boolean option is set to true.
func (o Options) On(id string) bool { return o[id] == "true" }

// MFARules gives the rules that a login must satisfy one of; nil when none
// apply. What Python would not accept is dropped as Python drops it: data that
// is no list counts as no rules, a bad rule is left out.
func (o Options) MFARules() [][]string {
	text, ok := o[OptionMFARules]
	if !ok || o[OptionMFAEnabled] == "false" {
		return nil
	}
	var raw []any
	if json.Unmarshal([]byte(text), &raw) != nil {
		return nil
	}
	var rules [][]string
	for _, r := range raw {
		if rule := stringList(r); len(rule) > 0 {
			rules = append(rules, rule)
		}
	}
	return rules
}

func stringList(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, x := range list {
		s, ok := x.(string)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// Named is an option as the API shows it.
type Named struct {
	Name  string
	Value any
}

// Named lists the options by name; ids that are not known are left out.
func (o Options) Named() []Named {
	var out []Named
	for _, n := range optionNames {
		text, ok := o[n.id]
		if !ok {
			continue
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader([]byte(text)))
		dec.UseNumber()
		if dec.Decode(&v) == nil {
			out = append(out, Named{n.name, v})
		}
	}
	return out
}

// OptionID gives the id of an option's API name.
func OptionID(name string) (string, bool) {
	for _, n := range optionNames {
		if n.name == name {
			return n.id, true
		}
	}
	return "", false
}
