package conf

// EventletServer is the section [eventlet_server]: the listener of very old releases; [keystone_go] listen is this server's.
type EventletServer struct {
	PublicBindHost string `ini:"public_bind_host" gone:"yes" default:"0.0.0.0" was:"DEFAULT/bind_host,DEFAULT/public_bind_host" removal:"since Kilo" help:"address of the public listener"`
	PublicPort     int    `ini:"public_port" gone:"yes" default:"5000" min:"0" max:"65535" was:"DEFAULT/public_port" removal:"since Kilo" help:"port of the public listener"`
	AdminBindHost  string `ini:"admin_bind_host" gone:"yes" default:"0.0.0.0" was:"DEFAULT/bind_host,DEFAULT/admin_bind_host" removal:"since Kilo" help:"address of the admin listener"`
	AdminPort      int    `ini:"admin_port" gone:"yes" default:"35357" min:"0" max:"65535" was:"DEFAULT/admin_port" removal:"since Kilo" help:"port of the admin listener"`
}
