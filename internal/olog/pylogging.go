package olog

import (
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
)

// appended is log_config_append: the loggers, handlers and formatters of a
// file of Python's logging.config.fileConfig, as far as there is something
// like them here. What there is not is noted and left out.
func (c Config) appended(t *tree) error {
	ini, err := readPyini(c.Append)
	if err != nil {
		return fmt.Errorf("log_config_append: %w", err)
	}
	p := &pylogging{Config: c, ini: ini, tree: t, outputs: map[string]*output{}, layouts: map[string]layout{}}
	for _, section := range []string{"formatters", "handlers", "loggers"} {
		if _, ok := ini[section]["keys"]; !ok {
			return fmt.Errorf("log_config_append: %s: no keys in [%s]", c.Append, section)
		}
	}
	for _, key := range ini.list("handlers", "keys") {
		o, err := p.handler(key)
		if err != nil {
			return fmt.Errorf("log_config_append: %s: [handler_%s]: %w", c.Append, key, err)
		}
		p.outputs[key] = o
	}
	for _, key := range ini.list("loggers", "keys") {
		if err := p.logger(key); err != nil {
			return fmt.Errorf("log_config_append: %s: [logger_%s]: %w", c.Append, key, err)
		}
	}
	if t.nodes[""] == nil {
		return fmt.Errorf("log_config_append: %s: no logger root", c.Append)
	}
	p.fallBack()
	return nil
}

type pylogging struct {
	Config
	ini     pyini
	tree    *tree
	outputs map[string]*output // nil: knowingly none
	layouts map[string]layout
	lost    bool // a handler was left out
}

func (p *pylogging) note(format string, args ...any) {
	p.tree.notes = append(p.tree.notes, p.Append+": "+fmt.Sprintf(format, args...))
}

func (p *pylogging) logger(key string) error {
	section := "logger_" + key
	if p.ini[section] == nil {
		return fmt.Errorf("the section is missing")
	}
	qualified := ""
	if key != "root" {
		if qualified = p.ini.get(section, "qualname"); qualified == "" {
			return fmt.Errorf("no qualname")
		}
	}
	n := p.tree.node(qualified)
	word := p.ini.get(section, "level")
	if word == "" && key == "root" {
		word = "WARNING"
	}
	if word != "" {
		number, err := parseLevel(word)
		if err != nil {
			return err
		}
		if n.level = number; key == "root" {
			n.level = max(number, 1) // NOTSET at the root is everything
		}
	}
	n.alone = p.ini.get(section, "propagate") == "0"
	for _, h := range p.ini.list(section, "handlers") {
		o, known := p.outputs[h]
		if !known {
			return fmt.Errorf("there is no handler %q", h)
		}
		if o != nil {
			n.outputs = append(n.outputs, o)
		}
	}
	return nil
}

// handler makes an output, or nil for one that writes nothing here.
func (p *pylogging) handler(key string) (*output, error) {
	section := "handler_" + key
	if p.ini[section] == nil {
		return nil, fmt.Errorf("the section is missing")
	}
	o := &output{}
	var err error
	if word := p.ini.get(section, "level"); word != "" {
		if o.level, err = parseLevel(word); err != nil {
			return nil, err
		}
	}
	if o.layout, err = p.formatter(p.ini.get(section, "formatter")); err != nil {
		return nil, err
	}
	args := []any{}
	if text := p.ini.get(section, "args"); text != "" {
		if args, err = pyTuple(strings.ReplaceAll(text, "%%", "%")); err != nil {
			return nil, fmt.Errorf("args: %w", err)
		}
	}
	class := p.ini.get(section, "class")
	if t, ok := o.layout.(*text); ok && strings.HasSuffix(class, "ColorHandler") {
		o.layout = t.inColor()
	}
	if o.sink, err = p.sink(class, arguments(args)); err != nil {
		return nil, err
	}
	if o.sink == nil {
		if !strings.HasSuffix(class, "NullHandler") {
			p.lost = true
			p.note("handler %s: there is nothing like the class %s here; it is left out", key, class)
		}
		return nil, nil
	}
	p.tree.sinks = append(p.tree.sinks, o.sink)
	return o, nil
}

// arguments are the positional ones of a handler.
type arguments []any

func (a arguments) text(i int) string {
	if i >= len(a) {
		return ""
	}
	switch v := a[i].(type) {
	case string:
		return v
	case name:
		return string(v)
	}
	return ""
}

func (a arguments) number(i, otherwise int) int {
	if i < len(a) {
		if n, ok := a[i].(int); ok {
			return n
		}
	}
	return otherwise
}

