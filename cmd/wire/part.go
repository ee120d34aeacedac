package wire

import (
	"reflect"
	"sync/atomic"
)

// part is something that an App holds and the next one may take over: a pool
// of connections, the debts of a limiter, the last good keys.
type part struct {
	options any // what it was made of
	value   any
	users   atomic.Int32
	end     func()
}

func (p *part) release() {
	if p.users.Add(-1) == 0 && p.end != nil {
		p.end()
	}
}

// held gives a part that this App has already, else the one of the App before
// if it was made of equal options, else a new one. It ends with the last App
// that holds it.
func held[T any](b *builder, name string, options any, open func() (T, error), end func(T)) (T, error) {
	if own, ok := b.app.parts[name]; ok {
		return own.value.(T), nil
	}
	if b.Before != nil {
		if old, ok := b.Before.parts[name]; ok && reflect.DeepEqual(old.options, options) {
			old.users.Add(1)
			b.app.parts[name] = old
			return old.value.(T), nil
		}
	}
	value, err := open()
	if err != nil {
		return value, err
	}
	p := &part{options: options, value: value}
	if end != nil {
		p.end = func() { end(value) }
	}
	p.users.Store(1)
	b.app.parts[name] = p
	return value, nil
}
