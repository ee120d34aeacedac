//go:build race

package fernet_test

const raceEnabled = true
