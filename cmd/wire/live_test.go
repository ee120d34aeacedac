package wire

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// counted is a part that counts how often it was made and ended.
type counted struct{ made, ended atomic.Int64 }

// app makes an App with one part of the given options.
func (c *counted) app(t *testing.T, before *App, options string, h http.HandlerFunc) *App {
	t.Helper()
	b := &builder{Options: Options{Before: before}, app: &App{Handler: h, parts: map[string]*part{}, face: &face{}}}
	if _, err := held(b, "part", options, func() (*counted, error) {
		c.made.Add(1)
		return c, nil
	}, func(c *counted) { c.ended.Add(1) }); err != nil {
		t.Fatal(err)
	}
	return b.app
}

func ask(l *Live) string {
	w := httptest.NewRecorder()
	l.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w.Body.String()
}

func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// TestLive: a request under way ends on the App that it began with, what that
// one holds ends after it, and what the next one has taken over does not.
func TestLive(t *testing.T) {
	var c counted
	entered, leave := make(chan struct{}), make(chan struct{})
	first := c.app(t, nil, "a", func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		fmt.Fprint(w, "first")
	})
	l := NewLive(first)
	answer := make(chan string, 1)
	go func() { answer <- ask(l) }()
	<-entered
	second := c.app(t, first, "a", say("second"))
	l.Swap(second)
	third := c.app(t, second, "b", say("third"))
	l.Swap(third)
	if got := ask(l); got != "third" || l.App() != third {
		t.Errorf("got %q", got)
	}
	time.Sleep(20 * time.Millisecond)
	if c.made.Load() != 2 || c.ended.Load() != 0 {
		t.Errorf("%d parts made, %d ended while the first App is in use", c.made.Load(), c.ended.Load())
	}
	close(leave)
	if got := <-answer; got != "first" {
		t.Errorf("the request under way: %q", got)
	}
	l.Close()
	l.Close()
	if c.made.Load() != 2 || c.ended.Load() != 2 {
		t.Errorf("%d parts made, %d ended at the end", c.made.Load(), c.ended.Load())
	}
}

// TestLiveUnderLoad: whoever asks while Apps come and go is answered, and every
// part ends once and after its last use.
func TestLiveUnderLoad(t *testing.T) {
	var c counted
	serving := func(alive *atomic.Bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				if !alive.Load() {
					t.Error("served by an App that has ended")
				}
				time.Sleep(50 * time.Microsecond)
			}
			fmt.Fprint(w, "ok")
		}
	}
	make := func(before *App, options string) *App {
		var alive atomic.Bool
		alive.Store(true)
		a := c.app(t, before, options, serving(&alive))
		p := &part{end: func() { alive.Store(false) }}
		p.users.Store(1)
		a.parts["alive"] = p
		return a
	}
	l := NewLive(make(nil, "0"))
	var stop atomic.Bool
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for !stop.Load() {
				if got := ask(l); got != "ok" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	for i := range 300 {
		l.Swap(make(l.App(), fmt.Sprint(i/3)))
		time.Sleep(200 * time.Microsecond)
	}
	stop.Store(true)
	all.Wait()
	l.Close()
	if c.made.Load() != c.ended.Load() || c.made.Load() < 100 {
		t.Errorf("%d parts made, %d ended", c.made.Load(), c.ended.Load())
	}
}

// TestFailedBuildLeavesTheAppBefore: what it had begun to hold is let go.
func TestFailedBuildLeavesTheAppBefore(t *testing.T) {
	var c counted
	before := c.app(t, nil, "a", say("before"))
	next := c.app(t, before, "a", say("next"))
	next.Close()
	if c.ended.Load() != 0 {
		t.Error("the part of the App before has ended")
	}
	before.Close()
	if c.ended.Load() != 1 {
		t.Errorf("ended %d times", c.ended.Load())
	}
}

// TestHasherOptions: numbers left out are those of the machine.
func TestHasherOptions(t *testing.T) {
	cfg := conf.Default()
	o := hasherOptions(cfg)
	if o.Slots < 1 || o.Queue != 64*o.Slots || o.Wait != 15*time.Second {
		t.Errorf("slots %d, queue %d, wait %v", o.Slots, o.Queue, o.Wait)
	}
}
