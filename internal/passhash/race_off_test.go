//go:build !race

package passhash_test

const raceEnabled = false
