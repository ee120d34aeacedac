package conf

// Healthcheck is the section [healthcheck]: the answer of /healthcheck (oslo.middleware).
type Healthcheck struct {
	Path                  string   `ini:"path" gone:"yes" default:"/healthcheck" removal:"yes" help:"path (keystone mounts at /healthcheck anyway)"`
	Detailed              bool     `ini:"detailed" default:"False" effect:"yes" help:"tell more in JSON and HTML: what each check saw, and about the host"`
	Backends              []string `ini:"backends" default:"" effect:"yes" help:"checks to make, of disable_by_file, disable_by_files_ports and enable_by_files"`
	DisableByFilePath     string   `ini:"disable_by_file_path" effect:"yes" help:"file whose presence makes disable_by_file answer 503"`
	DisableByFilePaths    []string `ini:"disable_by_file_paths" default:"" effect:"yes" help:"port:file pairs; the file of the port that was asked makes disable_by_files_ports answer 503"`
	EnableByFilePaths     []string `ini:"enable_by_file_paths" default:"" effect:"yes" help:"files that enable_by_files answers 503 without"`
	AllowedSourceRanges   []string `ini:"allowed_source_ranges" default:"" effect:"yes" help:"networks that may ask, all if empty; others are told 404"`
	IgnoreProxiedRequests bool     `ini:"ignore_proxied_requests" default:"False" effect:"yes" help:"tell 404 to what came through a proxy"`
}
