package deployers_test

// row is one call. DIR is the place's folder, USER and GROUP the owner of the
// keys; the first word of a call is the name of the program.
type row struct {
	call string
	env  []string
	code int
	out  string // must stand on stdout; "" stands for an empty stdout
	err  string // must stand on stderr; "" stands for an empty stderr
	// both must stand on stdout or stderr, of Python's program too, whose log
	// goes to the one or the other by release.
	both string
	// files is what the place holds afterwards; "" is not looked at.
	files string
	// before is done to the database of the place first.
	before string
	// after reads a column of text from the database of the place; its rows must
	// be those that holds names, between blanks.
	after, holds string
	// root is a call that only root makes.
	root bool
	// python says where Python's program comes to something else: its exit
	// code, why, and that its files differ. Nil: the same.
	python *python
}

type python struct {
	code      int
	why       string // an entry of docs/divergences.md
	files     bool   // its files differ
	notCalled bool
}

// story is the calls of one deployer, in his order, in one place.
type story struct {
	who  string
	conf map[string]string // further files of the place
	rows []row
}

const (
	owned = " --keystone-user USER --keystone-group GROUP"
	with  = "keystone-manage --config-file DIR/keystone.conf "

	tokenKeys   = "fernet-keys drwx------ UID:GID\nfernet-keys/0 -rw------- UID:GID 44\nfernet-keys/1 -rw------- UID:GID 44"
	receiptKeys = "\nreceipt-keys drwx------ UID:GID\nreceipt-keys/0 -rw------- UID:GID 44\nreceipt-keys/1 -rw------- UID:GID 44"
	rotatedKeys = "fernet-keys drwx------ UID:GID\nfernet-keys/0 -rw------- UID:GID 44\nfernet-keys/1 -rw------- UID:GID 44\nfernet-keys/2 -rw------- UID:GID 44" +
		"\nreceipt-keys drwx------ UID:GID\nreceipt-keys/0 -rw------- UID:GID 44\nreceipt-keys/1 -rw------- UID:GID 44\nreceipt-keys/2 -rw------- UID:GID 44"
	credentialKeys = "credential-keys drwx------ UID:GID\ncredential-keys/0 -rw------- UID:GID 44\ncredential-keys/1 -rw------- UID:GID 44\n"

	nineFlags = "bootstrap --bootstrap-username admin --bootstrap-password secret --bootstrap-project-name admin --bootstrap-role-name admin --bootstrap-service-name keystone" +
		" --bootstrap-admin-url http://x:35357 --bootstrap-internal-url http://x:5000 --bootstrap-public-url http://y:5000 --bootstrap-region-id RegionOne"
)

var variables = []string{
	"OS_BOOTSTRAP_USERNAME=admin", "OS_BOOTSTRAP_PASSWORD=secret", "OS_BOOTSTRAP_PROJECT_NAME=admin", "OS_BOOTSTRAP_ROLE_NAME=admin",
	"OS_BOOTSTRAP_SERVICE_NAME=keystone", "OS_BOOTSTRAP_INTERNAL_URL=http://x:5000/v3", "OS_BOOTSTRAP_PUBLIC_URL=http://y:5000/v3", "OS_BOOTSTRAP_REGION_ID=RegionOne",
}

// logs says that the stream holds log lines, whatever they say.
const logs = " INFO "

// A credential under another key than the primary one.
const strayCredential = `insert into credential (id, user_id, type, extra, key_hash, encrypted_blob) values ('c', 'u', 'cert', '{}',
	'b5cf2f5ba8a6b6f3e2e5b8d3b4b4f9f2e4f1a111', 'gAAAAA')`

// storedOptions are those that domains have set for themselves.
const storedOptions = `select 'whitelisted:' || domain_id || '.' || "group" || '.' || "option" || '=' || value from whitelisted_config
	union all select 'sensitive:' || domain_id || '.' || "group" || '.' || "option" || '=' || value from sensitive_config order by 1`

// fiveDomains makes those whose files are at fault, and one whose file is not.
const fiveDomains = `insert into project (id, name, extra, description, enabled, domain_id, parent_id, is_domain)
	select column1, column1, '{}', '', true, '<<keystone.domain.root>>', null, true from (values ('One'), ('Upper'), ('Option'), ('Hollow'), ('Empty'), ('Broken'))`

