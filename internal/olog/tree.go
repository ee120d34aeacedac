package olog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// output is a handler of Python's logging: where records go, from which level
// on and in which form.
type output struct {
	level  int
	layout layout
	sink   sink
}

// sink takes formatted records.
type sink interface {
	// write takes a record and its text, which it must not keep.
	write(r *record, text []byte) error
	// reopen opens anew what may have been moved away.
	reopen() error
	close() error
}

// node is a logger of Python's logging, by name; "" is the root.
type node struct {
	level   int // 0: its parent's
	outputs []*output
	alone   bool // does not hand records on to its parent
}

// tree is everything that is configured: loggers and their outputs.
type tree struct {
	nodes    map[string]*node
	sinks    []sink
	throttle *throttle
	notes    []string

	found sync.Map // name → *route; as many as there are packages
	least int      // the lowest level of any logger of ours
}

// route is what holds for the records of one logger.
type route struct {
	level   int
	outputs []*output
}

// settle prepares a finished tree for use.
func (t *tree) settle() {
	t.least = t.find(rootName).level
	for name, n := range t.nodes {
		if n.level != 0 && (name == rootName || strings.HasPrefix(name, rootName+".")) {
			t.least = min(t.least, n.level)
		}
	}
}

// find walks from a logger to the root, as Python does.
func (t *tree) find(name string) *route {
	if r, ok := t.found.Load(name); ok {
		return r.(*route)
	}
	r := &route{}
	at, alone := name, false
	for {
		if n := t.nodes[at]; n != nil {
			if r.level == 0 {
				r.level = n.level
			}
			if !alone {
				r.outputs = append(r.outputs, n.outputs...)
				alone = n.alone
			}
		}
		if at == "" {
			break
		}
		at = at[:max(strings.LastIndexByte(at, '.'), 0)]
	}
	t.found.Store(name, r)
	return r
}

func (t *tree) node(name string) *node {
	n := t.nodes[name]
	if n == nil {
		n = &node{}
		t.nodes[name] = n
	}
	return n
}

// setLevels takes default_log_levels.
func (t *tree) setLevels(pairs []string) error {
	var faults []error
	for _, pair := range pairs {
		name, word, _ := strings.Cut(pair, "=")
		n, err := parseLevel(word)
		if err != nil {
			faults = append(faults, fmt.Errorf("default_log_levels: %s: %w", name, err))
			continue
		}
		t.node(strings.TrimSpace(name)).level = n
	}
	return errors.Join(faults...)
}

var levelNames = map[string]int{
	"NOTSET": 0, "TRACE": levelTrace, "DEBUG": levelDebug, "INFO": levelInfo, "AUDIT": levelAudit, "WARN": levelWarning,
	"WARNING": levelWarning, "ERROR": levelError, "CRITICAL": levelCritical, "FATAL": levelCritical,
}

// parseLevel reads a name of a level, or its number.
func parseLevel(word string) (int, error) {
	word = strings.TrimSpace(word)
	if n, err := strconv.Atoi(word); err == nil {
		return n, nil
	}
	n, ok := levelNames[word]
	if !ok {
		return 0, fmt.Errorf("there is no level %q", word)
	}
	return n, nil
}

func (t *tree) reopen() error {
	var err error
	for _, s := range t.sinks {
		err = errors.Join(err, s.reopen())
	}
	return err
}

func (t *tree) close() error {
	var err error
	for _, s := range t.sinks {
		err = errors.Join(err, s.close())
	}
	return err
}
