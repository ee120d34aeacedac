// Package guess bounds how often anybody may guess the secret of a user, with
// whatever method: a method that verifies a secret begins a try, which charges
// every limit at once, and says how it ended.
//
// A user has one bucket for all strangers. Whoever was right from an address
// before is a stranger there no more: for a day that pair of user and address
// has a bucket of its own, so that strangers cannot shut a user out. Names that
// do not exist go through limiters of their own, with the same numbers, so that
// the answers never tell them from those that do.
package guess
