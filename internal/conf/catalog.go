package conf

// Catalog is the section [catalog]: how long lists of the catalog get.
type Catalog struct {
	Driver       string `ini:"driver" default:"sql" effect:"default" help:"only sql remains on master (templated and endpoint_filter.sql entry points are gone)"`
	Caching      bool   `ini:"caching" default:"True" help:"cache catalog data when the global cache is on"`
	CacheTime    *int   `ini:"cache_time" help:"TTL seconds for cached catalog data; global TTL when unset"`
	TemplateFile string `ini:"template_file" gone:"yes" default:"default_catalog.templates" help:"file of the templated catalog, which is gone"`
	ListLimit    *int   `ini:"list_limit" effect:"yes" help:"length of lists of services and endpoints"`
}
