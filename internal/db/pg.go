package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgDB is the Postgres pool.
type pgDB struct {
	pool    *pgxpool.Pool
	wait    time.Duration
	observe func(Event)
	waited  func(time.Duration)
}

func openPostgres(a address, c Config) (DB, error) {
	cfg, err := pgConfig(a, c)
	if err != nil {
		return nil, err
	}
	// The context matters to MinConns alone, which is not used.
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, pgError(context.Background(), err)
	}
	return &pgDB{pool: pool, wait: c.PoolTimeout, observe: c.Observe, waited: c.Waited}, nil
}

func (p *pgDB) Dialect() Dialect { return Postgres }

func (p *pgDB) Close() { p.pool.Close() }

func (p *pgDB) Stats() PoolStats {
	s := p.pool.Stat()
	return PoolStats{
		Max: int(s.MaxConns()), Open: int(s.TotalConns()), InUse: int(s.AcquiredConns()), Idle: int(s.IdleConns()),
		Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
	}
}

func (p *pgDB) watch(f func(Event)) DB {
	return &pgDB{pool: p.pool, wait: p.wait, observe: both(p.observe, f), waited: p.waited}
}

// acquire waits for a connection, as long as the pool timeout allows.
func (p *pgDB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	defer waited(p.waited, time.Now())
	c, err := p.pool.Acquire(limited)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() == nil && limited.Err() != nil:
		return nil, asKind(ErrUnavailable, fmt.Errorf("no connection within %s", p.wait))
	}
	return nil, pgError(ctx, err)
}

func (p *pgDB) Ping(ctx context.Context) error {
	c, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	return pgError(ctx, c.Ping(ctx))
}

func (p *pgDB) Query(ctx context.Context, text string, args ...any) (Rows, error) {
	c, err := p.acquire(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := pgConn{q: c, observe: p.observe}.query(ctx, text, args)
	if err != nil {
		c.Release()
		return nil, err
	}
	rows.release = c.Release
	return rows, nil
}

func (p *pgDB) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	c, err := p.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Release()
	return pgConn{q: c, observe: p.observe}.Exec(ctx, text, args...)
}

func (p *pgDB) Send(ctx context.Context, b *Batch) error {
	if b.Len() == 0 {
		return nil
	}
	c, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	return pgConn{q: c, observe: p.observe}.Send(ctx, b)
}

// pgQuerier is what a connection and a transaction have in common.
type pgQuerier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// pgConn runs statements on one connection, in or out of a transaction.
type pgConn struct {
	q       pgQuerier
	observe func(Event)
}

func (c pgConn) Dialect() Dialect { return Postgres }

func (c pgConn) Query(ctx context.Context, text string, args ...any) (Rows, error) {
	rows, err := c.query(ctx, text, args)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (c pgConn) query(ctx context.Context, text string, args []any) (*pgRows, error) {
	args, err := pgBind(args)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	rows, err := c.q.Query(ctx, text, args...)
	if err != nil {
		err = pgError(ctx, err)
		note(ctx, c.observe, start, err, 0, text)
		return nil, err
	}
	return &pgRows{Rows: rows, ctx: ctx, end: func(err error) { note(ctx, c.observe, start, err, 0, text) }}, nil
}

// Exec asks for rows as well, since that is how one call serves every
// protocol; a write has none.
func (c pgConn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	args, err := pgBind(args)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	rows, err := c.q.Query(ctx, text, args...)
	if err == nil {
		rows.Close()
		err = rows.Err()
	}
	err = pgError(ctx, err)
	note(ctx, c.observe, start, err, 1, text)
	if err != nil {
		return 0, err
	}
	return rows.CommandTag().RowsAffected(), nil
}

// Send puts the whole batch on the wire at once. Up to the closing Sync that
// is one transaction by the protocol's own rule, so a batch with writes needs
// no begin and commit around it.
func (c pgConn) Send(ctx context.Context, b *Batch) error {
	if b.Len() == 0 {
		return nil
	}
	var queue pgx.Batch
	for _, it := range b.items {
		args, err := pgBind(it.args)
		if err != nil {
			return err
		}
		queue.Queue(it.text, args...)
	}
	start := time.Now()
	err := c.read(ctx, b, c.q.SendBatch(ctx, &queue))
	note(ctx, c.observe, start, err, b.writes, b.texts()...)
	return err
}

// read fills the results of a batch and stops at the first error.
func (c pgConn) read(ctx context.Context, b *Batch, answers pgx.BatchResults) (err error) {
	defer func() {
		if e := answers.Close(); err == nil {
			err = pgError(ctx, e)
		}
	}()
	for _, it := range b.items {
		if it.read == nil {
			tag, err := answers.Exec()
			if err != nil {
				return pgError(ctx, err)
			}
			it.done.rows = tag.RowsAffected()
			continue
		}
		found, err := answers.Query()
		if err != nil {
			return pgError(ctx, err)
		}
		rows := &pgRows{Rows: found, ctx: ctx}
		err = it.read(rows)
		rows.Close()
		if err != nil {
			return err
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// pgRows gives pgx's rows our errors and lets the connection go at the end.
type pgRows struct {
	pgx.Rows
	ctx     context.Context
	end     func(error)
	release func()
	closed  bool
}

func (r *pgRows) Scan(dest ...any) error { return pgError(r.ctx, r.Rows.Scan(dest...)) }

func (r *pgRows) Err() error { return pgError(r.ctx, r.Rows.Err()) }

func (r *pgRows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	if r.end != nil {
		r.end(r.Err())
	}
	if r.release != nil {
		r.release()
	}
}

// pgBind hands times over as what the columns are, timestamps without zone:
// left to itself pgx guesses "with zone" where the server is not asked first.
func pgBind(args []any) ([]any, error) {
	bound, err := bind(args)
	if err != nil {
		return nil, err
	}
	for i, a := range bound {
		switch v := a.(type) {
		case time.Time:
			bound[i] = pgtype.Timestamp{Time: v, Valid: true}
		case Date:
			bound[i] = pgtype.Date{Time: time.Time(v).UTC(), Valid: true}
		}
	}
	return bound, nil
}
