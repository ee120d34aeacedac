package pycache

// Address gives network and address of a text of [cache] memcache_servers.
func Address(text string) (string, error) {
	a, err := parseAddress(text)
	return a.network + " " + a.dialed, err
}
