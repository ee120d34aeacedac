package conf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// load reads one file with the text.
func load(t *testing.T, text string) (*conf.Config, error) {
	t.Helper()
	return conf.Load(conf.Sources{Files: []string{write(t, "keystone.conf", text)}})
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustLoad(t *testing.T, text string) *conf.Config {
	t.Helper()
	c, err := load(t, text)
	if err != nil {
		t.Fatalf("load %q: %v", text, err)
	}
	return c
}

// TestValues gives the text after "log_file" in [DEFAULT] and what is read;
// each row was checked against oslo.config 10.7.0.
func TestValues(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{" = plain", "plain"},
		{"=tight", "tight"},
		{": colon", "colon"},
		{" = a:b=c", "a:b=c"},
		{" : a=b", "a=b"},
		{" = x # y", "x # y"},
		{" = x ; y", "x ; y"},
		{" = x \t", "x"},
		{` = "hello world"`, "hello world"},
		{` = " keeps blanks "`, " keeps blanks "},
		{` = 'single'`, "single"},
		{` = "a" and "b"`, `a" and "b`},
		{` = "half`, `"half`},
		{` = "`, ""},
		{" = `back`", "`back`"},
		{` = """three"""`, `""three""`},
		{` = abc\`, `abc\`},
		{` = %(x)s`, `%(x)s`},
		{" =\n  x,\n\ty", "\nx,\ny"},
		{" = x\n  # y", "x\n# y"},
		{" = \"x\"\n  \"y\"", "x\n\"y\""},
		{" = x\n \t \n[auth]", "x"},
		{" = x\r\n y\r\n", "x\ny"},
		{" = x\r y\r", "x\ny"},
		{" = é ü", "é ü"},
		{" = first\nlog_file = last", "last"},
		{" = x\n[auth]\n[DEFAULT]\nlog_file = y", "y"},
		{" = x\n[default]\nlog_file = y", "x"},
		{" =", ""},
		{" = a$$b", "a$b"},
		{` = a\$b`, "a$b"},
		{" = $log_dir/x", "/var/log/x"},
		{" = ${log_dir}s", "/var/logs"},
		{" = ${token.provider}/${identity.max_password_length}", "fernet/4096"},
		{" = $debug $list_limit", "False "},
		{" = $ $1 ${ {7,}$", "$ $1 ${ {7,}$"},
		{" = $admin_token", ""},
		{" = $default_publisher_id\ndefault_publisher_id = a$$b $log_dir", "a$b /var/log"},
		{" = ${auth.methods}", "['external', 'password', 'token', 'oauth1', 'mapped', 'application_credential', 'ec2credential']"},
		{" = ${ldap.pool_retry_delay}", "0.1"},
		{" = $logdir/x", "$logdir/x"},
		{" = ${auth.methods}\n[auth]\nmethods = a\x00b,\"it's\",é\u2028x,'", `['a\x00b', '"it\'s"', 'é\u2028x', "'"]`},
		{" = [$sql_connection]\n[database]\nconnection = not this", "[]"},
		{" = $sql_connection\nsql_connection = this", "this"},
	} {
		c, err := load(t, "[DEFAULT]\nlog_dir = /var/log\nlog_file"+x.text)
		if err != nil {
			t.Errorf("log_file%s: %v", x.text, err)
			continue
		}
		if c.Default.LogFile != x.want {
			t.Errorf("log_file%s: got %q, want %q", x.text, c.Default.LogFile, x.want)
		}
	}
}

// TestTypes reads one value of each kind; want nil is a refusal.
func TestTypes(t *testing.T) {
	expiration := func(c *conf.Config) any { return c.Token.Expiration }
	rounds := func(c *conf.Config) any {
		if c.Identity.PasswordHashRounds == nil {
			return "unset"
		}
		return *c.Identity.PasswordHashRounds
	}
	debug := func(c *conf.Config) any { return c.Default.Debug }
	delay := func(c *conf.Config) any { return c.LDAP.PoolRetryDelay }
	methods := func(c *conf.Config) any { return c.Auth.Methods }
	dict := func(c *conf.Config) any { return c.ProfilerJaeger.ProcessTags }
	lists := func(c *conf.Config) any { return c.DomainConfig.AdditionalSensitiveOptions }
	endpoint := func(c *conf.Config) any { return c.Default.PublicEndpoint }
	hash := func(c *conf.Config) any { return c.Identity.PasswordHashAlgorithm }
	for _, x := range []struct {
		option string
		read   func(*conf.Config) any
		text   string
		want   any
	}{
		{"[token]\nexpiration", expiration, "60", 60},
		{"[token]\nexpiration", expiration, "1_000", 1000},
		{"[token]\nexpiration", expiration, "007", 7},
		{"[token]\nexpiration", expiration, "+5", 5},
		{"[token]\nexpiration", expiration, "３٦", 36},
		{"[token]\nexpiration", expiration, "0x10", nil},
		{"[token]\nexpiration", expiration, "1.0", nil},
		{"[token]\nexpiration", expiration, "1e3", nil},
		{"[token]\nexpiration", expiration, "1__0", nil},
		{"[token]\nexpiration", expiration, "-1", nil},
		{"[token]\nexpiration", expiration, "99999999999999999999", nil},
		{"[token]\nexpiration", expiration, "", nil},
		{"[identity]\npassword_hash_rounds", rounds, "", "unset"},
		{"[identity]\npassword_hash_rounds", rounds, "4", 4},
		{"[DEFAULT]\ndebug", debug, "True", true},
		{"[DEFAULT]\ndebug", debug, "YES", true},
		{"[DEFAULT]\ndebug", debug, "on", true},
		{"[DEFAULT]\ndebug", debug, "1", true},
		{"[DEFAULT]\ndebug", debug, "Off", false},
		{"[DEFAULT]\ndebug", debug, "t", nil},
		{"[DEFAULT]\ndebug", debug, "", nil},
		{"[ldap]\npool_retry_delay", delay, ".5", 0.5},
		{"[ldap]\npool_retry_delay", delay, "1e-1", 0.1},
		{"[ldap]\npool_retry_delay", delay, "0x1p-2", nil},
		{"[auth]\nmethods", methods, "password, token,", []string{"password", "token"}},
		{"[auth]\nmethods", methods, "", []string{}},
		{"[auth]\nmethods", methods, "a,,b,,", []string{"a", "", "b"}},
		{"[auth]\nmethods", methods, `x, "a,b"`, []string{"x", `"a`, `b"`}},
		{"[profiler_jaeger]\nprocess_tags", dict, "a:b, c : d:e", map[string]string{"a": "b", "c": "d:e"}},
		{"[profiler_jaeger]\nprocess_tags", dict, "a,b:c", map[string]string{"a,b": "c"}},
		{"[profiler_jaeger]\nprocess_tags", dict, "a:b,a:c", nil},
		{"[profiler_jaeger]\nprocess_tags", dict, ":b", nil},
		{"[profiler_jaeger]\nprocess_tags", dict, "a", nil},
		{"[domain_config]\nadditional_sensitive_options", lists, "a:[b, c], d : []", map[string][]string{"a": {"b", "c"}, "d": {}}},
		{"[domain_config]\nadditional_sensitive_options", lists, "a:b", nil},
		{"[domain_config]\nadditional_sensitive_options", lists, "a:[b,c", nil},
		{"[DEFAULT]\npublic_endpoint", endpoint, "https://[::1]:5000/identity", "https://[::1]:5000/identity"},
		{"[DEFAULT]\npublic_endpoint", endpoint, "id.example.test:5000", nil},
		{"[DEFAULT]\npublic_endpoint", endpoint, "http://", nil},
		{"[DEFAULT]\npublic_endpoint", endpoint, "http://a b/", nil},
		{"[DEFAULT]\npublic_endpoint", endpoint, "http://h/a b%zz\\", `http://h/a b%zz\`},
		{"[DEFAULT]\npublic_endpoint", endpoint, "http://h/[x]", nil},
		{"[DEFAULT]\npublic_endpoint", endpoint, "http://h/?[x]", "http://h/?[x]"},
		{"[DEFAULT]\npublic_endpoint", endpoint, "http://256.1.1.1/", nil},
		{"[DEFAULT]\npublic_endpoint", endpoint, "http://[::1%25eth0]/", "http://[::1%25eth0]/"},
		{"[DEFAULT]\npublic_endpoint", endpoint, "http://[::1%eth0]/", nil},
		{"[oslo_middleware_tracing]\notlp_endpoint", func(c *conf.Config) any { return c.OsloMiddlewareTracing.OTLPEndpoint }, "ftp://h", nil},
		{"[saml]\nidp_entity_id", func(c *conf.Config) any { return c.SAML.IDPEntityID }, "http://" + strings.Repeat("h", 1018), nil},
		{"[security_compliance]\nreport_invalid_password_hash", func(c *conf.Config) any { return c.SecurityCompliance.ReportInvalidPasswordHash }, "event,", []string{"event"}},
		{"[security_compliance]\nreport_invalid_password_hash", func(c *conf.Config) any { return c.SecurityCompliance.ReportInvalidPasswordHash }, "event,log", nil},
		{"[identity]\npassword_hash_algorithm", hash, "scrypt", "scrypt"},
		{"[identity]\npassword_hash_algorithm", hash, "Scrypt", nil},
		{"[identity]\npassword_hash_algorithm", hash, "argon2id", nil},
		{"[DEFAULT]\nlog_rotation_type", func(c *conf.Config) any { return c.Default.LogRotationType }, "Size", "Size"},
	} {
		c, err := load(t, x.option+" = "+x.text+"\n")
		switch {
		case x.want == nil && err == nil:
			t.Errorf("%s = %s: got %v, want a refusal", x.option, x.text, x.read(c))
		case x.want != nil && err != nil:
			t.Errorf("%s = %s: %v", x.option, x.text, err)
		case x.want != nil:
			if d := cmp.Diff(x.want, x.read(c)); d != "" {
				t.Errorf("%s = %s: %s", x.option, x.text, d)
			}
		}
	}
}

func TestSections(t *testing.T) {
	c := mustLoad(t, `[Token]
expiration = 1
[IDENTITY]
max_password_length = 9
[token]
provider = uuid
[federation]
trusted_dashboard = https://a.test/,x
trusted_dashboard =
[Federation]
trusted_dashboard = https://b.test/
`)
	if c.Token.Expiration != 1 || c.Token.Provider != "uuid" || c.Identity.MaxPasswordLength != 9 {
		t.Errorf("sections that differ in letter case are one: got %+v, %d", c.Token, c.Identity.MaxPasswordLength)
	}
	if d := cmp.Diff([]string{"https://a.test/,x", "", "https://b.test/"}, c.Federation.TrustedDashboard); d != "" {
		t.Errorf("a repeated option keeps all its values: %s", d)
	}
}

// TestDynamicNames covers the two places whose names depend on the file.
func TestDynamicNames(t *testing.T) {
	c := mustLoad(t, `[auth]
methods = password,openid,x509
openid = mapped
kerberos = k
[openid]
remote_id_attribute = HTTP_OIDC_ISS
other = 1
`)
	if d := cmp.Diff(map[string]string{"openid": "mapped"}, c.Auth.Plugins); d != "" {
		t.Errorf("plugins: %s", d)
	}
	if d := cmp.Diff(map[string]conf.Protocol{"openid": {RemoteIDAttribute: "HTTP_OIDC_ISS"}}, c.Protocols); d != "" {
		t.Errorf("protocols: %s", d)
	}
	var unknown []string
	for _, u := range c.Unknown {
		unknown = append(unknown, u.String())
	}
	if d := cmp.Diff([]string{"[auth] kerberos", "[openid] other"}, unknown); d != "" {
		t.Errorf("unknown: %s", d)
	}
}
