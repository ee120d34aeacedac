package wire

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

// A tree of projects that the model of limits does not know is told at the
// start, and hinders it not.
func TestDeepProjects(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		warned := func(model string) string {
			t.Helper()
			b := &builder{cfg: configured(t, "[unified_limit]\nenforcement_model = "+model+"\n"), app: &App{DB: d}}
			return strings.Join(b.deepProjects(t.Context()), "\n")
		}
		err := resource.CreateDomain(t.Context(), d, resource.Domain{ID: "d", Name: "d", Enabled: true})
		for id, parent := range map[string]string{"p": "d", "q": "d"} {
			if err == nil {
				err = resource.CreateProject(t.Context(), d, resource.Project{ID: id, Name: id, DomainID: "d", ParentID: parent, Enabled: true})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := warned("strict_two_level"); got != "" {
			t.Errorf("warned of two levels: %s", got)
		}
		if err := resource.CreateProject(t.Context(), d, resource.Project{ID: "third", Name: "third", DomainID: "d", ParentID: "p", Enabled: true}); err != nil {
			t.Fatal(err)
		}
		if got := warned("strict_two_level"); !strings.HasSuffix(got, "there are some: third") {
			t.Errorf("warned: %s", got)
		}
		if got := warned("flat"); got != "" {
			t.Errorf("flat: %s", got)
		}
	})
}
