package diff

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Answer is a response read to its end. Broken is set instead where the server
// dropped the connection.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	Broken string
}

// host is what both servers are asked for, so that links are equal.
const host = "keystone.test"

// patience bounds one request; Python without a cache is slow.
const patience = 60 * time.Second

// send writes the request by hand: paths such as //v3, and bodies that are no
// text, must reach both servers as they stand.
func send(ctx context.Context, addr string, st Step, vars map[string]string) (Answer, error) {
	text, err := request(st, vars)
	if err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return Answer{}, fmt.Errorf("%s %s: %w", st.Method, st.Path, err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return Answer{}, err
	}
	// A server may refuse before it has read a long body, and close: what it
	// said then counts, not that the rest could not be written.
	_, writeErr := io.WriteString(conn, text)
	r, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: st.Method})
	if err != nil {
		return Answer{Broken: fmt.Sprint("no answer: ", err, writeErr)}, nil
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Answer{Broken: "half an answer: " + err.Error()}, nil
	}
	return Answer{Status: r.StatusCode, Header: r.Header, Body: string(body)}, nil
}

// NoToken as a step's As says that no token is sent.
const NoToken = "-"

func request(st Step, vars map[string]string) (string, error) {
	body, hasBody := "", false
	header := map[string]string{}
	switch {
	case st.Raw != nil:
		body, hasBody = *st.Raw, true
	case st.Body != nil:
		text, err := json.Marshal(st.Body)
		if err != nil {
			return "", fmt.Errorf("body of %s: %w", st.Name, err)
		}
		body, hasBody = string(text), true
		header["Content-Type"] = "application/json"
	}
	for _, t := range []struct{ header, token string }{{"X-Auth-Token", st.As}, {"X-Subject-Token", st.Subject}} {
		if t.token == "" || t.token == NoToken {
			continue
		}
		token, known := vars[t.token]
		if !known {
			return "", fmt.Errorf("step %s: no token %q", st.Name, t.token)
		}
		header[t.header] = token
	}
	maps.Copy(header, st.Headers)
	if header["Host"] == "" {
		header["Host"] = host
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", st.Method, expand(st.Path, vars))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if header[name] != "-" {
			fmt.Fprintf(&b, "%s: %s\r\n", name, expand(header[name], vars))
		}
	}
	body = expand(body, vars)
	if hasBody || st.Method == "POST" || st.Method == "PUT" || st.Method == "PATCH" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return b.String() + "Connection: close\r\n\r\n" + body, nil
}

// expand fills variables in. One that holds a JSON object takes the quotation
// marks round it along.
func expand(s string, vars map[string]string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	for name, value := range vars {
		if strings.HasPrefix(value, "{") {
			s = strings.ReplaceAll(s, `"${`+name+`}"`, value)
		}
		s = strings.ReplaceAll(s, "${"+name+"}", value)
	}
	return s
}
