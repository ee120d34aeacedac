package db

import "context"

// Snapshot runs f once, with all that it reads as of one moment; f must not
// write. On SQLite others cannot write meanwhile.
func Snapshot(ctx context.Context, d DB, f func(Conn) error) error {
	var failed error
	err := d.Tx(ctx, func(c Conn) error {
		for _, text := range snapshots[c.Dialect()] {
			if _, err := c.Exec(ctx, text); err != nil {
				return err
			}
		}
		failed = f(c) // whatever it is, the reading is not to be tried again
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// snapshots make a transaction that has begun one of a single moment. The
// transactions of SQLite are so; MariaDB has to begin another, to which alone
// the level holds.
var snapshots = map[Dialect][]string{
	Postgres: {
		`set transaction isolation level repeatable read read only`,
		`set local idle_in_transaction_session_timeout = 0`, // f may take its time between two reads
	},
	MariaDB: {
		`commit`,
		`set transaction isolation level repeatable read`,
		`start transaction with consistent snapshot, read only`,
	},
}
