package conf

import "strconv"

// Setting is the value of an option and where it came from.
type Setting struct {
	Name
	Value   any    // typed; nil: unset
	File    string // or an environment variable; "": the default
	Line    int
	Was     *Name  // the older name it was read under
	Removal string // since when Python Keystone means to drop it
	Secret  bool
}

// Settings lists every option with its value and origin, in the order of the
// sections.
func (c *Config) Settings() []Setting { return c.settings }

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
