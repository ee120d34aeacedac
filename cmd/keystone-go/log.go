package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/olog"
)

// openLog makes the log of a configuration the default one: a file, or
// stderr. The returned function closes the file.
func (p *program) openLog(cfg *conf.Config) (func(), error) {
	var w io.Writer = p.err
	end := func() {}
	if path := p.logPath(cfg); path != "" {
		// Appending survives a rotation that copies and truncates.
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
		if err != nil {
			return nil, fmt.Errorf("open the log: %w", err)
		}
		w, end = f, func() { f.Close() }
		if cfg.Default.UseStderr {
			w = io.MultiWriter(f, p.err)
		}
	}
	before := slog.Default()
	slog.SetDefault(slog.New(olog.New(w, olog.Options{JSON: cfg.Default.UseJSON, Debug: cfg.Default.Debug, PID: os.Getpid()})))
	return func() {
		slog.SetDefault(before)
		end()
	}, nil
}

// logPath is where oslo.log would write: log_file, below log_dir when it is
// relative, or a file named for the program in log_dir.
func (p *program) logPath(cfg *conf.Config) string {
	file, dir := cfg.Default.LogFile, cfg.Default.LogDir
	switch {
	case file == "" && dir == "":
		return ""
	case file == "":
		name := p.name()
		if name == "keystone-go" {
			name = "keystone"
		}
		return filepath.Join(dir, name+".log")
	case dir == "" || filepath.IsAbs(file):
		return file
	}
	return filepath.Join(dir, file)
}
