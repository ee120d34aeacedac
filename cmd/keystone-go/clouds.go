package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
)

// cloudsFile is where OpenStack's clients find clouds, in the state folder.
const cloudsFile = "clouds.yaml"

// cloud is dev's entry in clouds.yaml: the only place that has the password of
// the administrator.
type cloud struct{ url, password string }

const cloudText = `clouds:
  keystone-go:
    auth:
      auth_url: %s/v3
      username: admin
      password: %s
      project_name: admin
      user_domain_name: Default
      project_domain_name: Default
    region_name: RegionOne
    interface: public
    identity_api_version: 3
`

func (c cloud) write(path string) error {
	return writeFile(path, fmt.Appendf(nil, cloudText, c.url, c.password))
}

// readCloud gives the zero cloud when there is no file.
func readCloud(path string) (cloud, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cloud{}, nil
	}
	if err != nil {
		return cloud{}, err
	}
	var file struct {
		Clouds map[string]struct {
			Auth struct {
				URL      string `yaml:"auth_url"`
				Password string `yaml:"password"`
			} `yaml:"auth"`
		} `yaml:"clouds"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return cloud{}, fmt.Errorf("%s is not YAML", path)
	}
	auth := file.Clouds["keystone-go"].Auth
	if auth.URL == "" || auth.Password == "" {
		return cloud{}, fmt.Errorf("%s has no cloud keystone-go with auth_url and password; take the file away to get a new one", path)
	}
	return cloud{strings.TrimSuffix(auth.URL, "/v3"), auth.Password}, nil
}

// moveEndpoints points the identity endpoints that are at one URL to another,
// when dev listens elsewhere than at its last start.
func moveEndpoints(ctx context.Context, d db.DB, from, to string) error {
	services, err := db.All(ctx, d, catalog.ServicesOfType("identity"))
	if err != nil {
		return err
	}
	for _, s := range services {
		endpoints, err := db.All(ctx, d, catalog.EndpointsOfService(s.ID))
		if err != nil {
			return err
		}
		for _, e := range endpoints {
			if e.URL != from {
				continue
			}
			if err := catalog.SetEndpointURL(ctx, d, e.ID, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// welcome says how to log in; the password stays in the file.
func (p *program) welcome(state folder, s sockets) {
	url, file := baseURL(s.public[0].Addr()), state.path(cloudsFile)
	quoted := "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
	fmt.Fprintf(p.out, `Log in with curl; the token is in the header X-Subject-Token:

  curl -si %s/v3/auth/tokens -H 'Content-Type: application/json' -d '{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": "admin", "domain": {"id": "default"}, "password": "'"$(sed -n 's/^ *password: *//p' %s)"'"}}}, "scope": {"project": {"name": "admin", "domain": {"id": "default"}}}}}'

or with the OpenStack client; the password is in clouds.yaml:

  export OS_CLIENT_CONFIG_FILE=%s OS_CLOUD=keystone-go
  openstack token issue

The configuration is %s.
`, url, quoted, quoted, state.path("keystone.conf"))
	if len(s.admin) > 0 {
		fmt.Fprintf(p.out, "Metrics are at %s/metrics.\n", baseURL(s.admin[0].Addr()))
	}
	fmt.Fprintf(p.out, "keystone-go is ready on %s/v3\n", url)
}
