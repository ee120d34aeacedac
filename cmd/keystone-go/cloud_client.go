package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// cloudClient calls the Identity API as the OS_* variables of OpenStack's
// clients say.
type cloudClient struct {
	http *http.Client
	url  string // without /v3
	env  func(string) string
}

func (p *program) cloudClient(server, ca string) (*cloudClient, error) {
	env := func(name string) string { v, _ := p.lookupEnv(name); return v }
	c := &cloudClient{http: &http.Client{Timeout: askTime}, env: env}
	c.url = strings.TrimSuffix(strings.TrimSuffix(cmp.Or(server, env("OS_AUTH_URL")), "/"), "/v3")
	if c.url == "" {
		return nil, errors.New("where is the server? give --os-auth-url or OS_AUTH_URL")
	}
	if ca = cmp.Or(ca, env("OS_CACERT")); ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate", ca)
		}
		c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	}
	return c, nil
}

// token is OS_TOKEN, else that of a login by OS_USERNAME and its kin.
func (c *cloudClient) token(ctx context.Context) (string, error) {
	if t := c.env("OS_TOKEN"); t != "" {
		return t, nil
	}
	if c.env("OS_PASSWORD") == "" || c.env("OS_USERNAME") == "" && c.env("OS_USER_ID") == "" {
		return "", errors.New("who asks? give OS_TOKEN, or OS_USERNAME, OS_PASSWORD and the rest of an openrc file")
	}
	body, err := json.Marshal(map[string]any{"auth": map[string]any{"identity": map[string]any{
		"methods": []string{"password"}, "password": map[string]any{"user": c.user()},
	}, "scope": c.scope()}})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v3/auth/tokens", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return "", err
	}
	if answer.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("log in: %s: %s", answer.Status, messageOf(text))
	}
	return answer.Header.Get("X-Subject-Token"), nil
}

func (c *cloudClient) user() map[string]any {
	u := map[string]any{"password": c.env("OS_PASSWORD")}
	if id := c.env("OS_USER_ID"); id != "" {
		u["id"] = id
		return u
	}
	u["name"], u["domain"] = c.env("OS_USERNAME"), c.domain("OS_USER_DOMAIN")
	return u
}

// domain is what PREFIX_ID or PREFIX_NAME names, else the default domain.
func (c *cloudClient) domain(prefix string) map[string]any {
	if id := cmp.Or(c.env(prefix+"_ID"), c.env("OS_DEFAULT_DOMAIN_ID")); id != "" {
		return map[string]any{"id": id}
	}
	if name := c.env(prefix + "_NAME"); name != "" {
		return map[string]any{"name": name}
	}
	return map[string]any{"id": "default"}
}

func (c *cloudClient) scope() any {
	switch {
	case c.env("OS_SYSTEM_SCOPE") == "all":
		return map[string]any{"system": map[string]any{"all": true}}
	case c.env("OS_PROJECT_ID") != "":
		return map[string]any{"project": map[string]any{"id": c.env("OS_PROJECT_ID")}}
	case c.env("OS_PROJECT_NAME") != "":
		return map[string]any{"project": map[string]any{"name": c.env("OS_PROJECT_NAME"), "domain": c.domain("OS_PROJECT_DOMAIN")}}
	}
	return "unscoped"
}
