package wire

import (
	"github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/catalog"
)

// resources are what the rows of the API work on.
func (b *builder) resources() v3.Resources {
	d, global := b.app.DB, b.cfg.Default.ListLimit
	ofCatalog := listLimit(b.cfg.Catalog.ListLimit, global)
	return v3.Resources{
		Health: b.checks, Now: b.Now, DB: d, Auth: b.app.Auth, Users: b.app.Users,
		Regions:  catalog.Regions{DB: d, Limit: ofCatalog},
		Services: catalog.Services{DB: d, Limit: ofCatalog},
	}
}
