package conf

// OsloConcurrency is the section [oslo_concurrency]: locks of Python's libraries.
type OsloConcurrency struct {
	DisableProcessLocking bool   `ini:"disable_process_locking" default:"False" help:"locks between processes, which this server has not"`
	LockPath              string `ini:"lock_path" help:"folder of lock files, which this server has not"`
}
