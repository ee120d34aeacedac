//go:build interop

package crossing_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// mostOneWay is the number of changes that Python alone can make. It may only
// fall.
const mostOneWay = 1

var routes = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, r := range v3.WithHeads(wire.Routes()) {
		out[r.Method+" "+r.Path] = true
	}
	return out
})

// served tells whether keystone-go has a route.
func served(method, route string) bool { return routes()[method+" "+route] }

// wait is a line of oneway.tsv.
type wait struct{ route, area string }

func waiting(t *testing.T) map[string]wait {
	t.Helper()
	text, err := os.ReadFile("oneway.tsv")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]wait{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 3 || f[2] == "" {
			t.Fatalf("oneway.tsv: %q is no change, route and area", line)
		}
		listed[f[0]] = wait{f[1], f[2]}
	}
	return listed
}

// TestOneWay: each change that keystone-go cannot make yet is listed, with the
// area that it waits for, and none besides.
func TestOneWay(t *testing.T) {
	listed := waiting(t)
	counts := struct {
		BothWays, OneWay int
		Waiting          map[string]int // by area
	}{Waiting: map[string]int{}}
	for _, w := range slices.Concat(voiding, showing) {
		route, is := w.method+" "+w.route, listed[w.name]
		switch {
		case served(w.method, w.route):
			counts.BothWays++
			if is.route != "" {
				t.Errorf("%q waits for nothing any more: %s is served. Take it out of oneway.tsv", w.name, route)
			}
		case is.route != route:
			t.Errorf("%q is made by Python alone, and oneway.tsv does not have it:\n%s\t%s\t", w.name, w.name, route)
		default:
			counts.OneWay++
			counts.Waiting[is.area]++
		}
		delete(listed, w.name)
	}
	for name := range listed {
		t.Errorf("oneway.tsv: there is no test of %q", name)
	}
	if counts.OneWay != mostOneWay {
		t.Errorf("%d changes are made by Python alone, the bound is %d: it may only fall, and falls with them", counts.OneWay, mostOneWay)
	}
	if err := peer.SaveReport("crossing", counts); err != nil {
		t.Error(err)
	}
}