// sink maps a class of Python's logging or oslo.log.
func (p *pylogging) sink(class string, args arguments) (sink, error) {
	c := p.Config
	c.Rotation = "none"
	switch strings.TrimPrefix(strings.TrimPrefix(class, "logging."), "handlers.") {
	case "StreamHandler", "oslo_log.handlers.ColorHandler":
		if args.text(0) == "sys.stdout" {
			return &stream{w: c.Stdout}, nil
		}
		return &stream{w: c.Stderr}, nil
	case "FileHandler", "WatchedFileHandler":
		c.File = args.text(0)
	case "RotatingFileHandler":
		c.File, c.Rotation = args.text(0), "none"
		f, err := openFile(c.File, c.Watch, bySize{max: int64(args.number(2, 0)), keep: args.number(3, 0)})
		return f, err
	case "TimedRotatingFileHandler":
		unit, n := timedUnit(args.text(1), args.number(2, 1))
		c.File, c.Rotation, c.RotateUnit, c.RotateEvery, c.MaxFiles = args.text(0), "interval", unit, n, args.number(3, 0)
	case "SysLogHandler":
		return p.syslogTo(args)
	case "oslo_log.handlers.OSSysLogHandler":
		number, err := facilityOf(args, 0)
		return &syslog{address: c.syslogSocket, facility: number, tag: c.Program}, err
	case "oslo_log.handlers.OSJournalHandler":
		number, err := facilityOf(args, 0)
		return &journal{path: c.journalSocket, facility: number, tag: c.Program}, err
	default:
		return nil, nil
	}
	if c.File == "" {
		return nil, fmt.Errorf("args: no file is named")
	}
	return c.file()
}

// timedUnit reads the when of a TimedRotatingFileHandler.
func timedUnit(when string, n int) (string, int) {
	switch when = strings.ToUpper(when); {
	case when == "S":
		return "seconds", n
	case when == "M":
		return "minutes", n
	case when == "D":
		return "days", n
	case when == "MIDNIGHT":
		return "midnight", n
	case len(when) == 2 && when[0] == 'W':
		return "weekday", int(when[1] - '0')
	}
	return "hours", n
}

// syslogTo reads (address, facility): a path or (host, port).
func (p *pylogging) syslogTo(args arguments) (sink, error) {
	number, err := facilityOf(args, 1)
	s := &syslog{facility: number, tag: p.Program, network: "udp", address: "localhost:514"}
	if len(args) == 0 || err != nil {
		return s, err
	}
	if pair, ok := args[0].([]any); ok {
		host := arguments(pair)
		s.address = net.JoinHostPort(host.text(0), strconv.Itoa(host.number(1, 514)))
	} else {
		s.network, s.address = "", args.text(0)
	}
	return s, nil
}

// facilityOf reads handlers.SysLogHandler.LOG_LOCAL0, "local0" or a number.
func facilityOf(args arguments, i int) (int, error) {
	if n := args.number(i, -1); n >= 0 {
		return n, nil
	}
	word := args.text(i)
	return facility(word[strings.LastIndexByte(word, '.')+1:])
}

func (p *pylogging) formatter(key string) (layout, error) {
	if l, ok := p.layouts[key]; ok {
		return l, nil
	}
	section := "formatter_" + key
	if key != "" && p.ini[section] == nil {
		return nil, fmt.Errorf("there is no formatter %q", key)
	}
	f, plain := p.formats(), false
	f.date = p.ini.get(section, "datefmt")
	class := p.ini.get(section, "class")
	switch {
	case strings.HasSuffix(class, "ContextFormatter"):
	case strings.HasSuffix(class, "JSONFormatter"):
		t, _ := newText(f, p.PID, hostname())
		p.layouts[key] = &jsonText{*t}
		return p.layouts[key], nil
	default:
		if class != "" && path.Base(class) != "logging.Formatter" {
			p.note("formatter %s: there is nothing like the class %s here; its format is used plainly", key, class)
		}
		f.inside = p.ini.get(section, "format")
		if f.inside == "" {
			f.inside = "%(message)s"
		}
		if f.date == "" {
			f.date = defaultDate + ",%L" // Python's default_msec_format
		}
		f.outside, f.suffix, plain = f.inside, "", true
	}
	t, notes := newText(f, p.PID, hostname())
	if plain {
		t.exception = nil // a stack is shown as it is
	}
	for _, n := range notes {
		p.note("formatter %s: %s", key, n)
	}
	p.layouts[key] = t
	return t, nil
}

// fallBack keeps the log from vanishing because what should have written it
// was left out.
func (p *pylogging) fallBack() {
	for _, n := range p.tree.nodes {
		if len(n.outputs) > 0 {
			return
		}
	}
	if p.lost {
		form, _ := newText(p.formats(), p.PID, hostname())
		s := &stream{w: p.Stderr}
		p.tree.sinks = append(p.tree.sinks, s)
		p.tree.nodes[""].outputs = []*output{{layout: form, sink: s}}
		p.note("no handler is left; the log goes to stderr")
	}
}
