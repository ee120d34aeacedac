//go:build interop

package deployers_test

// make interop has Python Keystone at hand.
func init() { installed = "../../build/interop/venv/bin" }
