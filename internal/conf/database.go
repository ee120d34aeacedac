package conf

// Database is the section [database]: the connection and its pool (oslo.db).
type Database struct {
	SqliteSynchronous      bool   `ini:"sqlite_synchronous" default:"True" was:"DEFAULT/sqlite_synchronous" help:"SQLite only"`
	Backend                string `ini:"backend" default:"sqlalchemy" was:"DEFAULT/db_backend" help:"sqlalchemy only"`
	Connection             string `ini:"connection" was:"DEFAULT/sql_connection,DATABASE/sql_connection,sql/connection" secret:"yes" effect:"yes" help:"where the data is, as a SQLAlchemy URL: postgresql://user:password@host/keystone, mysql+pymysql://user:password@host/keystone, sqlite:////var/lib/keystone/keystone.db"`
	SlaveConnection        string `ini:"slave_connection" secret:"yes" help:"read replica URL"`
	AsyncioConnection      string `ini:"asyncio_connection" secret:"yes" help:"URL for Python's asyncio, which Keystone does not use"`
	AsyncioSlaveConnection string `ini:"asyncio_slave_connection" secret:"yes" help:"read replica URL for Python's asyncio"`
	SynchronousReader      bool   `ini:"synchronous_reader" default:"True" help:"wait for the read replica to have caught up"`
	MysqlSQLMode           string `ini:"mysql_sql_mode" default:"TRADITIONAL" help:"MySQL only"`
	MysqlWsrepSyncWait     *int   `ini:"mysql_wsrep_sync_wait" effect:"yes" help:"Galera only: wsrep_sync_wait of each session; 1 where servers write on several nodes, so that a read sees what was committed on another"`
	MysqlEnableNDB         bool   `ini:"mysql_enable_ndb" gone:"yes" default:"False" help:"MySQL cluster"`
	ConnectionRecycleTime  int    `ini:"connection_recycle_time" default:"3600" effect:"yes" help:"seconds after which a connection is replaced"`
	MaxPoolSize            int    `ini:"max_pool_size" default:"5" effect:"yes" help:"connections kept open"`
	MaxRetries             int    `ini:"max_retries" default:"10" was:"DEFAULT/sql_max_retries,DATABASE/sql_max_retries" help:"connect tries at start"`
	RetryInterval          int    `ini:"retry_interval" default:"10" was:"DEFAULT/sql_retry_interval,DATABASE/reconnect_interval" help:"pause between them"`
	MaxOverflow            int    `ini:"max_overflow" default:"50" was:"DEFAULT/sql_max_overflow,DATABASE/sqlalchemy_max_overflow" effect:"yes" help:"connections beyond those in times of need"`
	ConnectionDebug        int    `ini:"connection_debug" default:"0" min:"0" max:"100" was:"DEFAULT/sql_connection_debug" help:"SQL trace level"`
	ConnectionTrace        bool   `ini:"connection_trace" default:"False" was:"DEFAULT/sql_connection_trace" help:"stack traces in SQL comments"`
	PoolTimeout            *int   `ini:"pool_timeout" was:"DATABASE/sqlalchemy_pool_timeout" effect:"yes" help:"seconds to wait for a free connection"`
	UseDBReconnect         bool   `ini:"use_db_reconnect" default:"False" help:"reconnect switch"`
	DBRetryInterval        int    `ini:"db_retry_interval" default:"1" help:"first pause"`
	DBIncRetryInterval     bool   `ini:"db_inc_retry_interval" default:"True" help:"grow the pause"`
	DBMaxRetryInterval     int    `ini:"db_max_retry_interval" default:"10" help:"longest pause"`
	DBMaxRetries           int    `ini:"db_max_retries" default:"20" help:"statement retries on deadlock"`
	ConnectionParameters   string `ini:"connection_parameters" default:"" help:"query string appended to the URL"`
}
