package diff

import (
	"context"
	"fmt"
	"maps"
)

// Administrator is the variable with the token that a fixture's steps send
// where they name none.
const Administrator = "administrator"

// Prepare sends steps to one server, in order, and gives what they keep. A step
// that is not answered by its status, or by 2xx where it names none, is an
// error: what builds upon it would compare nothing.
func Prepare(ctx context.Context, addr string, steps []Step, vars map[string]string) (map[string]string, error) {
	all, kept := maps.Clone(vars), map[string]string{}
	for _, st := range steps {
		if st.As == "" {
			st.As = Administrator
		}
		a, err := send(ctx, addr, st, all)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", st.Name, err)
		}
		if st.Status != 0 && a.Status != st.Status || st.Status == 0 && a.Status/100 != 2 {
			return nil, fmt.Errorf("%s: %s %s: %s", st.Name, st.Method, st.Path, brief(a))
		}
		for name, from := range st.Keep {
			if err := keep(kept, name, from, a); err != nil {
				return nil, fmt.Errorf("%s: %w", st.Name, err)
			}
		}
		maps.Copy(all, kept)
	}
	return kept, nil
}
