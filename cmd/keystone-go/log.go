package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/olog"
)

// openLog makes the log of a configuration the default one. The returned
// function ends it.
func (p *program) openLog(cfg *conf.Config) (func(), error) {
	l, err := olog.Open(p.logConfig(cfg))
	if err != nil {
		return nil, err
	}
	before := slog.Default()
	p.log = l
	slog.SetDefault(slog.New(l.Handler()))
	p.logNotes()
	return func() {
		slog.SetDefault(before)
		_ = l.Close()
	}, nil
}

// reloadLog makes the log what another configuration says: outputs, forms and
// levels. On an error it stays what it was.
func (p *program) reloadLog(cfg *conf.Config) error {
	if err := p.log.Reload(p.logConfig(cfg)); err != nil {
		return err
	}
	p.logNotes()
	return nil
}

// reopenLog opens the log files by their names again, after a rotation.
func (p *program) reopenLog() error { return p.log.Reopen() }

func (p *program) logNotes() {
	for _, note := range p.log.Notes() {
		slog.WarnContext(context.Background(), "The log: "+note)
	}
}

func (p *program) logConfig(cfg *conf.Config) olog.Config {
	d := cfg.Default
	return olog.Config{
		Program: p.logName(), Stdout: p.out, Stderr: p.err,
		Append: d.LogConfigAppend, Debug: d.Debug, Levels: d.DefaultLogLevels,
		File: p.logPath(cfg), Watch: d.WatchLogFile, UseStderr: d.UseStderr, UseJSON: d.UseJSON, Color: d.LogColor,
		UseJournal: d.UseJournal, UseSyslog: d.UseSyslog, Facility: d.SyslogLogFacility,
		DateFormat: d.LogDateFormat, ContextFormat: d.LoggingContextFormatString, DefaultFormat: d.LoggingDefaultFormatString,
		DebugSuffix: d.LoggingDebugFormatSuffix, ExceptionPrefix: d.LoggingExceptionPrefix, IdentityFormat: d.LoggingUserIdentityFormat,
		Rotation: d.LogRotationType, RotateEvery: d.LogRotateInterval, RotateUnit: d.LogRotateIntervalType,
		MaxFiles: d.MaxLogfileCount, MaxSizeMB: d.MaxLogfileSizeMB,
		LimitBurst: d.RateLimitBurst, LimitSeconds: d.RateLimitInterval, LimitExcept: d.RateLimitExceptLevel,
	}
}

// logName is what the program is called in syslog, the journal and the names
// of files in log_dir: keystone, or what it was called as.
func (p *program) logName() string {
	if name := p.name(); name != "keystone-go" {
		return name
	}
	return "keystone"
}

// logPath is where oslo.log would write: log_file, below log_dir when it is
// relative, or a file named for the program in log_dir.
func (p *program) logPath(cfg *conf.Config) string {
	file, dir := cfg.Default.LogFile, cfg.Default.LogDir
	switch {
	case file == "" && dir == "":
		return ""
	case file == "":
		return filepath.Join(dir, p.logName()+".log")
	case dir == "" || filepath.IsAbs(file):
		return file
	}
	return filepath.Join(dir, file)
}
