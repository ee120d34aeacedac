package conf

// Resource is the section [resource]: projects and domains.
type Resource struct {
	Driver                 string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	Caching                bool   `ini:"caching" default:"True" was:"assignment/caching" help:"cache resource data when the global cache is on"`
	CacheTime              *int   `ini:"cache_time" was:"assignment/cache_time" help:"TTL seconds for cached resource data; global TTL when unset"`
	ListLimit              *int   `ini:"list_limit" was:"assignment/list_limit" effect:"yes" help:"default page size for resource collections, over the global one"`
	AdminProjectDomainName string `ini:"admin_project_domain_name" effect:"yes" help:"domain of admin_project_name"`
	AdminProjectName       string `ini:"admin_project_name" effect:"yes" help:"the project whose tokens are marked as the administrators' own; unset, all are"`
	ProjectNameURLSafe     string `ini:"project_name_url_safe" default:"off" choices:"off,new,strict" effect:"yes" help:"strict: nobody logs in to a project whose name has characters that a URL reserves"`
	DomainNameURLSafe      string `ini:"domain_name_url_safe" default:"off" choices:"off,new,strict" effect:"yes" help:"strict: nobody logs in to a domain whose name has characters that a URL reserves"`
}
