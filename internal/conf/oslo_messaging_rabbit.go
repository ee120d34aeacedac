package conf

// OsloMessagingRabbit is the section [oslo_messaging_rabbit]: the RabbitMQ transport.
type OsloMessagingRabbit struct {
	AMQPDurableQueues                bool    `ini:"amqp_durable_queues" default:"False" effect:"yes" help:"exchange and queues of notifications outlive the broker"`
	AMQPAutoDelete                   bool    `ini:"amqp_auto_delete" default:"False" was:"DEFAULT/amqp_auto_delete" effect:"yes" help:"exchange and queues of notifications go with the last who uses them"`
	SSL                              bool    `ini:"ssl" default:"False" was:"oslo_messaging_rabbit/rabbit_use_ssl" effect:"yes" help:"speak TLS to the message broker"`
	SSLVersion                       string  `ini:"ssl_version" default:"" was:"oslo_messaging_rabbit/kombu_ssl_version" effect:"yes" help:"empty for the newest that both speak, or TLSv1_2"`
	SSLKeyFile                       string  `ini:"ssl_key_file" default:"" was:"oslo_messaging_rabbit/kombu_ssl_keyfile" effect:"yes" help:"private key to ssl_cert_file, in PEM form"`
	SSLCertFile                      string  `ini:"ssl_cert_file" default:"" was:"oslo_messaging_rabbit/kombu_ssl_certfile" effect:"yes" help:"certificate that is shown to the message broker, in PEM form"`
	SSLCAFile                        string  `ini:"ssl_ca_file" default:"" was:"oslo_messaging_rabbit/kombu_ssl_ca_certs" effect:"yes" help:"certificates that the message broker's is verified by, in PEM form; unset, it is not verified"`
	SSLEnforceHostnameVerification   bool    `ini:"ssl_enforce_hostname_verification" default:"True" removal:"yes" help:"RabbitMQ client setting (only when events go to a broker)"`
	SSLEnforceFIPSMode               bool    `ini:"ssl_enforce_fips_mode" default:"False" removal:"yes" help:"RabbitMQ client setting (only when events go to a broker)"`
	HeartbeatInPthread               bool    `ini:"heartbeat_in_pthread" gone:"yes" default:"False" help:"RabbitMQ client setting (only when events go to a broker)"`
	KombuReconnectDelay              float64 `ini:"kombu_reconnect_delay" default:"1.0" min:"0.0" max:"4.5" was:"DEFAULT/kombu_reconnect_delay" help:"RabbitMQ client setting (only when events go to a broker)"`
	KombuReconnectSplay              float64 `ini:"kombu_reconnect_splay" default:"0.0" min:"0.0" help:"RabbitMQ client setting (only when events go to a broker)"`
	KombuCompression                 string  `ini:"kombu_compression" help:"RabbitMQ client setting (only when events go to a broker)"`
	KombuMissingConsumerRetryTimeout int     `ini:"kombu_missing_consumer_retry_timeout" default:"60" was:"oslo_messaging_rabbit/kombu_reconnect_timeout" help:"RabbitMQ client setting (only when events go to a broker)"`
	KombuFailoverStrategy            string  `ini:"kombu_failover_strategy" default:"round-robin" choices:"round-robin,shuffle" help:"RabbitMQ client setting (only when events go to a broker)"`
	RabbitLoginMethod                string  `ini:"rabbit_login_method" default:"AMQPLAIN" choices:"PLAIN,AMQPLAIN,EXTERNAL,RABBIT-CR-DEMO" was:"DEFAULT/rabbit_login_method" effect:"yes" help:"how to log in at the message broker: PLAIN, AMQPLAIN, EXTERNAL"`
	RabbitRetryInterval              int     `ini:"rabbit_retry_interval" default:"1" min:"1" effect:"yes" help:"seconds until a message broker that does not answer is tried again"`
	RabbitRetryBackoff               int     `ini:"rabbit_retry_backoff" default:"2" min:"0" was:"DEFAULT/rabbit_retry_backoff" effect:"yes" help:"seconds that are added with each further try"`
	RabbitIntervalMax                int     `ini:"rabbit_interval_max" default:"30" min:"1" effect:"yes" help:"most seconds between two tries"`
	RabbitHAQueues                   bool    `ini:"rabbit_ha_queues" default:"False" was:"DEFAULT/rabbit_ha_queues" effect:"yes" help:"ask for mirrored queues, which RabbitMQ 3 has by policy alone"`
	RabbitQuorumQueue                bool    `ini:"rabbit_quorum_queue" default:"False" effect:"yes" help:"quorum queues, which are replicated and durable"`
	RabbitQuorumDeliveryLimit        int     `ini:"rabbit_quorum_delivery_limit" default:"0" effect:"yes" help:"times that a quorum queue delivers a message; 0 is without limit"`
	RabbitQuorumMaxMemoryLength      int     `ini:"rabbit_quorum_max_memory_length" default:"0" was:"oslo_messaging_rabbit/rabbit_quroum_max_memory_length" effect:"yes" help:"messages that a quorum queue keeps in memory; 0 is without limit"`
	RabbitQuorumMaxMemoryBytes       int     `ini:"rabbit_quorum_max_memory_bytes" default:"0" was:"oslo_messaging_rabbit/rabbit_quroum_max_memory_bytes" effect:"yes" help:"bytes that a quorum queue keeps in memory; 0 is without limit"`
	RabbitTransientQuorumQueue       bool    `ini:"rabbit_transient_quorum_queue" default:"False" help:"RabbitMQ client setting (only when events go to a broker)"`
	RabbitStreamFanout               bool    `ini:"rabbit_stream_fanout" default:"False" help:"RabbitMQ client setting (only when events go to a broker)"`
	RabbitTransientQueuesTTL         int     `ini:"rabbit_transient_queues_ttl" default:"1800" min:"0" help:"RabbitMQ client setting (only when events go to a broker)"`
	RabbitQosPrefetchCount           int     `ini:"rabbit_qos_prefetch_count" default:"0" help:"RabbitMQ client setting (only when events go to a broker)"`
	HeartbeatTimeoutThreshold        int     `ini:"heartbeat_timeout_threshold" default:"60" effect:"yes" help:"seconds without a word after which the message broker is taken for dead; 0 leaves it to the broker"`
	HeartbeatRate                    int     `ini:"heartbeat_rate" default:"3" help:"RabbitMQ client setting (only when events go to a broker)"`
	DirectMandatoryFlag              bool    `ini:"direct_mandatory_flag" default:"True" removal:"yes" help:"RabbitMQ client setting (only when events go to a broker)"`
	UseQueueManager                  bool    `ini:"use_queue_manager" default:"False" help:"RabbitMQ client setting (only when events go to a broker)"`
	Hostname                         string  `ini:"hostname" help:"RabbitMQ client setting (only when events go to a broker)"`
	Processname                      string  `ini:"processname" help:"RabbitMQ client setting (only when events go to a broker)"`
	RPCConnPoolSize                  int     `ini:"rpc_conn_pool_size" default:"30" min:"1" was:"DEFAULT/rpc_conn_pool_size" help:"RabbitMQ client setting (only when events go to a broker)"`
	ConnPoolMinSize                  int     `ini:"conn_pool_min_size" default:"2" was:"DEFAULT/conn_pool_min_size" help:"RabbitMQ client setting (only when events go to a broker)"`
	ConnPoolTTL                      int     `ini:"conn_pool_ttl" default:"1200" was:"DEFAULT/conn_pool_ttl" help:"RabbitMQ client setting (only when events go to a broker)"`
	EnableCancelOnFailover           bool    `ini:"enable_cancel_on_failover" default:"False" help:"RabbitMQ client setting (only when events go to a broker)"`
}
