package conf

// OsloMiddlewareTracing is the section [oslo_middleware_tracing]: traces of requests (oslo.middleware).
type OsloMiddlewareTracing struct {
	Enabled      bool    `ini:"enabled" default:"False" effect:"yes" help:"send traces of requests to an OpenTelemetry collector"`
	ServiceName  string  `ini:"service_name" effect:"yes" help:"name of the service in traces; keystone if unset"`
	OTLPEndpoint string  `ini:"otlp_endpoint" kind:"uri" schemes:"http,https" default:"http://localhost:4318" effect:"yes" help:"where the collector is; /v1/traces is added"`
	OTLPProtocol string  `ini:"otlp_protocol" default:"http/protobuf" choices:"http/protobuf,grpc" effect:"yes" help:"how traces are sent: http/protobuf alone"`
	SamplingRate float64 `ini:"sampling_rate" default:"1.0" min:"0.0" max:"1.0" effect:"yes" help:"part of the requests that is traced, where the caller has not decided"`
	Insecure     bool    `ini:"insecure" default:"False" effect:"yes" help:"do not check the collector's certificate"`
}

// OsloMessagingTracing is the section [oslo_messaging_tracing]: traces of messages in Python's oslo.messaging.
type OsloMessagingTracing struct {
	TracingEnabled           bool   `ini:"tracing_enabled" default:"False" help:"tracing of Python's libraries"`
	TracingServiceName       string `ini:"tracing_service_name" default:"openstack" help:"tracing of Python's libraries"`
	OTELExporterOTLPEndpoint string `ini:"otel_exporter_otlp_endpoint" default:"http://localhost:4318" help:"tracing of Python's libraries"`
	OTLPProtocol             string `ini:"otlp_protocol" default:"http/protobuf" choices:"http/protobuf,grpc" help:"tracing of Python's libraries"`
	Insecure                 bool   `ini:"insecure" default:"False" help:"tracing of Python's libraries"`
}

// OsloMessagingMetrics is the section [oslo_messaging_metrics]: figures of messages in Python's oslo.messaging.
type OsloMessagingMetrics struct {
	MetricsEnabled           bool   `ini:"metrics_enabled" default:"False" help:"figures of Python's libraries"`
	MetricsProcessName       string `ini:"metrics_process_name" default:"" help:"figures of Python's libraries"`
	MetricsBufferSize        int    `ini:"metrics_buffer_size" default:"1000" help:"figures of Python's libraries"`
	MetricsThreadStopTimeout int    `ini:"metrics_thread_stop_timeout" default:"10" help:"figures of Python's libraries"`
	MetricsSocketFile        string `ini:"metrics_socket_file" default:"/var/tmp/metrics_collector.sock" help:"figures of Python's libraries"`
}
