package v3

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/internal/pyjson"
)

func setVary(h http.Header) { h.Set("Vary", "X-Auth-Token") }

// write sends a reply. r is nil for the answers of the pipeline itself.
func (a *API) write(e echo.Context, r *Route, reply Reply) {
	h := e.Response().Header()
	for k, v := range reply.Header {
		h[http.CanonicalHeaderKey(k)] = slices.Clone(v)
	}
	if reply.Status != http.StatusRequestEntityTooLarge && (r == nil || r.Path != healthPath) {
		setVary(h)
	}
	var body []byte
	switch b := reply.Body.(type) {
	case nil:
	case []byte:
		body = b
	default:
		body = pyjson.Append(nil, b)
		if !reply.Bare {
			body = append(body, '\n')
		}
	}
	if reply.Status == http.StatusNoContent {
		h.Del("Content-Type")
	} else {
		if h.Get("Content-Type") == "" {
			h.Set("Content-Type", contentType(reply.Body))
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if unread(e) {
		// net/http reads what is left of a body before it answers, so that the
		// connection can be used again. A client that sends slowly would wait
		// for its refusal as long as it likes, and hold the connection.
		_ = http.NewResponseController(e.Response().Writer).SetReadDeadline(a.cfg.Now().Add(restTime))
	}
	e.Response().WriteHeader(reply.Status)
	if e.Request().Method != http.MethodHead && len(body) > 0 {
		// A client that is gone is seen by the context, not here.
		_, _ = e.Response().Write(body)
	}
}

func contentType(body any) string {
	if body == nil {
		return "text/html; charset=utf-8"
	}
	return "application/json"
}

// restTime is how long the rest of a refused body may take.
const restTime = 100 * time.Millisecond

func unread(e echo.Context) bool {
	r := e.Request()
	return r.Body != nil && r.Body != http.NoBody && !e.Get(visitKey).(*visit).read
}

func ok(key string, v any) Reply {
	return Reply{Status: http.StatusOK, Body: pyjson.Object{{Key: key, Value: v}}}
}

func created(key string, v any) Reply {
	return Reply{Status: http.StatusCreated, Body: pyjson.Object{{Key: key, Value: v}}}
}

func noContent() Reply { return Reply{Status: http.StatusNoContent} }
