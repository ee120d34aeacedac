//go:build race

package memory_test

// The race detector makes everything ten times slower: then the floods are
// smaller, and what depends on time is not measured.
const racing = true
