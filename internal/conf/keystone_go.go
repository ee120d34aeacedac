package conf

// KeystoneGo is the section [keystone_go]: what Python Keystone leaves to the
// web server in front of it. Python ignores the section.
type KeystoneGo struct {
	Listen                []string `ini:"listen" default:":5000" effect:"yes" help:"addresses to serve the Identity API on, host:port or unix:/path, comma-separated"`
	AdminListen           string   `ini:"admin_listen" default:"127.0.0.1:5009" effect:"yes" help:"address of the listener for metrics and health, host:port or unix:/path; empty switches it off"`
	SocketMode            string   `ini:"socket_mode" default:"0660" effect:"yes" help:"mode of unix sockets, in octal"`
	SocketGroup           string   `ini:"socket_group" default:"" effect:"yes" help:"group of unix sockets; empty means the server's own"`
	SocketPeer            string   `ini:"socket_peer" default:"" choices:",local" effect:"yes" help:"local means that what connects to a unix socket is a proxy on this host, believed about the client's address like trusted_proxies; empty means that such requests have no address, and those that limits apply to are answered 503"`
	TLSCertFile           string   `ini:"tls_cert_file" default:"" effect:"yes" help:"certificate in PEM form, with those between it and the root; with it, all addresses but unix sockets and admin_listen speak TLS"`
	TLSKeyFile            string   `ini:"tls_key_file" default:"" effect:"yes" help:"private key of the certificate, in PEM form"`
	TLSMinVersion         string   `ini:"tls_min_version" default:"1.2" choices:"1.2,1.3" effect:"yes" help:"oldest version of TLS that clients may speak"`
	TLSClientCAFile       string   `ini:"tls_client_ca_file" default:"" effect:"yes" help:"certificates, in PEM form, that clients' certificates are verified by"`
	TLSClientAuth         string   `ini:"tls_client_auth" default:"none" choices:"none,request,require" effect:"yes" help:"whether clients may (request) or must (require) have a certificate; one that is sent must be good"`
	Pprof                 bool     `ini:"pprof" default:"false" effect:"yes" help:"serve /debug/pprof/ on admin_listen"`
	PathPrefix            string   `ini:"path_prefix" default:"" effect:"yes" help:"path under which the API is mounted, such as /identity"`
	AllowNewerSchema      bool     `ini:"allow_newer_schema" default:"false" effect:"yes" help:"start although the database is at a schema revision that this release does not know"`
	RememberReads         bool     `ini:"remember_reads" default:"true" effect:"yes" help:"answer validations, and logins behind the password, from memory while Postgres proves that nothing was committed since; off, all rows are read each time"`
	HashSlots             int      `ini:"hash_slots" default:"0" min:"0" max:"1024" effect:"yes" help:"password hashes computed at one time; 0 means half the cores, at least 1"`
	HashQueue             int      `ini:"hash_queue" default:"0" min:"0" max:"1000000" effect:"yes" help:"requests that may wait for a slot; 0 means 64 a slot; more are answered 503"`
	HashWait              int      `ini:"hash_wait" default:"15" min:"1" max:"3600" effect:"yes" help:"seconds that a request may wait for a slot before it is answered 503"`
	PasswordHashAlgorithm string   `ini:"password_hash_algorithm" default:"" choices:",argon2id" effect:"yes" help:"argon2id overrides [identity] password_hash_algorithm for new passwords; Python Keystone cannot read such hashes"`
	Argon2Time            int      `ini:"argon2_time" default:"3" min:"1" max:"64" effect:"yes" help:"passes over the memory"`
	Argon2Memory          int      `ini:"argon2_memory" default:"65536" min:"8" max:"4194304" effect:"yes" help:"memory of one hash in KiB"`
	Argon2Threads         int      `ini:"argon2_threads" default:"1" min:"1" max:"64" effect:"yes" help:"lanes of one hash"`
	NotificationQueue     int      `ini:"notification_queue" default:"1000" min:"1" max:"1000000" effect:"yes" help:"notifications that may wait to be sent, for each driver; more are dropped and counted"`
	DrainDelay            int      `ini:"drain_delay" default:"0" min:"0" max:"3600" effect:"yes" help:"seconds between SIGTERM and the end of accepting, for a balancer to look away"`
	GracefulTimeout       int      `ini:"graceful_timeout" default:"25" min:"0" max:"3600" effect:"yes" help:"seconds that running requests have to end after that"`
}
