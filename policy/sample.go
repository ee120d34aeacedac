package policy

//go:generate go test -count=1 -run ^TestSampleFile$ . -update

import (
	"fmt"
	"strings"
)

// Sample writes every rule with its default as a policy file whose lines are
// all comments, for an operator to change one by one.
func Sample() string {
	var b strings.Builder
	b.WriteString("# Default policy of Keystone. A line without its # replaces the default of that\n" +
		"# rule; the others stay as they are.\n")
	for _, r := range Defaults {
		r.sample(&b)
	}
	for _, r := range Own {
		r.sample(&b)
	}
	return b.String()
}

func (r Rule) sample(b *strings.Builder) {
	fmt.Fprintf(b, "\n# %s\n", r.Description)
	for _, op := range r.Operations {
		fmt.Fprintf(b, "#   %s\n", op)
	}
	if len(r.ScopeTypes) > 0 {
		fmt.Fprintf(b, "# Scopes: %s\n", strings.Join(r.ScopeTypes, ", "))
	}
	if r.Removal {
		b.WriteString("# Will be removed.\n")
	}
	if d := r.Deprecated; d != nil && (d.Check != r.Check || d.Name != "") {
		fmt.Fprintf(b, "# Before %s: %q", d.Since, d.Check)
		if d.Name != "" {
			fmt.Fprintf(b, ", under the name %s", d.Name)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "#%q: %q\n", r.Name, r.Check)
}
