package main

import (
	"strings"
	"testing"
)

// TestValidator calls the program as kolla-ansible does before a deployment.
func TestValidator(t *testing.T) {
	as := call{as: "/usr/bin/oslo-config-validator"}
	run := func(text string, more ...string) result {
		p := newPlace(t, text)
		r := as.run(t, append([]string{"--config-file", "/keystone/config-generator/keystone.conf", "--input-file", p.conf}, more...)...)
		r.err = strings.ReplaceAll(r.err, p.conf, "CONF")
		return r
	}
	run("").expect(t, "a clean file", 0, "", "")
	const unknown = "ERROR:oslo_config.validator:token/expirations is not part of the sample config; did you mean [token] expiration?\n"
	run("[token]\nexpirations = 5").expect(t, "an unknown option", 1, "", unknown)
	run("[token]\nexpirations = 5", "--exclude-group", "token").expect(t, "an excluded group", 0, "", "")
	run("[token]\nexpiration = soon").expect(t, "a wrong value", 1, "", `ERROR:oslo_config.validator:CONF:16: [token] expiration: "soon" is not a whole number`)
	run("nonsense").expect(t, "a broken file", 1, "", "ERROR:oslo_config.validator:CONF:15: expected a [section]")
	const older = "WARNING:oslo_config.validator:Deprecated opt assignment/list_limit found\n"
	run("[assignment]\nlist_limit = 5").expect(t, "an older name", 0, "", older)
	run("[assignment]\nlist_limit = 5", "--fatal-warnings").expect(t, "fatal warnings", 1, "", older)
	run("[oslo_messaging_rabbit]\nheartbeat_in_pthread = true").expect(t, "a retired option", 0, "", "WARNING:oslo_config.validator:oslo_messaging_rabbit/heartbeat_in_pthread is not part")
	run("[keystone_authtoken]\nx = 1").expect(t, "another project's section", 0, "", "INFO:")
	run("[openid]\nremote_id_attribute = HTTP_OIDC_ISS").expect(t, "a protocol's section", 0, "", "")
	as.run(t, "--input-file", "/nonexistent").expect(t, "no file", 1, "", "/nonexistent: cannot read the file: it does not exist")
	as.run(t).expect(t, "no argument", 1, "Usage:", "value required for option input-file")
	as.run(t, "--no-such").expect(t, "an unknown flag", 2, "", "unknown flag: --no-such")
}
