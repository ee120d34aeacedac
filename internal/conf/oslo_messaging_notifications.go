package conf

// OsloMessagingNotifications is the section [oslo_messaging_notifications]: where notifications go.
type OsloMessagingNotifications struct {
	Driver       []string `ini:"driver" kind:"multi" default:"" was:"DEFAULT/notification_driver" help:"where events go: messaging, messagingv2, routing, log, test, noop (repeatable)"`
	TransportURL string   `ini:"transport_url" was:"DEFAULT/notification_transport_url" secret:"yes" help:"broker for events"`
	Topics       []string `ini:"topics" default:"notifications" was:"rpc_notifier2/topics,DEFAULT/notification_topics" help:"topics"`
	Retry        int      `ini:"retry" default:"-1" help:"resend tries"`
}
