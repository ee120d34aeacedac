package db

// ForUpdate ends a select whose rows must not change until the transaction is
// over. SQLite has one writer at a time and needs no words for it.
func ForUpdate(d Dialect) string {
	if d == SQLite {
		return ""
	}
	return " for update"
}

// ForShare ends a select whose rows must not be deleted until the transaction
// is over, and may be kept by others at the same time. On Postgres they may be
// changed meanwhile.
func ForShare(d Dialect) string {
	switch d {
	case SQLite:
		return ""
	case MariaDB:
		return " lock in share mode"
	}
	return " for key share"
}
