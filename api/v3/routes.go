package v3

import (
	"slices"

	"github.com/keystone-go/keystone-go/catalog"
)

// Resources are what the rows work on. The zero value will do to list them.
type Resources struct {
	Regions catalog.Regions
}

// Table is every row that is served, without the HEAD of each GET.
func Table(r Resources) []Route {
	return slices.Concat(
		discoveryRoutes(),
		healthRoutes(),
		regions{r.Regions}.routes(),
	)
}
