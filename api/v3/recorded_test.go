package v3_test

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// recorded holds requests and what Python Keystone 22.0.2 answered.
//
//go:embed testdata/recorded.json
var recorded []byte

type exchange struct {
	Name, Method, Path, Token, Body, Answer string
	Header                                  map[string]string
	Status                                  int
	AnswerHeader                            map[string]string `json:"answer_header"`
}

// differs lists the recordings whose answer is another one here, on purpose:
// status, and the envelope instead of HTML.
var differs = map[string]int{
	"009-disc-v3-post":        http.StatusMethodNotAllowed,
	"010-disc-v2":             http.StatusNotFound,
	"016-disc-nosuch":         http.StatusNotFound,
	"017-disc-v3-nosuch":      http.StatusNotFound,
	"018-disc-v3-nosuch-auth": http.StatusNotFound,
	"019-disc-double-slash":   http.StatusNotFound,
	"024-disc-upper-path":     http.StatusNotFound,
	"284-get-region-space":    http.StatusNotFound,
}

func seedRegions(t *testing.T, d db.DB) {
	t.Helper()
	one := "RegionOne"
	for _, r := range []catalog.Region{
		{ID: one}, {ID: "RegionTwo", Description: "second site"}, {ID: "RegionOne-az1", ParentID: &one}, {ID: "region/with space"},
	} {
		if err := (catalog.Regions{DB: d}).Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecordedAnswers(t *testing.T) {
	var all []exchange
	if err := json.Unmarshal(recorded, &all); err != nil {
		t.Fatal(err)
	}
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedRegions(t, d)
		st := newStand(t, setup{db: d})
		for _, x := range all {
			t.Run(x.Name, func(t *testing.T) {
				c := call{method: x.Method, path: x.Path, token: x.Token, body: x.Body, header: x.Header}
				if x.Token == "admin" {
					c.token = "tok-admin"
				}
				w := st.do(c)
				if status, ok := differs[x.Name]; ok {
					wantEnvelope(t, w.Result(), w.Body.String(), status)
					return
				}
				if w.Code != x.Status {
					t.Fatalf("%s %s: got %d %s, want %d", x.Method, x.Path, w.Code, w.Body, x.Status)
				}
				if d := cmp.Diff(sameIDs(x.Answer), sameIDs(w.Body.String())); d != "" {
					t.Errorf("%s %s: body: %s", x.Method, x.Path, d)
				}
				for k, want := range x.AnswerHeader {
					got := w.Header().Get(k)
					if k == "Allow" { // a set, in any order
						got, want = sorted(got), sorted(want)
					}
					if got != want {
						t.Errorf("%s %s: %s: got %q, want %q", x.Method, x.Path, k, got, want)
					}
				}
				for k := range w.Header() {
					if _, ok := x.AnswerHeader[k]; !ok && !slices.Contains([]string{"Content-Length", "X-Openstack-Request-Id"}, k) {
						t.Errorf("%s %s: header %s, which Python does not send", x.Method, x.Path, k)
					}
				}
			})
		}
	})
}

var newID = regexp.MustCompile(`[0-9a-f]{32}`)

// sameIDs hides random ids, and sorts a list of regions, which has no order in
// Python.
func sameIDs(body string) string {
	body = newID.ReplaceAllString(body, "ID")
	if !strings.HasPrefix(body, `{"regions": [`) {
		return body
	}
	items, rest, _ := strings.Cut(strings.TrimPrefix(body, `{"regions": [`), `]`)
	parts := strings.Split(items, "}, {")
	for i := range parts {
		parts[i] = strings.Trim(parts[i], "{}")
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n") + "\n" + rest
}

// wantEnvelope checks that an answer is an error in the one form there is.
func wantEnvelope(t *testing.T, r *http.Response, body string, status int) {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("got %d %s, want %d", r.StatusCode, body, status)
	}
	var e struct {
		Error struct {
			Code           int
			Message, Title string
		}
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || e.Error.Code != status || e.Error.Message == "" || e.Error.Title == "" {
		t.Errorf("no error envelope of a %d: %v in %q", status, err, body)
	}
	if !strings.HasPrefix(body, `{"error":{"code":`+strconv.Itoa(status)+`,"message":"`) || !strings.HasSuffix(body, "}}\n") {
		t.Errorf("not compact, sorted and ended by a line end: %q", body)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type: got %q", got)
	}
	if got := r.Header.Get("Content-Length"); got != strconv.Itoa(len(body)) {
		t.Errorf("Content-Length: got %q for %d bytes", got, len(body))
	}
	if id := r.Header.Get("X-Openstack-Request-Id"); !strings.HasPrefix(id, "req-") {
		t.Errorf("request id: got %q", id)
	}
}
