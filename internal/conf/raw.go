package conf

import (
	"os"
	"slices"
)

// RawSection is a section of a file as it is written.
type RawSection struct {
	Name    string
	Options []RawOption
}

// RawOption is an option as it is written; of one that is repeated, the first.
type RawOption struct{ Name, Value string }

// ReadRaw reads a file in the dialect of keystone.conf without asking which
// options there are: names keep their letters, values their dollars, and the
// parts of a section that stands more than once are put together.
func ReadRaw(file string) ([]RawSection, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, Faults{{File: file, Message: "cannot read the file: " + reason(err)}}
	}
	r := lineReader{file: file, asWritten: true}
	r.read(string(text))
	if len(r.faults) > 0 {
		return nil, Faults(r.faults)
	}
	var list []RawSection
	at := map[string]int{}
	for _, h := range r.headers {
		if _, ok := at[h.section]; !ok {
			at[h.section] = len(list)
			list = append(list, RawSection{Name: h.section})
		}
	}
	for _, e := range r.entries {
		s := &list[at[e.section]]
		if !slices.ContainsFunc(s.Options, func(o RawOption) bool { return o.Name == e.key }) {
			s.Options = append(s.Options, RawOption{e.key, e.value})
		}
	}
	return list, nil
}
