package conf

// OsloMessagingNotifications is the section [oslo_messaging_notifications]: where notifications go.
type OsloMessagingNotifications struct {
	Driver       []string `ini:"driver" kind:"multi" default:"" was:"DEFAULT/notification_driver" effect:"yes" help:"who is told what the server does: log, messagingv2, messaging, noop (repeatable); unset, nobody"`
	TransportURL string   `ini:"transport_url" was:"DEFAULT/notification_transport_url" secret:"yes" effect:"yes" help:"message broker for notifications, rabbit://user:password@host:port,…/vhost; unset, that of [DEFAULT]"`
	Topics       []string `ini:"topics" default:"notifications" was:"rpc_notifier2/topics,DEFAULT/notification_topics" effect:"yes" help:"topics to send notifications on, as <topic>.info"`
	Retry        int      `ini:"retry" default:"-1" effect:"yes" help:"times that a notification is tried again where the message broker does not take it; -1 is for ever"`
}
