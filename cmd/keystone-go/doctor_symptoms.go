package main

import (
	"context"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/internal/pycache"
)

// symptom is one of the checks that keystone-manage has, in its order
// (keystone/cmd/doctor).
type symptom struct {
	name string // as keystone-manage prints it with debug
	finding
	fires func(context.Context, *program, *conf.Config) bool
}

// when makes a check of what the configuration says alone.
func when(f func(*conf.Config) bool) func(context.Context, *program, *conf.Config) bool {
	return func(_ context.Context, _ *program, cfg *conf.Config) bool { return f(cfg) }
}

var symptoms = []symptom{
	{"caching disabled", finding{
		"[cache] enabled is off.", "Python Keystone is much faster with a cache. This server does without, and empties the cache of Python servers on the same database.",
	}, when(func(c *conf.Config) bool { return !c.Cache.Enabled })},
	{"caching enabled without a backend", finding{
		"[cache] backend is not set.", "[cache] enabled is on, but the backend is the one that remembers nothing. Name a real one, such as oslo_cache.memcache_pool.",
	}, when(func(c *conf.Config) bool { return c.Cache.Enabled && c.Cache.Backend == "dogpile.cache.null" })},
	{"connection to memcached", finding{
		"A memcached server does not answer.", "The cache is on, and one of [cache] memcache_servers, or more, cannot be reached.",
	}, memcachedAway},

	{"keys in credential fernet key repository", finding{
		"[credential] key_repository holds no key.", "Make keys with credential_setup, and turn them from time to time with credential_rotate and credential_migrate.",
	}, when(func(c *conf.Config) bool {
		return strings.Contains(c.Credential.Provider, "fernet") && !hasKeys(c.Credential.KeyRepository)
	})},
	{"unique key repositories", finding{
		"Credentials and tokens share their keys.", "[credential] key_repository and [fernet_tokens] key_repository name the same folder. A rotation of the tokens' keys then deletes keys that credentials still need, and tokens give material to attack credentials with. Use two folders.",
	}, when(func(c *conf.Config) bool { return c.Credential.KeyRepository == c.FernetTokens.KeyRepository })},
	{"usability of credential fernet key repository", finding{
		"[credential] key_repository cannot be used.", "The folder has to be there, and the user who runs the server has to be able to read it; nobody else should.",
	}, when(func(c *conf.Config) bool {
		return strings.Contains(c.Credential.Provider, "fernet") && !usable(c.Credential.KeyRepository)
	})},

	{"database connection is not SQLite", finding{
		"The database is SQLite.", "[database] connection names SQLite, which Python Keystone does not mean for production. Here it serves one host well, and never several.",
	}, when(func(c *conf.Config) bool {
		return c.Database.Connection == "" || strings.Contains(c.Database.Connection, "sqlite")
	})},
	{"debug mode is enabled", finding{
		"[DEFAULT] debug is on.", "It is for the search of a fault: the log grows fast.",
	}, when(func(c *conf.Config) bool { return c.Default.Debug })},
	{"comma in SAML private key file path", finding{
		"[saml] keyfile has a comma in its path.", "The path is handed to xmlsec1, which takes a comma for the end of it.",
	}, when(func(c *conf.Config) bool { return strings.Contains(c.SAML.Keyfile, ",") })},
	{"comma in SAML public certificate path", finding{
		"[saml] certfile has a comma in its path.", "The path is handed to xmlsec1, which takes a comma for the end of it.",
	}, when(func(c *conf.Config) bool { return strings.Contains(c.SAML.Certfile, ",") })},

	{"LDAP file based domain specific configs", finding{
		"The folder of the domains' configurations is missing, or has other files.", "[identity] domain_specific_drivers_enabled is on, and the configurations are not kept in the database. [identity] domain_config_dir has to hold files named keystone.DOMAIN.conf alone.",
	}, when(strangeDomainFiles)},
	{"LDAP file based domain specific configs formatted correctly", finding{
		"A domain's configuration cannot be read.", "A file of [identity] domain_config_dir is no INI file: a [section] comes first, no section and no option twice, each line an option = value.",
	}, when(brokenDomainFiles)},
	{"LDAP group members are ids disabled", finding{
		"[ldap] group_members_are_ids is off.", "[ldap] group_objectclass is posixGroup, whose members are user ids and no DNs.",
	}, when(func(c *conf.Config) bool {
		return c.LDAP.GroupObjectclass == "posixGroup" && !c.LDAP.GroupMembersAreIDs
	})},
	{"LDAP user enabled emulation dn ignored", finding{
		"[ldap] user_enabled_emulation_dn has no effect.", "It needs [ldap] user_enabled_emulation.",
	}, when(func(c *conf.Config) bool {
		return !c.LDAP.UserEnabledEmulation && c.Setting("ldap", "user_enabled_emulation_dn").Value != nil
	})},
	{"LDAP user enabled emulation use group config ignored", finding{
		"[ldap] user_enabled_emulation_use_group_config has no effect.", "It needs [ldap] user_enabled_emulation.",
	}, when(func(c *conf.Config) bool {
		return !c.LDAP.UserEnabledEmulation && c.LDAP.UserEnabledEmulationUseGroupConfig
	})},

	{"invalid password regular expression", finding{
		"[security_compliance] password_regex is no regular expression.", "Nobody can change a password until it is one.",
	}, when(func(c *conf.Config) bool {
		return identity.PasswordRules{Regex: c.SecurityCompliance.PasswordRegex}.Valid() != nil
	})},
	{"minimum password age greater than expires days", finding{
		"A password may not be changed before it expires.", "[security_compliance] minimum_password_age has to be less than password_expires_days.",
	}, when(func(c *conf.Config) bool {
		s := c.SecurityCompliance
		return s.MinimumPasswordAge > 0 && s.PasswordExpiresDays != nil && s.MinimumPasswordAge >= *s.PasswordExpiresDays
	})},
	{"password regular expression description not set", finding{
		"[security_compliance] password_regex_description is not set.", "Who gives a password that the expression refuses is not told what would be right.",
	}, when(func(c *conf.Config) bool {
		return c.SecurityCompliance.PasswordRegex != "" && c.SecurityCompliance.PasswordRegexDescription == ""
	})},
	{"unreasonable max token size", finding{
		"[DEFAULT] max_token_size is more than Fernet tokens need.", "255 is enough for them, unless ids are long, as those of LDAP may be.",
	}, when(func(c *conf.Config) bool {
		return strings.Contains(c.Token.Provider, "fernet") && c.Default.MaxTokenSize > 255
	})},
	{"keys in Fernet key repository", finding{
		"[fernet_tokens] key_repository holds no key.", "Make keys with fernet_setup, and turn them from time to time with fernet_rotate.",
	}, when(func(c *conf.Config) bool {
		return strings.Contains(c.Token.Provider, "fernet") && !hasKeys(c.FernetTokens.KeyRepository)
	})},
	{"usability of Fernet key repository", finding{
		"[fernet_tokens] key_repository cannot be used.", "The folder has to be there, and the user who runs the server has to be able to read it; nobody else should.",
	}, when(func(c *conf.Config) bool {
		return strings.Contains(c.Token.Provider, "fernet") && !usable(c.FernetTokens.KeyRepository)
	})},
}

func usable(dir string) bool { return unix.Access(dir, unix.R_OK|unix.X_OK) == nil }

func hasKeys(dir string) bool {
	_, err := fernet.ReadRing(dir)
	return err == nil
}

// memcachedTime is how long a memcached server may take to answer.
const memcachedTime = 2 * time.Second

// memcachedAway knocks at each server, for the two backends that
// keystone-manage asks.
func memcachedAway(ctx context.Context, _ *program, c *conf.Config) bool {
	if !c.Cache.Enabled || c.Cache.Backend != "dogpile.cache.memcached" && c.Cache.Backend != "oslo_cache.memcache_pool" {
		return false
	}
	for _, s := range c.Cache.MemcacheServers {
		network, address, err := pycache.Address(s)
		if err != nil {
			return true
		}
		d := net.Dialer{Timeout: memcachedTime}
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return true
		}
		conn.Close()
	}
	return false
}
