package conf

// OsloMessagingAMQP is the section [oslo_messaging_amqp]: the AMQP 1.0 transport of Python Keystone.
type OsloMessagingAMQP struct {
	ContainerName               string   `ini:"container_name" gone:"yes" was:"amqp1/container_name" help:"messaging driver setting"`
	IdleTimeout                 int      `ini:"idle_timeout" gone:"yes" default:"0" was:"amqp1/idle_timeout" help:"messaging driver setting"`
	Trace                       bool     `ini:"trace" gone:"yes" default:"False" was:"amqp1/trace" help:"messaging driver setting"`
	SSL                         bool     `ini:"ssl" gone:"yes" default:"False" help:"messaging driver setting"`
	SSLCAFile                   string   `ini:"ssl_ca_file" gone:"yes" default:"" was:"amqp1/ssl_ca_file" help:"messaging driver setting"`
	SSLCertFile                 string   `ini:"ssl_cert_file" gone:"yes" default:"" was:"amqp1/ssl_cert_file" help:"messaging driver setting"`
	SSLKeyFile                  string   `ini:"ssl_key_file" gone:"yes" default:"" was:"amqp1/ssl_key_file" help:"messaging driver setting"`
	SSLKeyPassword              string   `ini:"ssl_key_password" gone:"yes" was:"amqp1/ssl_key_password" secret:"yes" help:"messaging driver setting"`
	SSLVerifyVhost              bool     `ini:"ssl_verify_vhost" gone:"yes" default:"False" help:"messaging driver setting"`
	SASLMechanisms              string   `ini:"sasl_mechanisms" gone:"yes" default:"" was:"amqp1/sasl_mechanisms" help:"messaging driver setting"`
	SASLConfigDir               string   `ini:"sasl_config_dir" gone:"yes" default:"" was:"amqp1/sasl_config_dir" help:"messaging driver setting"`
	SASLConfigName              string   `ini:"sasl_config_name" gone:"yes" default:"" was:"amqp1/sasl_config_name" help:"messaging driver setting"`
	SASLDefaultRealm            string   `ini:"sasl_default_realm" gone:"yes" default:"" help:"messaging driver setting"`
	ConnectionRetryInterval     int      `ini:"connection_retry_interval" gone:"yes" default:"1" min:"1" help:"messaging driver setting"`
	ConnectionRetryBackoff      int      `ini:"connection_retry_backoff" gone:"yes" default:"2" min:"0" help:"messaging driver setting"`
	ConnectionRetryIntervalMax  int      `ini:"connection_retry_interval_max" gone:"yes" default:"30" min:"1" help:"messaging driver setting"`
	LinkRetryDelay              int      `ini:"link_retry_delay" gone:"yes" default:"10" min:"1" help:"messaging driver setting"`
	DefaultReplyRetry           int      `ini:"default_reply_retry" gone:"yes" default:"0" min:"-1" help:"messaging driver setting"`
	DefaultReplyTimeout         int      `ini:"default_reply_timeout" gone:"yes" default:"30" min:"5" help:"messaging driver setting"`
	DefaultSendTimeout          int      `ini:"default_send_timeout" gone:"yes" default:"30" min:"5" help:"messaging driver setting"`
	DefaultNotifyTimeout        int      `ini:"default_notify_timeout" gone:"yes" default:"30" min:"5" help:"messaging driver setting"`
	DefaultSenderLinkTimeout    int      `ini:"default_sender_link_timeout" gone:"yes" default:"600" min:"1" help:"messaging driver setting"`
	AddressingMode              string   `ini:"addressing_mode" gone:"yes" default:"dynamic" help:"messaging driver setting"`
	PseudoVhost                 bool     `ini:"pseudo_vhost" gone:"yes" default:"True" help:"messaging driver setting"`
	ServerRequestPrefix         string   `ini:"server_request_prefix" gone:"yes" default:"exclusive" was:"amqp1/server_request_prefix" help:"messaging driver setting"`
	BroadcastPrefix             string   `ini:"broadcast_prefix" gone:"yes" default:"broadcast" was:"amqp1/broadcast_prefix" help:"messaging driver setting"`
	GroupRequestPrefix          string   `ini:"group_request_prefix" gone:"yes" default:"unicast" was:"amqp1/group_request_prefix" help:"messaging driver setting"`
	RPCAddressPrefix            string   `ini:"rpc_address_prefix" gone:"yes" default:"openstack.org/om/rpc" help:"messaging driver setting"`
	NotifyAddressPrefix         string   `ini:"notify_address_prefix" gone:"yes" default:"openstack.org/om/notify" help:"messaging driver setting"`
	MulticastAddress            string   `ini:"multicast_address" gone:"yes" default:"multicast" help:"messaging driver setting"`
	UnicastAddress              string   `ini:"unicast_address" gone:"yes" default:"unicast" help:"messaging driver setting"`
	AnycastAddress              string   `ini:"anycast_address" gone:"yes" default:"anycast" help:"messaging driver setting"`
	DefaultNotificationExchange string   `ini:"default_notification_exchange" gone:"yes" help:"messaging driver setting"`
	DefaultRPCExchange          string   `ini:"default_rpc_exchange" gone:"yes" help:"messaging driver setting"`
	ReplyLinkCredit             int      `ini:"reply_link_credit" gone:"yes" default:"200" min:"1" help:"messaging driver setting"`
	RPCServerCredit             int      `ini:"rpc_server_credit" gone:"yes" default:"100" min:"1" help:"messaging driver setting"`
	NotifyServerCredit          int      `ini:"notify_server_credit" gone:"yes" default:"100" min:"1" help:"messaging driver setting"`
	PreSettled                  []string `ini:"pre_settled" gone:"yes" kind:"multi" default:"rpc-cast,rpc-reply" help:"messaging driver setting"`
}
