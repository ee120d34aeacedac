package olog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Config is what keystone.conf says about logs, in the words of oslo.log. The
// zero value logs to Stderr from INFO on.
type Config struct {
	Program string // in syslog and the journal
	PID     int
	Stdout  io.Writer // os.Stdout and os.Stderr when nil
	Stderr  io.Writer

	Append string // log_config_append: a file for Python's logging; it decides everything below but Debug's formats
	Debug  bool
	Levels []string // default_log_levels, name=LEVEL

	File       string // log_file and log_dir put together; "" for none
	Watch      bool   // watch_log_file: see a rotation at the next line, not within a second
	UseStderr  bool
	UseJSON    bool
	Color      bool // log_color: on stderr
	UseJournal bool
	UseSyslog  bool
	Facility   string // syslog_log_facility

	DateFormat, ContextFormat, DefaultFormat, ExceptionPrefix, IdentityFormat string // oslo.log's own when ""
	DebugSuffix                                                               string

	Rotation      string // log_rotation_type: interval, size or none
	RotateEvery   int    // log_rotate_interval
	RotateUnit    string // log_rotate_interval_type
	MaxFiles      int    // max_logfile_count
	MaxSizeMB     int    // max_logfile_size_mb
	LimitBurst    int    // rate_limit_burst
	LimitSeconds  int    // rate_limit_interval
	LimitExcept   string // rate_limit_except_level
	journalSocket string // instead of journald's, in tests
	syslogSocket  string
}

// Open makes the log of a configuration. The error names all that is wrong.
func Open(c Config) (*Log, error) {
	l := &Log{}
	return l, l.Reload(c)
}

// Reload makes the log what another configuration says. On an error it stays
// what it was.
func (l *Log) Reload(c Config) error {
	c = c.filled()
	t, err := c.build()
	if err != nil {
		return err
	}
	l.pid, l.emergency = c.PID, c.Stderr
	return l.replace(t)
}

func (c Config) filled() Config {
	if c.Stdout == nil {
		c.Stdout = os.Stdout
	}
	if c.Stderr == nil {
		c.Stderr = os.Stderr
	}
	if c.PID == 0 {
		c.PID = os.Getpid()
	}
	if c.Program == "" {
		c.Program = rootName
	}
	if c.journalSocket == "" {
		c.journalSocket = journalPath
	}
	if c.syslogSocket == "" {
		c.syslogSocket = syslogPath
	}
	return c
}

// build makes a tree; the files of one that fails are closed again.
func (c Config) build() (*tree, error) {
	t := &tree{nodes: map[string]*node{}}
	fill := c.plain
	if c.Append != "" {
		fill = c.appended
	}
	if err := fill(t); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (c Config) formats() formats {
	return formats{
		date: c.DateFormat, inside: c.ContextFormat, outside: c.DefaultFormat,
		suffix: c.DebugSuffix, exception: c.ExceptionPrefix, identity: c.IdentityFormat,
	}
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// layout is the one form that all outputs of a plain configuration have.
func (c Config) layout() (layout, []string) {
	t, notes := newText(c.formats(), c.PID, hostname())
	if c.UseJSON {
		return &jsonText{*t}, nil
	}
	return t, notes
}

// plain is oslo.log without log_config_append.
func (c Config) plain(t *tree) error {
	form, notes := c.layout()
	t.notes = notes
	root := t.node("")
	root.level = levelInfo
	if c.Debug {
		root.level = levelDebug
	}
	addAs := func(s sink, form layout) {
		t.sinks = append(t.sinks, s)
		root.outputs = append(root.outputs, &output{layout: form, sink: s})
	}
	add := func(s sink) { addAs(s, form) }
	err := t.setLevels(c.Levels)
	number, wrong := facility(c.Facility)
	err = errors.Join(err, wrong)
	if c.File != "" {
		f, wrong := c.file()
		if wrong == nil {
			add(f)
		}
		err = errors.Join(err, wrong)
	}
	if c.UseStderr || c.File == "" && !c.UseJournal {
		addAs(&stream{w: c.Stderr}, c.onStderr(form))
	}
	if c.UseJournal {
		add(&journal{path: c.journalSocket, facility: number, tag: c.Program})
	}
	if c.UseSyslog {
		add(&syslog{address: c.syslogSocket, facility: number, tag: c.Program})
	}
	t.throttle, wrong = c.limit()
	return errors.Join(err, wrong)
}

// onStderr is a form as a terminal is to have it.
func (c Config) onStderr(form layout) layout {
	if t, ok := form.(*text); ok && c.Color {
		return t.inColor()
	}
	return form
}

func (c Config) file() (*file, error) {
	var r rotate
	switch strings.ToLower(c.Rotation) {
	case "", "none":
	case "size":
		r = bySize{max: int64(c.MaxSizeMB) << 20, keep: c.MaxFiles}
	case "interval":
		timed, err := newByTime(c.RotateUnit, c.RotateEvery, c.MaxFiles)
		if err != nil {
			return nil, fmt.Errorf("log_rotate_interval: %w", err)
		}
		r = timed
	default:
		return nil, fmt.Errorf("log_rotation_type: there is no %q", c.Rotation)
	}
	f, err := openFile(c.File, c.Watch, r)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

func (c Config) limit() (*throttle, error) {
	if c.LimitBurst < 1 || c.LimitSeconds < 1 {
		return nil, nil
	}
	except, err := parseLevel(c.LimitExcept)
	if err != nil {
		return nil, fmt.Errorf("rate_limit_except_level: %w", err)
	}
	return &throttle{burst: c.LimitBurst, interval: time.Duration(c.LimitSeconds) * time.Second, except: except}, nil
}
