package trace

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config says where traces go and which. Enabled, Endpoint, Protocol, Service,
// Rate and Insecure are the section [oslo_middleware_tracing] of keystone.conf.
type Config struct {
	Enabled  bool
	Endpoint string // the collector; /v1/traces is added
	Protocol string // http/protobuf
	Service  string // the name of the service; keystone when ""
	Rate     float64
	Insecure bool // the collector's certificate is not looked at
	Version  string

	// The rest is standard variables of OpenTelemetry alone: see WithEnv.
	traces   string // whole URL
	sampler  string
	headers  map[string]string
	resource []Attr
	timeout  time.Duration
	delay    time.Duration // between two exports
	queue    int           // requests that may wait
	batch    int           // spans in an export
	gzip     bool
	ca       string
}

// WithEnv lets the standard variables of OpenTelemetry change the
// configuration; those that it does not know are left to others. The error
// names every one that makes no sense.
func (c Config) WithEnv(get func(string) string) (Config, error) {
	e := &environment{get: get}
	c.timeout, c.delay, c.queue, c.batch = 10*time.Second, 5*time.Second, 2048, 512
	switch exporter := get("OTEL_TRACES_EXPORTER"); exporter {
	case "":
	case "otlp":
		c.Enabled = true
	case "none":
		c.Enabled = false
	default:
		e.wrong("OTEL_TRACES_EXPORTER", exporter, "otlp or none")
	}
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		c.Enabled = false
	}
	if v := get("OTEL_EXPORTER_OTLP_ENDPOINT"); v != "" {
		c.Endpoint = v
	}
	c.traces = get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if v := e.otlp("PROTOCOL"); v != "" {
		c.Protocol = v
	}
	if v := get("OTEL_SERVICE_NAME"); v != "" {
		c.Service = v
	}
	c.sampler = get("OTEL_TRACES_SAMPLER")
	if v := get("OTEL_TRACES_SAMPLER_ARG"); v != "" {
		rate, err := strconv.ParseFloat(v, 64)
		if err != nil || rate < 0 || rate > 1 {
			e.wrong("OTEL_TRACES_SAMPLER_ARG", v, "a number from 0 to 1")
		}
		c.Rate = rate
	} else if strings.HasSuffix(c.sampler, "traceidratio") {
		c.Rate = 1
	}
	c.headers = e.pairs("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
	resource := e.pairs("OTEL_RESOURCE_ATTRIBUTES")
	for _, k := range slices.Sorted(maps.Keys(resource)) {
		c.resource = append(c.resource, String(k, resource[k]))
	}
	e.milliseconds(&c.timeout, "OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
	e.milliseconds(&c.delay, "OTEL_BSP_SCHEDULE_DELAY")
	e.count(&c.queue, "OTEL_BSP_MAX_QUEUE_SIZE")
	e.count(&c.batch, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE")
	switch v := e.otlp("COMPRESSION"); v {
	case "", "none":
	case "gzip":
		c.gzip = true
	default:
		e.wrong("OTEL_EXPORTER_OTLP_COMPRESSION", v, "gzip or none")
	}
	c.ca = e.otlp("CERTIFICATE")
	return c, errors.Join(e.faults...)
}

type environment struct {
	get    func(string) string
	faults []error
}

func (e *environment) wrong(name, value, right string) {
	e.faults = append(e.faults, fmt.Errorf("%s=%s: it may be %s", name, value, right))
}

// otlp reads a variable of all exporters, or the one of traces before it.
func (e *environment) otlp(name string) string {
	if v := e.get("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
		return v
	}
	return e.get("OTEL_EXPORTER_OTLP_" + name)
}

// pairs reads k=v,k=v, whose values are escaped as in URLs. Values are secrets
// and not told.
func (e *environment) pairs(names ...string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		for pair := range strings.SplitSeq(e.get(name), ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			k, v, ok := strings.Cut(pair, "=")
			v, err := url.PathUnescape(strings.TrimSpace(v))
			if !ok || err != nil {
				e.wrong(name, "…", "a list of name=value")
				continue
			}
			all[strings.TrimSpace(k)] = v
		}
	}
	return all
}

func (e *environment) milliseconds(into *time.Duration, names ...string) {
	for _, name := range names {
		n := int(*into / time.Millisecond)
		e.count(&n, name)
		*into = time.Duration(n) * time.Millisecond
	}
}

func (e *environment) count(into *int, name string) {
	v := e.get(name)
	if v == "" {
		return
	}
	n, err := strconv.Atoi(v)
	if err != nil || n <= 0 {
		e.wrong(name, v, "a whole number above 0")
		return
	}
	*into = n
}

// url is where traces are sent.
func (c Config) url() (string, error) {
	text := c.traces
	if text == "" {
		text = strings.TrimRight(c.Endpoint, "/") + "/v1/traces"
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the collector of traces is not at an http or https URL: %q", text)
	}
	return text, nil
}

func (c Config) tls() (*tls.Config, error) {
	t := &tls.Config{InsecureSkipVerify: c.Insecure} // the operator asks for it by name
	if c.ca == "" {
		return t, nil
	}
	text, err := os.ReadFile(c.ca)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
	}
	t.RootCAs = x509.NewCertPool()
	if !t.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: no certificate in %s", c.ca)
	}
	return t, nil
}
