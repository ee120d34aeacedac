package v3

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// readBody reads the body up to the limit and decodes it, whatever the method
// (json_body_before_request in keystone/server/flask/request_processing).
func (a *API) readBody(c *Call) error {
	// The health check stands in front of what reads bodies.
	if c.r.Body == nil || c.r.Body == http.NoBody || c.route.Path == healthPath {
		return nil
	}
	tooLarge := fault.New(fault.TooLarge, "Request is too large. Larger than max_request_body_size (%d).", a.cfg.MaxBody)
	if c.r.ContentLength > a.cfg.MaxBody {
		return tooLarge
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.echo.Response().Writer, c.r.Body, a.cfg.MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	if err != nil {
		// The client broke off or sent broken chunks.
		return fault.Invalid("a complete body", "request")
	}
	c.echo.Get(visitKey).(*visit).read = true
	c.r.Body = io.NopCloser(bytes.NewReader(text))
	if len(text) == 0 {
		return nil
	}
	if !isJSON(c.r.Header.Get("Content-Type")) {
		return fault.Invalid("application/json", "Content-Type header")
	}
	c.body, err = pyjson.DecodeObject(text)
	if err != nil {
		return fault.Invalid("valid JSON", "request body")
	}
	return nil
}

// isJSON takes an absent type, application/json and application/*+json.
func isJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return contentType == "" || media == "application/json" ||
		strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}
