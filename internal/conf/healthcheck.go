package conf

// Healthcheck is the section [healthcheck]: the answer of /healthcheck (oslo.middleware).
type Healthcheck struct {
	Path                  string   `ini:"path" gone:"yes" default:"/healthcheck" removal:"yes" help:"path (keystone mounts at /healthcheck anyway)"`
	Detailed              bool     `ini:"detailed" default:"False" help:"verbose answer"`
	Backends              []string `ini:"backends" default:"" help:"checks to run"`
	DisableByFilePath     string   `ini:"disable_by_file_path" help:"file whose presence makes it answer 503"`
	DisableByFilePaths    []string `ini:"disable_by_file_paths" default:"" help:"port:file pairs for the same"`
	EnableByFilePaths     []string `ini:"enable_by_file_paths" default:"" help:"files whose absence makes it answer 503"`
	AllowedSourceRanges   []string `ini:"allowed_source_ranges" default:"" help:"networks that may ask; all if empty"`
	IgnoreProxiedRequests bool     `ini:"ignore_proxied_requests" default:"False" help:"answer no request that came through a proxy"`
}
