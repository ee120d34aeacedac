package conf

// OsloMessagingKafka is the section [oslo_messaging_kafka]: the Kafka transport of Python Keystone.
type OsloMessagingKafka struct {
	KafkaMaxFetchBytes   int     `ini:"kafka_max_fetch_bytes" default:"1048576" help:"messaging driver setting"`
	KafkaConsumerTimeout float64 `ini:"kafka_consumer_timeout" default:"1.0" help:"messaging driver setting"`
	PoolSize             int     `ini:"pool_size" gone:"yes" default:"10" removal:"yes" help:"messaging driver setting"`
	ConnPoolMinSize      int     `ini:"conn_pool_min_size" gone:"yes" default:"2" removal:"yes" help:"messaging driver setting"`
	ConnPoolTTL          int     `ini:"conn_pool_ttl" gone:"yes" default:"1200" removal:"yes" help:"messaging driver setting"`
	ConsumerGroup        string  `ini:"consumer_group" default:"oslo_messaging_consumer" help:"messaging driver setting"`
	ProducerBatchTimeout float64 `ini:"producer_batch_timeout" default:"0.0" help:"messaging driver setting"`
	ProducerBatchSize    int     `ini:"producer_batch_size" default:"16384" help:"messaging driver setting"`
	CompressionCodec     string  `ini:"compression_codec" default:"none" choices:"none,gzip,snappy,lz4,zstd" help:"messaging driver setting"`
	EnableAutoCommit     bool    `ini:"enable_auto_commit" default:"False" help:"messaging driver setting"`
	MaxPollRecords       int     `ini:"max_poll_records" default:"500" help:"messaging driver setting"`
	SecurityProtocol     string  `ini:"security_protocol" default:"PLAINTEXT" choices:"PLAINTEXT,SASL_PLAINTEXT,SSL,SASL_SSL" help:"messaging driver setting"`
	SASLMechanism        string  `ini:"sasl_mechanism" default:"PLAIN" help:"messaging driver setting"`
	SSLCafile            string  `ini:"ssl_cafile" default:"" help:"messaging driver setting"`
	SSLClientCertFile    string  `ini:"ssl_client_cert_file" default:"" help:"messaging driver setting"`
	SSLClientKeyFile     string  `ini:"ssl_client_key_file" default:"" help:"messaging driver setting"`
	SSLClientKeyPassword string  `ini:"ssl_client_key_password" default:"" secret:"yes" help:"messaging driver setting"`
}
