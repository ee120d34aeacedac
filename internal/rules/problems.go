package rules

import (
	"fmt"
	"maps"
	"slices"
)

// Problems lists, in sentences for an operator, the references that lead
// nowhere or in a circle. Such a set still works: the first refuse, and a
// decision that comes into the second does.
func (s *Set) Problems() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.Rules)) {
		for _, ref := range s.Rules[name].refs {
			if _, ok := s.Lookup(ref); !ok {
				out = append(out, fmt.Sprintf("rule %s refers to %s, which is not there", name, ref))
			}
		}
		if s.reaches(name, name, map[string]bool{}) {
			out = append(out, fmt.Sprintf("rule %s refers to itself, by others or directly", name))
		}
	}
	return out
}

// reaches reports whether following references from a rule leads to another.
func (s *Set) reaches(from, to string, visited map[string]bool) bool {
	for _, ref := range s.Rules[from].refs {
		if _, ok := s.Rules[ref]; !ok {
			ref = s.Default
		}
		if ref == to {
			return true
		}
		if !visited[ref] {
			visited[ref] = true
			if s.reaches(ref, to, visited) {
				return true
			}
		}
	}
	return false
}
