package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/keystone-go/keystone-go/internal/rules"
)

// stamp tells one state of a file from another.
type stamp struct {
	path  string
	main  bool // policy_file, not one of a directory
	mtime int64
	size  int64
}

// look finds the files there are, in the order in which they apply.
func (e *Engine) look() ([]stamp, error) {
	var stamps []stamp
	if e.cfg.PolicyFile != "" {
		path, info, err := e.find(e.cfg.PolicyFile)
		if err != nil {
			return nil, err
		}
		if info != nil {
			stamps = append(stamps, stamp{path, true, info.ModTime().UnixNano(), info.Size()})
		}
	}
	for _, dir := range e.cfg.PolicyDirs {
		path, info, err := e.find(dir)
		if err != nil {
			return nil, err
		}
		if info == nil {
			continue
		}
		if stamps, err = lookInto(path, stamps); err != nil {
			return nil, err
		}
	}
	return stamps, nil
}

// find takes an absolute name as it is, and searches for a relative one. The
// info is nil when there is none.
func (e *Engine) find(name string) (string, fs.FileInfo, error) {
	if filepath.IsAbs(name) {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil, nil
		}
		return name, info, err
	}
	for _, dir := range e.dirs {
		// A place that may not be looked at, such as another user's home, holds
		// nothing for us.
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil {
			return path, info, nil
		}
	}
	return "", nil, nil
}

// lookInto adds the files of a directory by name; hidden ones and directories
// do not count.
func lookInto(dir string, stamps []stamp) ([]stamp, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read policy directory: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile, or a dangling link
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			stamps = append(stamps, stamp{path, false, info.ModTime().UnixNano(), info.Size()})
		}
	}
	return stamps, nil
}

// readOverrides adds the rules of a file, replacing those that are there.
func readOverrides(path string, into map[string]override) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read policy file: %w", err)
	}
	if err := parseOverrides(data, into); err != nil {
		return fmt.Errorf("policy file %s: %w", path, err)
	}
	return nil
}

// parseOverrides reads YAML, of which JSON is a part: one mapping of names to
// rules. Of a name that stands twice the last counts.
func parseOverrides(data []byte, into map[string]override) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("more than one document")
	}
	if len(doc.Content) != 1 {
		return nil
	}
	top := follow(doc.Content[0])
	if top.Kind == yaml.ScalarNode && top.ShortTag() == "!!null" {
		return nil
	}
	if top.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a mapping of rule names to rules is wanted", top.Line)
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		name, value := follow(top.Content[i]), follow(top.Content[i+1])
		if name.Kind != yaml.ScalarNode || name.ShortTag() == "!!merge" {
			return fmt.Errorf("line %d: this is not the name of a rule", name.Line)
		}
		o, err := readRule(value)
		if err != nil {
			return fmt.Errorf("line %d: rule %q: %w", value.Line, name.Value, err)
		}
		into[name.Value] = o
	}
	return nil
}

func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// readRule reads a rule's text or list. An absent value allows everybody, as
// in oslo.policy; a number, boolean or mapping has no meaning as a rule. A bare
// exclamation mark, which YAML takes for a tag, is read as the refusal it was
// meant to be.
func readRule(n *yaml.Node) (override, error) {
	switch {
	case n.Kind == yaml.SequenceNode:
		list, err := readList(n, 2)
		if err != nil {
			return override{}, err
		}
		check, err := rules.ParseList(list)
		return override{check: check}, err
	case n.Kind != yaml.ScalarNode:
		return override{}, errors.New("a text or a list is wanted")
	case n.Tag == "!" && n.Value == "" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0:
		check, _ := rules.Parse("!")
		return override{check, errors.New(`"!" is not quoted`)}, nil
	case n.ShortTag() == "!!null":
		check, err := rules.Parse("")
		return override{check, err}, nil
	case n.ShortTag() != "!!str":
		return override{}, fmt.Errorf("%s is not a rule; a text or a list is wanted", n.Value)
	}
	check, err := rules.Parse(n.Value)
	return override{check, err}, nil
}

// readList reads the list form, so many levels deep.
func readList(n *yaml.Node, levels int) ([]any, error) {
	var list []any
	for _, item := range n.Content {
		item = follow(item)
		switch {
		case item.Kind == yaml.SequenceNode && levels > 1:
			inner, err := readList(item, levels-1)
			if err != nil {
				return nil, err
			}
			list = append(list, inner)
		case item.Kind == yaml.ScalarNode && item.ShortTag() == "!!str":
			list = append(list, item.Value)
		case item.Kind == yaml.ScalarNode && item.ShortTag() == "!!null":
			list = append(list, nil)
		default:
			return nil, fmt.Errorf("line %d: a check is wanted", item.Line)
		}
	}
	return list, nil
}
