package db

// ForUpdate ends a select whose rows must not change until the transaction is
// over. SQLite has one writer at a time and needs no words for it.
func ForUpdate(d Dialect) string {
	if d == SQLite {
		return ""
	}
	return " for update"
}
