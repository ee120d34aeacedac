package catalog

// Entry is one service of a token's catalog.
type Entry struct {
	ID, Type, Name string
	Endpoints      []EntryEndpoint
}

// EntryEndpoint is one endpoint of a catalog entry, its URL filled in.
type EntryEndpoint struct {
	ID, Interface, URL string
	RegionID           *string
	Extra              string // the endpoint's extra JSON object
}
