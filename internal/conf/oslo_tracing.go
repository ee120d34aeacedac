package conf

// OsloMiddlewareTracing is the section [oslo_middleware_tracing]: traces of requests in Python's oslo.middleware.
type OsloMiddlewareTracing struct {
	Enabled      bool    `ini:"enabled" default:"False" help:"tracing of Python's libraries"`
	ServiceName  string  `ini:"service_name" help:"tracing of Python's libraries"`
	OTLPEndpoint string  `ini:"otlp_endpoint" kind:"uri" schemes:"http,https" default:"http://localhost:4318" help:"tracing of Python's libraries"`
	OTLPProtocol string  `ini:"otlp_protocol" default:"http/protobuf" choices:"http/protobuf,grpc" help:"tracing of Python's libraries"`
	SamplingRate float64 `ini:"sampling_rate" default:"1.0" min:"0.0" max:"1.0" help:"tracing of Python's libraries"`
	Insecure     bool    `ini:"insecure" default:"False" help:"tracing of Python's libraries"`
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
