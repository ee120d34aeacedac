package oslo_test

import (
	"strconv"
	"strings"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// odd are values that say something about the dialect, whatever the option.
var odd = map[string][]string{
	"comments and signs": {"abc", "x # y", "x ; y", "%(x)s", `abc\`, "=eq=", "a=b", "a:b=c", "é ü", "tab\there", "\u2028", "nul\x00", "a\x1cb"},
	"dollars": {
		"pa$word", "pa$$word", "$$", `\$x`, `\\$debug`, "$", "$ x", "${", "${}", "$}", "$1", "$é", "a $ b", "{7,}$",
		"$debug", "${debug}s", "$debug.", "$max_db_limit", "${token.expiration}", "$token.provider", "$identity.driver x",
		"$driver", "$caching", "${cache_time}.", "$list_limit", "$no_such", "$token", "$auth.methods", "${identity.no_such}",
		"$notification_opt_out", "$database.connection", "${retry_delay}", "${ldap.pool_retry_delay}", "$admin_token",
		"$log_dir/x", "$log_file", "$logdir", "$Debug", "$DEFAULT.debug", "${TOKEN.expiration}", "$transport_url",
		"${domain_config.additional_sensitive_options}", "$sql_connection", "${ DEFAULT.debug }", "$$debug", "$$$debug",
	},
}

// typed are values for each kind of option, right and wrong ones.
var typed = map[string][]string{
	"bool":   {"true", "True", "tRue", "1", "on", "yes", "YES", "false", "0", "off", "no", "No", "2", "t", "", "none", "true # yes"},
	"number": {"1", "10", "300", "-1", "0", "5", "1_0", "1__0", "_1", "007", "+5", "--5", "4097", "86401", " 7", "7.0", "1e1", ".5", "5.", "1e-400", "1e400", "inf", "-inf", "nan", "0x10", "0b1", "10L", "", "99999999999999999999", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "٣", "１"},
	"list":   {"a", "a,b", "a, b ,c", "", ",", ",,", "a,,b", "a,b,", "a,b,,", `"a,b", c`, "a\tb,c", "[a, b]", "a;b"},
	"dict":   {"a:b", "a:b,c:d", "k:v:w, k2:v2", ":v", "a", "k:v,k:w", "", "a,b:c", "a:", "a : b , c", "{a:b}"},
	"lists":  {"a:[b]", "a:[b, c], d : []", "a:[b,c", "a:b", "a:[b],a:[c]", "a,b:[c]", "[a]", "", "a:[]", "a:[,]", "a:[b],,", "a:[b] c", ":[a]"},
	"uri":    {"http://h\\x/", "http://h/\\x", "http://a\\@h/", "http://@h/", "http://:80/", "http://h:123456/", "http://[::1%25eth0]/", "http://[v1.x]/", "http://[]/", "http://h%20x/", "http://h%zz/", "http://999.1.1.1/", "http://[::ffff:1.2.3.4]/", "http://h/\u00e9 x", "ftp://h", "http://" + strings.Repeat("h", 1017), "http://" + strings.Repeat("h", 1018), "https://id.example.test", "https://[::1]:5000/x", "http://h/p?q=1#f", "//h", "http://", "http://a b/", "mailto:x", "http://u@h:80", "http://u:p@h:80/", "", "id.example.test:5000", "http://h:x/", "HTTP://H", "http://h:99999/", "http://é/", "http:///p", "urn:isbn:1", "http://h/%zz", "http://1.2.3.4", "file:///x"},
	"text":   {"sql", "fernet", "", "/var/log/x", "a b", "days", "DAYS", "Weekday", "ES256", "bcrypt", "BCRYPT", "one"},
}

// value gives a value for an option: of its kind, near its bounds, or an odd
// one.
func (g *generator) value(o *conf.Option) string {
	if g.chance(0.3) {
		rule := pick(g, "comments and signs", "dollars", "dollars")
		g.use(rule)
		return pick(g, odd[rule]...)
	}
	if g.chance(0.1) { // of some other kind
		return g.ofKind(pick(g, "bool", "number", "list", "dict", "lists", "uri", "text"))
	}
	switch o.Kind {
	case conf.Bool:
		return g.ofKind("bool")
	case conf.Int, conf.Float:
		if near := bounds(o); len(near) > 0 && g.chance(0.4) {
			return pick(g, near...)
		}
		return g.ofKind("number")
	case conf.List, conf.Multi:
		if len(o.Items) > 0 && g.chance(0.5) {
			return pick(g, append(o.Items, strings.Join(append(o.Items, o.Items...), ", "))...)
		}
		return g.ofKind("list")
	case conf.Dict:
		return g.ofKind("dict")
	case conf.Lists:
		return g.ofKind("lists")
	case conf.URI:
		return g.ofKind("uri")
	}
	if len(o.Choices) > 0 {
		return pick(g, append(o.Choices, strings.ToUpper(o.Choices[0]), strings.ToLower(o.Choices[0]), "")...)
	}
	return g.ofKind("text")
}

func (g *generator) ofKind(kind string) string {
	g.use(kind)
	return pick(g, typed[kind]...)
}

// bounds are the numbers at the bounds of an option and beyond.
func bounds(o *conf.Option) []string {
	var list []string
	if o.Min != nil {
		list = append(list, strconv.FormatFloat(*o.Min, 'f', -1, 64), strconv.FormatFloat(*o.Min-1, 'f', -1, 64))
	}
	if o.Max != nil && *o.Max < 1<<53 {
		list = append(list, strconv.FormatFloat(*o.Max, 'f', -1, 64), strconv.FormatFloat(*o.Max+1, 'f', -1, 64))
	}
	return list
}
