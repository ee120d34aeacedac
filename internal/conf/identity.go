package conf

// Identity is the section [identity]: users, their domains and how passwords are hashed.
type Identity struct {
	DefaultDomainID                  string `ini:"default_domain_id" default:"default" effect:"yes" help:"id of the default domain"`
	DomainSpecificDriversEnabled     bool   `ini:"domain_specific_drivers_enabled" default:"False" effect:"default" help:"per-domain identity backends; also forces domain on list calls"`
	DomainConfigurationsFromDatabase bool   `ini:"domain_configurations_from_database" default:"False" effect:"default" help:"per-domain settings from the database, not files"`
	DomainConfigDir                  string `ini:"domain_config_dir" default:"/etc/keystone/domains" effect:"yes" help:"directory of keystone.<domain>.conf files, which domain_config_upload reads"`
	Driver                           string `ini:"driver" default:"sql" effect:"default" help:"identity backend: sql or ldap"`
	Caching                          bool   `ini:"caching" default:"True" help:"cache identity data when the global cache is on"`
	CacheTime                        int    `ini:"cache_time" default:"600" help:"TTL seconds for cached identity data; global TTL when unset"`
	MaxPasswordLength                int    `ini:"max_password_length" default:"4096" max:"4096" effect:"yes" help:"longest password in bytes; bcrypt looks at 72 of them"`
	ListLimit                        *int   `ini:"list_limit" effect:"yes" help:"default page size for identity collections, over the global one"`
	PasswordHashAlgorithm            string `ini:"password_hash_algorithm" default:"bcrypt" choices:"bcrypt,bcrypt_sha256,scrypt,pbkdf2_sha512" effect:"yes" help:"how new passwords are hashed; all kinds are verified"`
	PasswordHashRounds               *int   `ini:"password_hash_rounds" effect:"yes" help:"cost of new hashes: bcrypt 4 to 31, default 12; scrypt the logarithm of N, default 16; pbkdf2 iterations, default 60000"`
	ScryptBlockSize                  *int   `ini:"scrypt_block_size" effect:"yes" help:"r of scrypt; 8 when unset"`
	ScryptParallelism                *int   `ini:"scrypt_parallelism" effect:"yes" help:"p of scrypt; 1 when unset"`
	SaltBytesize                     *int   `ini:"salt_bytesize" min:"0" max:"96" effect:"yes" help:"length of the salt of scrypt and pbkdf2; 16 when unset"`
}