var stories = []story{
	{who: "kolla-ansible", rows: []row{
		{call: with + "fernet_setup" + owned, files: tokenKeys + receiptKeys},
		{call: with + "fernet_setup" + owned, err: logs, both: "Key repository is already initialized", files: tokenKeys + receiptKeys},
		{call: with + "fernet_rotate" + owned, files: rotatedKeys},
		{call: with + "db_sync"},
		{call: with + "db_sync --expand"},
		{call: with + "db_sync --migrate", out: "\n"},
		{call: with + "db_sync --contract"},
		{call: with + nineFlags, err: logs, both: "Created user admin"},
		{call: with + nineFlags, err: logs, both: "Domain default already exists, skipping creation."},
		{call: with + nineFlags, err: logs, both: "User admin already has role admin on project admin."},
		{call: with + "--log-file DIR/keystone.log " + nineFlags},
		{call: "oslo-config-validator --config-file /keystone/config-generator/keystone.conf --input-file DIR/keystone.conf", python: &python{notCalled: true}},
		{call: "oslo-config-validator --config-file /keystone/config-generator/keystone.conf --input-file DIR/wrong.conf", code: 1, err: "ERROR:oslo_config.validator:token/expirations is not part of the sample config", python: &python{notCalled: true}},
	}, conf: map[string]string{"wrong.conf": "[token]\nexpirations = 5\n"}},

	{who: "openstack-helm", conf: map[string]string{"keystone.conf.d/a.conf": "[token]\nexpiration = 7200\n"}, rows: []row{
		{call: "keystone-manage --config-file=DIR/keystone.conf fernet_setup --keystone-user=USER --keystone-group=GROUP", files: tokenKeys + receiptKeys},
		{call: "keystone-manage --config-file=DIR/keystone.conf fernet_rotate --keystone-user=USER --keystone-group=GROUP", files: rotatedKeys},
		{call: "keystone-manage --config-file=DIR/keystone.conf --config-dir=DIR/keystone.conf.d db_sync"},
		{call: "keystone-manage --config-file=DIR/keystone.conf --config-dir=DIR/keystone.conf.d bootstrap", env: variables, err: logs, both: "Created internal endpoint http://x:5000/v3"},
		{call: "keystone-manage --config-file=DIR/keystone.conf credential_setup --keystone-user=USER --keystone-group=GROUP"},
		{call: "keystone-manage --config-file=DIR/keystone.conf credential_rotate --keystone-user=USER --keystone-group=GROUP"},
		{
			call: "keystone-manage --config-file=DIR/keystone.conf credential_migrate --keystone-user=USER --keystone-group=GROUP", err: logs,
			files: "credential-keys drwx------ UID:GID\ncredential-keys/0 -rw------- UID:GID 44\ncredential-keys/1 -rw------- UID:GID 44\ncredential-keys/2 -rw------- UID:GID 44\n" + rotatedKeys,
		},
	}},

	{who: "devstack", conf: map[string]string{".keystone/keystone.conf": config}, rows: []row{
		{call: with + "db_sync"},
		{call: with + "fernet_setup" + owned},
		{call: with + "credential_setup" + owned, files: credentialKeys + tokenKeys + receiptKeys},
		{
			call: "keystone-manage bootstrap --bootstrap-username admin --bootstrap-password secret --bootstrap-project-name admin --bootstrap-role-name admin --bootstrap-service-name keystone --bootstrap-region-id RegionOne --bootstrap-public-url http://y/identity",
			err:  logs, both: "Created public endpoint http://y/identity",
		},
	}},

	{who: "puppet-keystone", rows: []row{
		{call: with + "db_sync"},
		{call: with + "fernet_setup" + owned},
		{call: with + "credential_setup" + owned},
		{call: with + "bootstrap", env: variables, err: logs, both: "Created role admin"},
		{call: with + "trust_flush --date 01-01-2020", err: logs},
		{call: with + "saml_idp_metadata", code: 1, err: "saml_idp_metadata is not served yet"},
	}},

	{who: "openstack-ansible", rows: []row{
		{call: with + "db_sync --check", code: 2, out: "db_sync --expand"},
		{call: with + "db_sync --expand"},
		{call: with + "db_sync --check", code: 4, out: "db_sync --contract"},
		{call: with + "db_sync --contract"},
		{call: with + "db_sync --check", out: "up to date"},
		{call: with + "fernet_setup" + owned},
		{call: with + "fernet_rotate" + owned, files: rotatedKeys},
		{call: with + "credential_setup" + owned, files: credentialKeys + rotatedKeys},
		{call: with + "credential_rotate" + owned, before: strayCredential, code: 1, err: "credential_migrate", both: "credential_migrate", files: credentialKeys + rotatedKeys},
		{call: with + "credential_migrate" + owned, code: 1, err: "keystone-manage: 1 credentials cannot be decrypted"},
		{call: with + "credential_rotate" + owned, before: `delete from credential`},
		{call: with + "bootstrap", env: variables, err: logs},
		{call: with + "doctor", code: 1, out: "\nWARNING: ", both: "WARNING: "},
	}},

	{who: "charm-keystone", rows: []row{
		{call: with + "db_sync"},
		{call: with + "bootstrap --bootstrap-password secret --bootstrap-role-name Admin", err: logs, python: &python{code: 1, why: "D-29"}},
		{call: with + "fernet_setup" + owned},
		{call: with + "credential_setup" + owned},
		{call: with + "credential_migrate" + owned, err: logs, files: credentialKeys + tokenKeys + receiptKeys},
		{call: with + "fernet_rotate" + owned, files: credentialKeys + rotatedKeys},
	}},

	{who: "keystone-operator", rows: []row{
		{call: with + "fernet_setup" + owned},
		{call: with + "db_sync"},
		{call: with + "bootstrap", env: variables, err: logs},
		{call: with + "trust_flush --project-id p --trustor-user-id a --trustee-user-id b", err: logs},
	}},

	{who: "Debian", rows: []row{
		{call: with + "fernet_setup" + owned},
		{call: with + "db_sync"},
		{call: with + "bootstrap --bootstrap-role-name admin --bootstrap-service-name keystone --bootstrap-admin-url http://x:5000/v3/", env: variables, err: logs, both: "Created admin endpoint http://x:5000/v3/"},
	}},

	{who: "runbooks", rows: []row{
		{call: with + "token_setup" + owned, files: tokenKeys},
		{call: with + "receipt_setup" + owned, files: tokenKeys + receiptKeys},
		{call: with + "token_rotate" + owned},
		{call: with + "receipt_rotate" + owned, files: rotatedKeys},
		{call: with + "db_version", out: "None\n", both: "None"},
		{call: with + "db_sync"},
		{call: with + "db_version", out: "742c857f1dfb\n", both: "742c857f1dfb"},
		{call: with + "bootstrap", code: 1, out: "OS_BOOTSTRAP_PASSWORD", both: "OS_BOOTSTRAP_PASSWORD"},
		{call: with + "bootstrap --bootstrap-password secret", err: logs},
		{call: with + "project_setup --project-name one --project-id 0123", err: logs, both: "Created project one"},
		{call: with + "project_setup --project-name one --project-id 4567", err: logs, both: "Project one already exists, skipping creation."},
		{call: with + "project_setup", code: 2, err: "--project-name", both: "--project-name"},
		{call: with + "user_setup --username u --user-password-plain first --user-id abc", err: logs, both: "Created user u"},
		{call: with + "user_setup --username u --user-password-plain first --user-id other", code: 1, err: "already exists", both: "already exists"},
		{call: with + "user_setup --username u --user-password-plain second", err: logs, both: "Reset password for user u."},
		{call: with + "user_setup --username v --user-password-plain first", err: logs, python: &python{code: 1, why: "D-31"}},
		{call: with + "reset_last_active", code: 1, out: "[y/N]? ", err: "aborted", both: "[y/N]? "},
		{call: with + "reset_last_active --force", err: logs, python: &python{code: 1, why: "D-32"}},
		{call: with + "mapping_purge", code: 1, err: "at least one option"},
		{call: with + "mapping_purge --type alien", code: 2, err: "alien", both: "alien"},
		{call: with + "mapping_purge --all", err: logs},
		{call: with + "trust_flush --date 2020-01-01", code: 1, err: "DD-MM-YYYY"},
		{
			call: with + "create_jws_keypair" + owned, python: &python{why: "D-30", files: true},
			files: rotatedKeys[:len(rotatedKeys)-len(rotatedReceipts)] + "\nprivate.pem -rw------- UID:GID\npublic.pem -rw-r--r-- UID:GID" + rotatedReceipts,
		},
		{call: with + "create_jws_keypair" + owned, code: 1, err: "already exists", both: "already exists"},
		{call: with + "create_jws_keypair --force" + owned, python: &python{why: "D-30", files: true}},
		{call: with + "fernet_rotate --keystone-user no-such-user --keystone-group GROUP", code: 1, err: "no-such-user", both: "no-such-user"},
		{call: with + "db_sync 12", code: 1, err: "version"},
		{call: with + "db_sync --expand --contract", code: 2, err: "not allowed with", both: "not allowed with"},
		{call: with + "nonsense", code: 2, err: "nonsense", both: "nonsense"},
		{call: "keystone-manage", code: 2, err: "Usage:"},
		{call: "keystone-manage --version", out: "\n"},
		{call: "keystone-status --config-file DIR/keystone.conf upgrade check", out: "| Upgrade Check Results ", python: &python{notCalled: true}},
		{call: "keystone-status --config-file DIR/keystone.conf upgrade check --json", out: `{"name": "Upgrade Check Results", "checks": [{`, python: &python{notCalled: true}},
	}},

	{who: "doctor", conf: map[string]string{
		"sound.conf":  "[database]\nconnection = postgresql://nobody@127.0.0.1:1/none\n[cache]\nenabled = true\nbackend = dogpile.cache.pymemcache\n",
		"debug.conf":  "[DEFAULT]\ndebug = true\n",
		"size.conf":   "[DEFAULT]\nmax_token_size = 300\n",
		"age.conf":    "[security_compliance]\nminimum_password_age = 9\npassword_expires_days = 9\n",
		"regex.conf":  "[security_compliance]\npassword_regex = [a\npassword_regex_description = letters\n",
		"comma.conf":  "[saml]\ncertfile = /etc/a,b\n",
		"ldap.conf":   "[ldap]\nuser_enabled_emulation_dn = cn=x\ngroup_objectclass = posixGroup\n",
		"domain.conf": "[identity]\ndomain_specific_drivers_enabled = true\ndomain_config_dir = DIR/none\n",
		"jws.conf":    "[token]\nprovider = jws\n[fernet_tokens]\nkey_repository = DIR/none\n",
	}, rows: []row{
		{call: with + "--config-file DIR/sound.conf doctor", code: 1, out: "WARNING: [credential] key_repository holds no key.", both: "WARNING: "},
		{call: with + "fernet_setup" + owned},
		{call: with + "credential_setup" + owned},
		{call: with + "--config-file DIR/sound.conf doctor", out: "NOTE: "},
		{call: with + "--config-file DIR/sound.conf --config-file DIR/jws.conf doctor", out: "NOTE: "},
		{call: with + "--config-file DIR/sound.conf --config-file DIR/debug.conf doctor", code: 1, out: "WARNING: ", both: "WARNING: "},
		{call: with + "--config-file DIR/sound.conf --config-file DIR/size.conf doctor", code: 1, out: "WARNING: ", both: "WARNING: "},
		{call: with + "--config-file DIR/sound.conf --config-file DIR/age.conf doctor", code: 1, out: "WARNING: ", both: "WARNING: "},
		{call: with + "--config-file DIR/sound.conf --config-file DIR/regex.conf doctor", code: 1, out: "WARNING: ", both: "WARNING: "},
		{call: with + "--config-file DIR/sound.conf --config-file DIR/comma.conf doctor", code: 1, out: "WARNING: ", both: "WARNING: "},
		{call: with + "--config-file DIR/sound.conf --config-file DIR/ldap.conf doctor", code: 1, out: "WARNING: ", both: "WARNING: "},
		{call: with + "--config-file DIR/sound.conf --config-file DIR/domain.conf doctor", code: 1, out: "WARNING: ", both: "WARNING: "},
	}},

	{who: "root without an owner", rows: []row{
		{call: with + "fernet_setup", root: true, code: 2, err: "--keystone-user", both: "--keystone-user"},
		{call: with + "fernet_rotate --keystone-user USER", root: true, code: 2, err: "--keystone-group", both: "--keystone-group"},
		{call: with + "token_setup", root: true, code: 2, err: "--keystone-user", both: "--keystone-user"},
		{call: with + "receipt_rotate", root: true, code: 2, err: "--keystone-user", both: "--keystone-user"},
		{call: with + "credential_setup", root: true, code: 2, err: "--keystone-user", both: "--keystone-user"},
		{call: with + "credential_rotate", root: true, code: 2, err: "--keystone-user", both: "--keystone-user"},
		{call: with + "credential_migrate", root: true, code: 2, err: "--keystone-user", both: "--keystone-user"},
		{call: with + "create_jws_keypair", root: true, code: 2, err: "--keystone-user", both: "--keystone-user"},
		{call: "keystone-manage --version", out: "\n"},
	}},

	{who: "domains in files", conf: map[string]string{
		"domains.conf":                    "[identity]\ndomain_config_dir = DIR/domains\n",
		"none.conf":                       "[identity]\ndomain_config_dir = DIR/none\n",
		"domains/keystone.Default.conf":   "[identity]\ndriver = ldap\n[ldap]\nurl = ldap://x\n  y\nurl = ldap://z\nuser = 'cn=a$b'\npassword = p=\"é\n[identity]\nlist_limit: 5\n",
		"domains/below/keystone.One.conf": "[ldap]\nurl = ldap://one\n",
		"domains/keystone.None.conf":      "[ldap]\nurl = ldap://x\n",
		"domains/keystone.Upper.conf":     "[LDAP]\nurl = ldap://x\n",
		"domains/keystone.Option.conf":    "[ldap]\nurl = ldap://x\ngroup_ad_nesting = true\n",
		"domains/keystone.Hollow.conf":    "[ldap]\n",
		"domains/keystone.Empty.conf":     "",
		"domains/keystone.Broken.conf":    "[ldap]\nurl\n",
		"domains/keystone.conf":           "[ldap]\n",
		"some/keystone.Upper.conf":        "[ldap]\nmore = 1\nhidden = 2\n",
		"some.conf":                       "[identity]\ndomain_config_dir = DIR/some\n[domain_config]\nadditional_whitelisted_options = ldap:[more]\nadditional_sensitive_options = ldap:[hidden]\n",
	}, rows: []row{
		{call: with + "fernet_setup" + owned},
		{call: with + "db_sync"},
		{call: with + "bootstrap --bootstrap-password secret", err: logs},
		{call: with + "--config-file DIR/domains.conf domain_config_upload", code: 1, out: "At least one option must be provided", both: "At least one option must be provided"},
		{call: with + "--config-file DIR/domains.conf domain_config_upload --all --domain-name Default", code: 1, out: "cannot be used with", both: "The --all option cannot be used with the --domain-name option"},
		{call: with + "--config-file DIR/none.conf domain_config_upload --all", code: 1, err: "nable to locate domain config directory", both: "nable to locate domain config directory"},
		{call: with + "--config-file DIR/domains.conf domain_config_upload --domain-name None", code: 1, out: "ignoring this file", both: "Invalid domain name: None found in config file name: DIR/domains/keystone.None.conf - ignoring this file."},
		{
			call: with + "--config-file DIR/domains.conf domain_config_upload --domain-name Default", err: logs,
			after: storedOptions, holds: `sensitive:default.ldap.password="p=\"\u00e9" whitelisted:default.identity.driver="ldap" whitelisted:default.identity.list_limit="5" whitelisted:default.ldap.url="ldap://x\ny" whitelisted:default.ldap.user="cn=a$b"`,
		},
		{call: with + "--config-file DIR/domains.conf domain_config_upload --domain-name Default", code: 1, out: "already has", both: "Domain: Default already has a configuration defined - ignoring file: DIR/domains/keystone.Default.conf."},
		{
			call: with + "--config-file DIR/domains.conf domain_config_upload --all", before: fiveDomains, code: 1, out: "Error parsing configuration file for domain: Broken", err: logs,
			both:  "error: Invalid domain specific configuration: Option group_ad_nesting in group ldap is not supported for domain specific configurations.",
			after: `select distinct domain_id from whitelisted_config order by domain_id`, holds: "One default",
		},
		{
			call: with + "--config-file DIR/some.conf domain_config_upload --all", err: logs,
			after: `select value from sensitive_config where domain_id = 'Upper' union all select value from whitelisted_config where domain_id = 'Upper'`, holds: `"2" "1"`,
		},
		{call: with + "--config-file DIR/some.conf domain_config_upload --domain-name=", code: 2, err: "--domain-name is empty", python: &python{code: 1, why: "D-38"}},
	}},

	{who: "areas that are not served", rows: []row{
		{call: with + "mapping_populate --domain-name Default", code: 1, err: "not served yet", python: &python{notCalled: true}},
		{call: with + "mapping_engine --rules r --input i", code: 1, err: "not served yet"},
		{call: with + "fernet_rotate" + owned, code: 1, err: "rotate keys: ", python: &python{why: "D-33"}},
		{call: with + "db_sync"},
		{call: with + "credential_rotate" + owned, code: 1, err: "[credential] key_repository: ", python: &python{why: "D-33"}},
	}},
}

const rotatedReceipts = "\nreceipt-keys drwx------ UID:GID\nreceipt-keys/0 -rw------- UID:GID 44\nreceipt-keys/1 -rw------- UID:GID 44\nreceipt-keys/2 -rw------- UID:GID 44"
