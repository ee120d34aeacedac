package wire

import (
	"net/http"
	"sync"
	"sync/atomic"
)

// Live serves by one App after the other. A request is served to its end by
// the App that was current when it came.
type Live struct {
	current atomic.Pointer[generation]
	ending  sync.WaitGroup
}

// generation is an App and who uses it: Live while it is current, and each
// request.
type generation struct {
	app   *App
	users atomic.Int64
}

func newGeneration(app *App) *generation {
	g := &generation{app: app}
	g.users.Store(1)
	return g
}

// NewLive serves by app until another one takes over.
func NewLive(app *App) *Live {
	l := &Live{}
	l.current.Store(newGeneration(app))
	return l
}

// App is the current one.
func (l *Live) App() *App { return l.current.Load().app }

// ServeHTTP serves a request by the current App.
func (l *Live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g := l.hold()
	defer l.release(g)
	g.app.Handler.ServeHTTP(w, r)
}

// hold counts a user of the current generation. One that has none left has
// been replaced.
func (l *Live) hold() *generation {
	for {
		g := l.current.Load()
		if n := g.users.Load(); n > 0 && g.users.CompareAndSwap(n, n+1) {
			return g
		}
	}
}

// release ends the App with its last user, aside: closing a pool takes time,
// and the answer of the last request is not sent before it returns.
func (l *Live) release(g *generation) {
	if g.users.Add(-1) > 0 {
		return
	}
	l.ending.Go(g.app.Close)
}

// Swap makes app, which Build made with the current one Before it, the current
// one. The one before ends when its last request is answered.
func (l *Live) Swap(app *App) {
	app.face.app.Store(app)
	l.release(l.current.Swap(newGeneration(app)))
}

// Close ends the current App, in use or not, and waits for those before it
// that have ended.
func (l *Live) Close() {
	l.current.Load().app.Close()
	l.ending.Wait()
}
