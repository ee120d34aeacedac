package rules

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// maxAnswer is more than "True" in quotes will ever take, in bytes.
const maxAnswer = 4096

// RemoteConfig says how http: and https: checks ask their server; the fields
// are the remote_* options of [oslo_policy].
type RemoteConfig struct {
	JSON     bool          // a JSON object instead of a form
	Timeout  time.Duration // for the whole exchange; 60 s when zero
	Verify   bool          // check the server's certificate
	CAFile   string        // instead of the system's authorities
	CertFile string        // client certificate
	KeyFile  string
}

// Remote asks policy servers. It is safe for concurrent use.
type Remote struct {
	cfg   RemoteConfig
	plain *http.Client
	mu    sync.Mutex
	tls   *http.Client // made when first needed: its files may appear late
}

// NewRemote prepares remote checks; nothing is read or dialled yet.
func NewRemote(cfg RemoteConfig) *Remote {
	if cfg.Timeout <= 0 {
		cfg.Timeout = time.Minute
	}
	return &Remote{cfg: cfg, plain: client(nil)}
}

// client makes one that takes a redirect as the answer, which is then not True.
func client(t *tls.Config) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = t
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

var (
	errNoRemote  = errors.New("remote checks are not set up")
	errRemoteKey = errors.New("the address of a remote check needs a key that the target lacks")
)

// remoteCheck asks the server at the text, an address. A missing key refuses
// the whole decision: Python raises it, and only outside rule: references.
func remoteCheck(text string) func(*run) verdict {
	address := newTemplate(text)
	return func(r *run) verdict {
		if !r.step() {
			return r.fail(ErrEndless)
		}
		to, v := address.fill(r)
		if v == no {
			return r.fail(errRemoteKey)
		}
		if v == broken {
			return v
		}
		if r.set.Remote == nil {
			return r.fail(errNoRemote)
		}
		ok, err := r.set.Remote.ask(r, to)
		if err != nil {
			return r.fail(fmt.Errorf("ask the policy server: %w", err))
		}
		return verdictOf(ok)
	}
}

// ask posts the question. The answer is yes only when its text, without quotes
// around it, is exactly True; the status does not count, as in oslo.policy.
func (m *Remote) ask(r *run, to string) (bool, error) {
	body, kind, err := m.question(r)
	if err != nil {
		return false, err
	}
	c, err := m.client(to)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, m.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return false, bare(err)
	}
	req.Header.Set("Content-Type", kind)
	res, err := c.Do(req)
	if err != nil {
		return false, bare(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return false, err
	}
	return strings.Trim(string(text), `"`) == "True", nil
}

// bare leaves the address out of an error: it may hold the target's values.
func bare(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// question writes the body and names its type.
func (m *Remote) question(r *run) (body []byte, kind string, err error) {
	creds := r.creds
	if s := creds["system_scope"]; s != nil && s != "" {
		creds = maps.Clone(creds)
		creds["system"] = s
	}
	if m.cfg.JSON {
		body, err = encode(map[string]any{"rule": r.rule, "target": r.target, "credentials": creds})
		return body, "application/json", err
	}
	form := url.Values{}
	for name, value := range map[string]any{"rule": r.rule, "target": r.target, "credentials": creds} {
		text, err := encode(value)
		if err != nil {
			return nil, "", err
		}
		form.Set(name, string(text))
	}
	return []byte(form.Encode()), "application/x-www-form-urlencoded", nil
}

func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (m *Remote) client(to string) (*http.Client, error) {
	if !strings.HasPrefix(to, "https:") {
		return m.plain, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tls == nil {
		t, err := m.cfg.tls()
		if err != nil {
			return nil, err
		}
		m.tls = client(t)
	}
	return m.tls, nil
}

func (c RemoteConfig) tls() (*tls.Config, error) {
	t := &tls.Config{InsecureSkipVerify: !c.Verify}
	if c.Verify && c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, err
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("no certificate in %s", c.CAFile)
		}
	}
	if c.CertFile == "" {
		return t, nil
	}
	key := c.KeyFile
	if key == "" {
		key = c.CertFile // both in one file
	}
	// Read again at each handshake, so that a renewed certificate is used.
	t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		cert, err := tls.LoadX509KeyPair(c.CertFile, key)
		return &cert, err
	}
	return t, nil
}
