package db

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// Remembered answers reads that were made before from memory, as long as the
// database proves that they would find the same rows today: Postgres names the
// transactions that a statement can see, and while that name stays the same
// nothing was committed, by whomever. So an answer is never stale, and costs
// one small statement in place of many. On another engine, and where writes are
// so frequent that remembering does not pay, every read goes to the database.
type Remembered struct {
	DB
	seeds [2]maphash.Seed
	state atomic.Pointer[remembered]
	luck  atomic.Int64 // how remembering went lately; below zero it is left alone
	looks looks
}

// remembered holds what was found under one snapshot.
type remembered struct {
	snapshot string
	mu       sync.RWMutex
	found    map[readKey]any // rows, by statement and arguments
	whole    map[readKey]any // what Recall gave
}

type readKey [2]uint64

const (
	// rememberMost bounds the reads that are kept; there is no need to choose
	// among them, since every commit empties the memory.
	rememberMost = 10_000
	// luckMost and luckPause are how many checks in vain are borne, and for how
	// many reads none is tried then.
	luckMost, luckPause = 16, 256
)

var snapshotNow = Query[string]{
	Text: `select cast(txid_current_snapshot() as text)`,
	Scan: func(r Row) (string, error) {
		var s string
		err := r.Scan(&s)
		return s, err
	},
}

// Remember wraps a database. What reads give must not be changed by who gets it.
func Remember(d DB) *Remembered {
	r := &Remembered{DB: d, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	r.state.Store(&remembered{})
	return r
}

// Send runs a batch of reads whose answers depend on the database alone: no
// clock, no chance. It makes one round trip, and a second where what it
// remembers proves to be out of date.
func (r *Remembered) Send(ctx context.Context, b *Batch) error {
	_, err := r.send(ctx, b)
	return err
}

// send gives as well what the batch found is remembered in; nil: in nothing.
func (r *Remembered) send(ctx context.Context, b *Batch) (*remembered, error) {
	if r.Dialect() != Postgres || b.writes > 0 {
		return nil, r.DB.Send(ctx, b)
	}
	known := r.state.Load()
	keys := r.keys(b)
	if found := known.all(keys); found != nil && r.lucky() {
		now, holds, err := r.holds(ctx, known)
		switch {
		case err != nil:
			return nil, err
		case holds:
			b.fill(found)
			return known, nil
		}
		known = now
	}
	return r.read(ctx, b, keys, known)
}

// Recall sends what queue queues and gives what it returned, which holds the
// results. Who comes again by the same name gets the same, for as long as
// Remembered proves that it holds, and without any statement being made or
// looked for. name has all that the statements depend on.
func Recall[T any](ctx context.Context, c Conn, name []string, queue func(*Batch) T) (T, error) {
	r, remembers := c.(*Remembered)
	if !remembers || r.Dialect() != Postgres {
		var b Batch
		t := queue(&b)
		return t, c.Send(ctx, &b)
	}
	key, known := r.name(name), r.state.Load()
	send := r.send
	if t, ok := known.recall(key).(T); ok {
		if r.lucky() {
			now, holds, err := r.holds(ctx, known)
			if holds || err != nil {
				return t, err
			}
			known = now
		}
		// It was looked for, or is not to be: so it is read.
		send = func(ctx context.Context, b *Batch) (*remembered, error) { return r.read(ctx, b, r.keys(b), known) }
	}
	var b Batch
	t := queue(&b)
	in, err := send(ctx, &b)
	if in != nil {
		in.keepWhole(key, t)
	}
	return t, err
}

// holds looks whether what is known holds still, and gives what is known then.
func (r *Remembered) holds(ctx context.Context, known *remembered) (*remembered, bool, error) {
	now, err := r.looks.snapshot(ctx, r.DB)
	if err != nil {
		return known, false, err
	}
	if now == known.snapshot {
		r.luck.Store(min(r.luck.Load()+1, luckMost))
		return known, true, nil
	}
	r.luck.Store(r.luck.Load() - 4)
	return r.renew(known, now), false, nil
}

// read asks the database. What it finds is kept if no commit came between the
// last look at the snapshot, before, and the one behind the reads.
func (r *Remembered) read(ctx context.Context, b *Batch, keys []readKey, known *remembered) (*remembered, error) {
	asked := Batch{items: b.items[:len(b.items):len(b.items)]}
	after := Add(&asked, snapshotNow)
	if err := r.DB.Send(ctx, &asked); err != nil {
		return nil, err
	}
	now, err := after.One()
	if err != nil {
		return nil, err
	}
	if now != known.snapshot {
		r.renew(known, now)
		return nil, nil
	}
	known.keep(keys, b)
	return known, nil
}

// renew forgets everything for a new snapshot, unless somebody else has.
func (r *Remembered) renew(old *remembered, snapshot string) *remembered {
	fresh := &remembered{snapshot: snapshot, found: map[readKey]any{}, whole: map[readKey]any{}}
	if !r.state.CompareAndSwap(old, fresh) {
		return r.state.Load()
	}
	return fresh
}

// lucky tells whether a check is worth its round trip.
func (r *Remembered) lucky() bool {
	n := r.luck.Load()
	if n >= -luckMost {
		return true
	}
	if n < -luckMost-luckPause {
		r.luck.Store(0)
		return true
	}
	r.luck.Add(-1)
	return false
}

func (r *Remembered) keys(b *Batch) []readKey {
	keys := make([]readKey, len(b.items))
	for i, it := range b.items {
		for j, seed := range r.seeds {
			var h maphash.Hash
			h.SetSeed(seed)
			_, _ = h.WriteString(it.text)
			for _, a := range it.args {
				hashArg(&h, a)
			}
			keys[i][j] = h.Sum64()
		}
	}
	return keys
}

// name makes a key of the words by which Recall is asked.
func (r *Remembered) name(words []string) (key readKey) {
	for j, seed := range r.seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, w := range words {
			maphash.WriteComparable(&h, len(w))
			_, _ = h.WriteString(w)
		}
		key[j] = h.Sum64()
	}
	return key
}

func hashArg(h *maphash.Hash, a any) {
	_ = h.WriteByte(0)
	switch v := a.(type) {
	case string:
		_, _ = h.WriteString(v)
	case time.Time:
		maphash.WriteComparable(h, v.UnixNano())
	default:
		maphash.WriteComparable(h, v)
	}
}

// all gives what was found for all of the keys, or nil.
func (m *remembered) all(keys []readKey) []any {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make([]any, len(keys))
	for i, k := range keys {
		v, ok := m.found[k]
		if !ok {
			return nil
		}
		out[i] = v
	}
	return out
}

// keep keeps what a batch found. Rows that are known already take the place of
// those found now, so that there is one copy, and who makes something of rows
// knows them again.
func (m *remembered) keep(keys []readKey, b *Batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, it := range b.items {
		if rows, ok := m.found[keys[i]]; ok {
			it.result.take(rows)
		} else if len(m.found) < rememberMost {
			m.found[keys[i]] = it.result.rowsFound()
		}
	}
}

func (m *remembered) recall(key readKey) any {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.whole[key]
}

func (m *remembered) keepWhole(key readKey, t any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.whole) < rememberMost {
		m.whole[key] = t
	}
}

func (b *Batch) fill(found []any) {
	for i, it := range b.items {
		it.result.take(found[i])
	}
}
