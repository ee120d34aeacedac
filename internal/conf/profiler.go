package conf

// Profiler is the section [profiler]: the profiler of Python Keystone.
type Profiler struct {
	Enabled             bool    `ini:"enabled" default:"False" was:"profiler/profiler_enabled" help:"OSProfiler tracing"`
	TraceRequests       bool    `ini:"trace_requests" default:"False" help:"OSProfiler setting"`
	TraceSqlalchemy     bool    `ini:"trace_sqlalchemy" default:"False" help:"OSProfiler setting"`
	HMACKeys            string  `ini:"hmac_keys" default:"SECRET_KEY" secret:"yes" help:"OSProfiler setting"`
	ConnectionString    string  `ini:"connection_string" default:"messaging://" secret:"yes" help:"OSProfiler setting"`
	ESDocType           string  `ini:"es_doc_type" default:"notification" help:"OSProfiler setting"`
	ESScrollTime        string  `ini:"es_scroll_time" default:"2m" help:"OSProfiler setting"`
	ESScrollSize        int     `ini:"es_scroll_size" default:"10000" help:"OSProfiler setting"`
	SocketTimeout       float64 `ini:"socket_timeout" default:"0.1" help:"OSProfiler setting"`
	SentinelServiceName string  `ini:"sentinel_service_name" default:"mymaster" help:"OSProfiler setting"`
	FilterErrorTrace    bool    `ini:"filter_error_trace" default:"False" help:"OSProfiler setting"`
}

// ProfilerJaeger is the section [profiler_jaeger]: where the profiler of Python Keystone sends.
type ProfilerJaeger struct {
	ServiceNamePrefix string            `ini:"service_name_prefix" removal:"yes" help:"OSProfiler setting"`
	ProcessTags       map[string]string `ini:"process_tags" default:"" removal:"yes" help:"OSProfiler setting"`
}

// ProfilerOTLP is the section [profiler_otlp]: where the profiler of Python Keystone sends.
type ProfilerOTLP struct {
	ServiceNamePrefix string `ini:"service_name_prefix" help:"OSProfiler setting"`
}
