package redis

import (
	"crypto/sha1" // the server names scripts so
	_ "embed"
	"encoding/hex"
	"strings"
)

//go:embed take.lua
var takeText string

// script is a text that the server runs, and the name by which it knows it.
type script struct{ text, hash string }

func newScript(text string) script {
	sum := sha1.Sum([]byte(text))
	return script{text, hex.EncodeToString(sum[:])}
}

// take is the only script: charges, refunds and looks.
var take = newScript(uncommented(takeText))

// uncommented takes out what only readers need; it would travel otherwise.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if l := strings.TrimSpace(line); l != "" && !strings.HasPrefix(l, "--") {
			b.WriteString(line)
		}
	}
	return b.String()
}
