package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// pathFlag collects --config-file and --config-dir in the order in which they
// stand, since a later one wins.
type pathFlag struct {
	list *[]conf.Path
	dir  bool
}

func (f pathFlag) String() string { return "" }
func (f pathFlag) Type() string   { return "path" }

func (f pathFlag) Set(path string) error {
	*f.list = append(*f.list, conf.Path{Path: path, Dir: f.dir})
	return nil
}

// logFlag is an option of [DEFAULT] that may stand on the command line.
type logFlag struct {
	option string
	isBool bool
	value  string
	set    bool
}

func (f *logFlag) String() string { return f.value }
func (f *logFlag) Set(s string) error {
	f.value, f.set = s, true
	return nil
}

// Type names the kind of value in the help text.
func (f *logFlag) Type() string {
	if f.isBool {
		return "bool"
	}
	return "string"
}

// IsBoolFlag lets the flag stand without a value.
func (f *logFlag) IsBoolFlag() bool { return f.isBool }

// The global flags of keystone-manage that are options of [DEFAULT], as
// oslo.log registers them.
var logFlags = []struct {
	name, short string
	isBool      bool
}{
	{"debug", "d", true},
	{"log-file", "", false},
	{"log-dir", "", false},
	{"log-config-append", "", false},
	{"log-date-format", "", false},
	{"use-json", "", true},
	{"use-syslog", "", true},
	{"use-journal", "", true},
	{"syslog-log-facility", "", false},
	{"watch-log-file", "", true},
}

// logHelp is what the options of the flags are for.
func logHelp() map[string]string {
	help := map[string]string{}
	for _, o := range conf.Options() {
		if o.Section == "DEFAULT" {
			help[o.Option] = o.Help
		}
	}
	return help
}

func (p *program) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.Var(pathFlag{&p.paths, false}, "config-file", "configuration `file` to read instead of the standard ones; may be repeated")
	f.Var(pathFlag{&p.paths, true}, "config-dir", "`folder` whose *.conf files are read; may be repeated")
	p.flags = map[string]*logFlag{}
	help := logHelp()
	for _, l := range logFlags {
		option := strings.ReplaceAll(l.name, "-", "_")
		value := &logFlag{option: option, isBool: l.isBool}
		p.flags[l.name] = value
		flag := f.VarPF(value, l.name, l.short, help[option])
		if l.isBool {
			flag.NoOptDefVal = "true"
		}
	}
	f.SortFlags = false
}

// given are the options that the command line sets.
func (p *program) given() []conf.Given {
	var list []conf.Given
	for _, l := range logFlags {
		if f := p.flags[l.name]; f.set {
			list = append(list, conf.Given{Name: conf.Name{Section: "DEFAULT", Option: f.option}, Value: f.value})
		}
	}
	return list
}
