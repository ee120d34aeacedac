package conf

// Policy is the section [policy]: stored policy blobs.
type Policy struct {
	Driver    string `ini:"driver" default:"sql" effect:"default" help:"sql, or rules (read-only)"`
	ListLimit *int   `ini:"list_limit" effect:"yes" help:"default page size for policy collections, over the global one"`
}
