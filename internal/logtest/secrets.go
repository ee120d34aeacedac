package logtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// SecretsSought counts the secrets that the logs of all servers were searched
// for.
var SecretsSought atomic.Int64

// Secrets are texts that no log may hold, by what they are. They may be added
// from several goroutines.
type Secrets struct {
	mu    sync.Mutex
	short map[string]string // passwords
	long  map[string][]string
}

// The part of a long secret by which it is found: tokens of one second begin
// alike.
const (
	longFrom, longTo = 12, 36
	shortLeast       = 6 // what is shorter stands in logs by chance
)

// Add notes a secret. One character over and over keeps nothing secret.
func (s *Secrets) Add(what, text string) {
	if len(text) < shortLeast || strings.Trim(text, text[:1]) == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.short == nil {
		s.short, s.long = map[string]string{}, map[string][]string{}
	}
	if len(text) < longTo {
		s.short[text] = what
		return
	}
	part := text[longFrom:longTo]
	for _, known := range s.long[part] {
		if known == text {
			return
		}
	}
	s.long[part] = append(s.long[part], text)
}

// In tells the secrets that a text holds, each with what stands around it.
func (s *Secrets) In(text string) (found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tell := func(what, secret string, at int) {
		found = append(found, fmt.Sprintf("a %s: …%s…", what, text[max(at-150, 0):min(at+len(secret)+20, len(text))]))
	}
	for secret, what := range s.short {
		if at := strings.Index(text, secret); at >= 0 {
			tell(what, secret, at)
		}
	}
	told := map[string]bool{}
	for at := longFrom; at+longTo-longFrom <= len(text); at++ {
		for _, secret := range s.long[text[at:at+longTo-longFrom]] {
			if !told[secret] && strings.HasPrefix(text[at-longFrom:], secret) {
				told[secret] = true
				tell("token", secret, at-longFrom)
			}
		}
	}
	return found
}

// Len is how many there are.
func (s *Secrets) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.short)
	for _, list := range s.long {
		n += len(list)
	}
	return n
}

// AddBody notes the passwords and tokens of a request's body.
func (s *Secrets) AddBody(text string) {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		s.addValue(v, false)
	}
}

func (s *Secrets) addValue(v any, token bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			s.addValue(x, false)
		}
	case map[string]any:
		for key, x := range v {
			text, isText := x.(string)
			switch {
			case isText && (key == "password" || key == "original_password" || key == "secret" || key == "passcode"):
				s.Add(key, text)
			case isText && token && key == "id":
				s.Add("token", text)
			default:
				s.addValue(x, key == "token")
			}
		}
	}
}
