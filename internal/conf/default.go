package conf

// DefaultSection is the section [DEFAULT]: limits of lists, links in answers, logs (oslo.log) and messaging.
type DefaultSection struct {
	AdminToken                 string   `ini:"admin_token" secret:"yes" effect:"yes" help:"a password that, as X-Auth-Token, may do everything: leave it unset"`
	PublicEndpoint             string   `ini:"public_endpoint" kind:"uri" effect:"yes" help:"base URL of the links in answers, in discovery and in WWW-Authenticate; unset, it is taken from the request"`
	MaxProjectTreeDepth        int      `ini:"max_project_tree_depth" default:"5" effect:"yes" help:"deepest allowed project nesting below the domain"`
	MaxParamSize               int      `ini:"max_param_size" default:"64" removal:"since 2025.1" help:"no effect any more; kept so old files load"`
	MaxTokenSize               int      `ini:"max_token_size" default:"255" help:"a Fernet token longer than this is noted in the log, and issued all the same"`
	ListLimit                  *int     `ini:"list_limit" effect:"yes" help:"length of lists, for sections that set none"`
	MaxDBLimit                 int      `ini:"max_db_limit" default:"1000" min:"0" effect:"yes" help:"upper bound of any list, whatever the client asks for"`
	StrictPasswordCheck        bool     `ini:"strict_password_check" default:"False" effect:"yes" help:"answer 403 to a password that is too long; off, it is cut silently"`
	InsecureDebug              bool     `ini:"insecure_debug" default:"False" effect:"yes" help:"tell clients the true reason of 401 and 403: for laboratories only"`
	DefaultPublisherID         string   `ini:"default_publisher_id" effect:"yes" help:"who notifications come from: identity.<this>; unset, the host's name"`
	NotificationFormat         string   `ini:"notification_format" default:"cadf" choices:"basic,cadf" effect:"yes" help:"form of notifications about resources; those about logins and roles are always CADF"`
	NotificationOptOut         []string `ini:"notification_opt_out" kind:"multi" default:"identity.authenticate.success,identity.authenticate.pending" effect:"yes" help:"event types that nobody is told of (repeatable)"`
	Debug                      bool     `ini:"debug" default:"False" effect:"yes" help:"log at the level DEBUG"`
	LogConfigAppend            string   `ini:"log_config_append" dashed:"yes" was:"DEFAULT/log-config,DEFAULT/log_config" effect:"yes" help:"file of Python logging configuration: it decides all else about logs"`
	LogDateFormat              string   `ini:"log_date_format" default:"%Y-%m-%d %H:%M:%S" effect:"yes" help:"form of the time in log lines, as strftime has it"`
	LogFile                    string   `ini:"log_file" dashed:"yes" was:"DEFAULT/logfile" effect:"yes" help:"file to log to, in log_dir if that is set; unset, the log goes to stderr"`
	LogDir                     string   `ini:"log_dir" dashed:"yes" was:"DEFAULT/logdir" effect:"yes" help:"folder of the log file"`
	WatchLogFile               bool     `ini:"watch_log_file" gone:"yes" default:"False" effect:"yes" help:"see a rotation of the log file at the next line, not within a second"`
	UseSyslog                  bool     `ini:"use_syslog" default:"False" effect:"yes" help:"log to syslog too"`
	UseJournal                 bool     `ini:"use_journal" default:"False" effect:"yes" help:"log to journald, with fields"`
	SyslogLogFacility          string   `ini:"syslog_log_facility" default:"LOG_USER" effect:"yes" help:"syslog facility"`
	UseJSON                    bool     `ini:"use_json" default:"False" effect:"yes" help:"log in JSON, one object a line"`
	UseStderr                  bool     `ini:"use_stderr" default:"False" effect:"yes" help:"log to stderr beside the file"`
	UseEventlog                bool     `ini:"use_eventlog" gone:"yes" default:"False" help:"Python log formatting: use eventlog"`
	LogColor                   bool     `ini:"log_color" default:"False" effect:"yes" help:"colours in lines on stderr, where a format has %(color)s"`
	LogRotateInterval          int      `ini:"log_rotate_interval" default:"1" effect:"yes" help:"interval of log_rotation_type = interval; of weekdays, 0 is Monday"`
	LogRotateIntervalType      string   `ini:"log_rotate_interval_type" default:"days" choices:"Seconds,Minutes,Hours,Days,Weekday,Midnight" anycase:"yes" effect:"yes" help:"unit of log_rotate_interval"`
	MaxLogfileCount            int      `ini:"max_logfile_count" default:"30" effect:"yes" help:"rotated files to keep"`
	MaxLogfileSizeMB           int      `ini:"max_logfile_size_mb" default:"200" effect:"yes" help:"size in MiB at which log_rotation_type = size rotates"`
	LogRotationType            string   `ini:"log_rotation_type" default:"none" choices:"interval,size,none" anycase:"yes" effect:"yes" help:"rotate the log file by size, by interval, or leave it to others"`
	LoggingContextFormatString string   `ini:"logging_context_format_string" default:"%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [%(global_request_id)s %(request_id)s %(user_identity)s] %(instance)s%(message)s" effect:"yes" help:"form of a line inside a request"`
	LoggingDefaultFormatString string   `ini:"logging_default_format_string" default:"%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [-] %(instance)s%(message)s" effect:"yes" help:"form of a line outside of requests"`
	LoggingDebugFormatSuffix   string   `ini:"logging_debug_format_suffix" default:"%(funcName)s %(pathname)s:%(lineno)d" effect:"yes" help:"what is added to lines of the level DEBUG"`
	LoggingExceptionPrefix     string   `ini:"logging_exception_prefix" default:"%(asctime)s.%(msecs)03d %(process)d ERROR %(name)s %(instance)s" effect:"yes" help:"what stands before each line of a stack"`
	LoggingUserIdentityFormat  string   `ini:"logging_user_identity_format" default:"%(user)s %(project)s %(domain)s %(system_scope)s %(user_domain)s %(project_domain)s" effect:"yes" help:"what %(user_identity)s stands for"`
	DefaultLogLevels           []string `ini:"default_log_levels" default:"amqp=WARN,boto=WARN,sqlalchemy=WARN,suds=INFO,oslo.messaging=INFO,oslo_messaging=INFO,iso8601=WARN,requests.packages.urllib3.connectionpool=WARN,urllib3.connectionpool=WARN,websocket=WARN,requests.packages.urllib3.util.retry=WARN,urllib3.util.retry=WARN,keystonemiddleware=WARN,routes.middleware=WARN,stevedore=WARN,taskflow=WARN,keystoneauth=WARN,oslo.cache=INFO,oslo_policy=INFO,dogpile.core.dogpile=INFO,dogpile=INFO,routes=INFO" effect:"yes" help:"levels of loggers, name=LEVEL: those of this server are keystone and keystone.<package>"`
	PublishErrors              bool     `ini:"publish_errors" default:"False" help:"Python log formatting: publish errors"`
	InstanceFormat             string   `ini:"instance_format" default:"[instance: %(uuid)s] " help:"Python log formatting: instance format"`
	InstanceUuidFormat         string   `ini:"instance_uuid_format" default:"[instance: %(uuid)s] " help:"Python log formatting: instance uuid format"`
	RateLimitInterval          int      `ini:"rate_limit_interval" default:"0" effect:"yes" help:"seconds in which rate_limit_burst lines may be logged; 0 is without limit"`
	RateLimitBurst             int      `ini:"rate_limit_burst" default:"0" effect:"yes" help:"lines that may be logged in rate_limit_interval; 0 is without limit"`
	RateLimitExceptLevel       string   `ini:"rate_limit_except_level" default:"CRITICAL" choices:"CRITICAL,ERROR,INFO,WARNING,DEBUG," effect:"yes" help:"from this level on the limit drops nothing"`
	FatalDeprecations          bool     `ini:"fatal_deprecations" default:"False" help:"Python log formatting: fatal deprecations"`
	ExecutorThreadPoolSize     int      `ini:"executor_thread_pool_size" default:"64" was:"DEFAULT/rpc_thread_pool_size" help:"RPC setting, keystone has no RPC"`
	RPCResponseTimeout         int      `ini:"rpc_response_timeout" default:"60" help:"RPC setting, keystone has no RPC"`
	TransportURL               string   `ini:"transport_url" default:"rabbit://" secret:"yes" effect:"yes" help:"message broker, where [oslo_messaging_notifications] transport_url names none"`
	ControlExchange            string   `ini:"control_exchange" default:"keystone" effect:"yes" help:"exchange that notifications are sent to"`
	PydevDebugHost             string   `ini:"pydev_debug_host" gone:"yes" removal:"since Stein" help:"remote debugger of Python"`
	PydevDebugPort             *int     `ini:"pydev_debug_port" gone:"yes" min:"0" max:"65535" removal:"since Stein" help:"remote debugger of Python"`
	StandardThreads            bool     `ini:"standard_threads" gone:"yes" default:"False" removal:"since Stein" help:"threads of Python"`
	RPCPingEnabled             bool     `ini:"rpc_ping_enabled" default:"False" help:"RPC setting, keystone has no RPC"`
}
