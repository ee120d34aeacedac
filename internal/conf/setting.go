package conf

import "strconv"

// Setting is the value of an option and where it came from.
type Setting struct {
	Name
	Value   any    // typed; nil: unset
	File    string // or an environment variable; "": the default
	Line    int
	Was     *Name   // the older name it was read under
	Removal string  // since when Python Keystone means to drop it
	Gone    bool    // the newest Python Keystone has dropped it
	Default *string // nil: unset
	Secret  bool
	Effect  string // as Option has it
}

// Settings lists every option with its value and origin, in the order of the
// sections.
func (c *Config) Settings() []Setting { return c.settings }

// Dynamic lists the settings whose names depend on the file: plugins of methods
// in [auth], and the sections of federation protocols.
func (c *Config) Dynamic() []Setting { return c.dynamic }

// Setting is the setting of an option that there is.
func (c *Config) Setting(section, option string) Setting {
	if s, found := c.Find(section, option); found {
		return s
	}
	panic("conf: there is no option " + Name{section, option}.String())
}

// Find is the setting of an option that there may not be.
func (c *Config) Find(section, option string) (Setting, bool) {
	for _, s := range c.settings {
		if s.Section == section && s.Option == option {
			return s, true
		}
	}
	return Setting{}, false
}

// Fault blames a setting.
func (s Setting) Fault(message string) Fault {
	return Fault{File: s.File, Line: s.Line, Section: s.Section, Option: s.Option, Message: message}
}

// Origin tells where the value came from: file:line, an environment variable,
// or "default".
func (s Setting) Origin() string {
	switch {
	case s.File == "":
		return "default"
	case s.Line == 0:
		return s.File
	}
	return s.File + ":" + strconv.Itoa(s.Line)
}

// Text renders the value as a file would have it; a secret that was set is
// hidden.
func (s Setting) Text() string {
	if s.Value == nil {
		return "<unset>"
	}
	text := fileText(s.Value)
	if s.Secret && s.File != "" && text != "" {
		return "****"
	}
	return text
}
