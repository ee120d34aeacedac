//go:build !race

package memory_test

const racing = false
