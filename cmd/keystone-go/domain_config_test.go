package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// domainFolder makes a folder of domains' files; a name that ends with -> is a
// link.
func (p place) domainFolder(t *testing.T, files map[string]string) {
	t.Helper()
	p.edit(t, "[identity]", "[identity]\ndomain_config_dir = "+p.dir+"/domains")
	for name, text := range files {
		path := filepath.Join(p.dir, "domains", strings.TrimSuffix(name, "->"))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil && strings.HasSuffix(name, "->") {
			err = os.Symlink(text, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDomainConfigUpload: a volume as Kubernetes mounts it is read once, what
// is no domain's is passed over, and no value is shown.
func TestDomainConfigUpload(t *testing.T) {
	p := running(t)
	p.domainFolder(t, map[string]string{
		"..one/keystone.Default.conf": "[ldap]\npassword = hush-hush\n",
		"..data->":                    "..one",
		"keystone.Default.conf->":     "..data/keystone.Default.conf",
		"more/README":                 "",
	})
	r := p.run(t, "domain_config_upload", "--all")
	r.expect(t, "upload", 0, "", "README")
	if got := p.texts(t, `select domain_id || '.' || "option" || '=' || value from sensitive_config`); got != `default.password="hush-hush"` {
		t.Errorf("stored: %s", got)
	}
	again := p.run(t, "domain_config_upload", "--all")
	again.expect(t, "again", 1, "Domain: Default already has a configuration defined", "No configuration of a domain was uploaded")
	p.exec(t, `delete from sensitive_config`)
	p.put(t, "domains/keystone.Default.conf", "[ldap]\npassword = hush-hush\nurl\n[token]\nexpiration = hush-hush\n")
	broken := p.run(t, "domain_config_upload", "--domain-name", "Default")
	broken.expect(t, "a broken file", 1, "Error parsing configuration file for domain: Default, file: ", "keystone.Default.conf:3: expected a [section]")
	p.put(t, "domains/keystone.Default.conf", "[ldap]\npassword = hush-hush\n[token]\nexpiration = hush-hush\n")
	wrong := p.run(t, "domain_config_upload", "--domain-name", "Default")
	wrong.expect(t, "a wrong group", 1, "", "Group token is not supported")
	for _, x := range []result{r, again, broken, wrong} {
		if strings.Contains(x.out+x.err, "hush-hush") {
			t.Errorf("a value is shown:\n%s%s", x.out, x.err)
		}
	}
	if got := p.texts(t, `select value from sensitive_config`); got != "" {
		t.Errorf("after files that were refused: %s", got)
	}
}

func TestDomainConfigUploadMisuse(t *testing.T) {
	p := running(t)
	p.domainFolder(t, map[string]string{"keystone.Default.conf": "[ldap]\nurl = x\n"})
	p.run(t, "domain_config_upload").expect(t, "nothing", 1, "use either --all or --domain-name", "")
	p.run(t, "domain_config_upload", "--all", "--domain-name", "Default").expect(t, "both", 1, "cannot be used with", "")
	p.run(t, "domain_config_upload", "--domain-name", "").expect(t, "an empty variable", 2, "", "--domain-name is empty")
	if got := p.texts(t, `select value from whitelisted_config`); got != "" {
		t.Errorf("stored: %s", got)
	}
}
