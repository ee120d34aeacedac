// Package health decides what /healthcheck says: the backends of
// oslo.middleware's health check, which look at files alone.
package health

import (
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Config is the section [healthcheck].
type Config struct {
	Detailed      bool
	Backends      []string // in the order of their results
	DisableByFile string   // of the backend disable_by_file
	DisableByPort []string // port:file, of disable_by_files_ports
	EnableByFiles []string // of enable_by_files
	SourceRanges  []string // networks that may ask; empty: all
	IgnoreProxied bool
	// Degraded tells what is away without which the server still answers, ""
	// when nothing is; nil is never.
	Degraded func() string
	Log      *slog.Logger // slog.Default() when nil
}

// Result is what one backend says.
type Result struct {
	Available       bool
	Reason, Details string
}

// Checks are the backends that are on. The zero value and nil have none, let
// everybody ask and are well.
type Checks struct {
	Detailed      bool
	IgnoreProxied bool
	ranges        []netip.Prefix
	backends      []func(port int) Result
	degraded      func() string
}

// The names of the backends.
const (
	byFile  = "disable_by_file"
	byPorts = "disable_by_files_ports"
	enabled = "enable_by_files"
)

// New makes the checks. What Python Keystone passes over (a backend that there
// is none of, a port that is no number) is warned about; what stops it is an
// error.
func New(c Config) (*Checks, []string, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if slices.Contains(c.Backends, byFile) && slices.Contains(c.Backends, enabled) {
		return nil, nil, fmt.Errorf("backends: %s and %s exclude each other", enabled, byFile)
	}
	h := &Checks{Detailed: c.Detailed, IgnoreProxied: c.IgnoreProxied, degraded: c.Degraded}
	for _, text := range c.SourceRanges {
		p, err := prefix(text)
		if err != nil {
			return nil, nil, fmt.Errorf("allowed_source_ranges: %w", err)
		}
		h.ranges = append(h.ranges, p)
	}
	var warnings []string
	for _, name := range c.Backends {
		switch name {
		case byFile:
			h.backends = append(h.backends, disableByFile(c.DisableByFile))
		case byPorts:
			files, err := ports(c.DisableByPort)
			if err != nil {
				warnings = append(warnings, fmt.Sprintf("[healthcheck] disable_by_file_paths: %v: the backend %s is off", err, name))
				continue
			}
			h.backends = append(h.backends, disableByPort(files, c.Log))
		case enabled:
			h.backends = append(h.backends, enableByFiles(c.EnableByFiles))
		default:
			warnings = append(warnings, fmt.Sprintf("[healthcheck] backends: there is no %q, only %s, %s and %s", name, byFile, byPorts, enabled))
		}
	}
	return h, warnings, nil
}

// prefix reads a network, or an address alone; bits behind the prefix are a
// mistake, as in Python.
func prefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err == nil && p.Masked() != p {
		err = fmt.Errorf("%s has host bits set", text)
	}
	return p, err
}

// Allows reports whether an address may ask; one that is not known may not
// where there are ranges.
func (h *Checks) Allows(addr netip.Addr) bool {
	if h == nil || len(h.ranges) == 0 {
		return true
	}
	return addr.IsValid() && slices.ContainsFunc(h.ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// Run asks the backends about the port that a request came in on, 0 for a unix
// socket.
func (h *Checks) Run(port int) (results []Result, healthy bool) {
	healthy = true
	if h == nil {
		return nil, true
	}
	for _, b := range h.backends {
		r := b(port)
		results = append(results, r)
		healthy = healthy && r.Available
	}
	return results, healthy
}

// Details are the results with what only readers of details are told: that the
// server answers without something. It leaves the health as it is.
func (h *Checks) Details(results []Result) []Result {
	if h == nil || !h.Detailed || h.degraded == nil {
		return results
	}
	if text := h.degraded(); text != "" {
		return append(results, Result{true, reasonDegraded, text})
	}
	return results
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

const (
	reasonOK       = "OK"
	reasonDisabled = "DISABLED BY FILE"
	reasonMissing  = "FILE PATH MISSING"
	reasonDegraded = "DEGRADED"
)

func disableByFile(path string) func(int) Result {
	return func(int) Result {
		switch {
		case path == "":
			return Result{true, reasonOK, "No 'disable_by_file_path' configuration value specified"}
		case exists(path):
			return Result{false, reasonDisabled, fmt.Sprintf("Path '%s' was found", path)}
		}
		return Result{true, reasonOK, fmt.Sprintf("Path '%s' was not found", path)}
	}
}

// ports reads port:file pairs; of equal ports the last one counts.
func ports(pairs []string) (map[int]string, error) {
	files := map[int]string{}
	for _, pair := range pairs {
		pair = strings.TrimSpace(pair)
		if pair == "" {
			continue
		}
		number, path, ok := strings.Cut(pair, ":")
		if !ok {
			return nil, fmt.Errorf("%q is no port:file", pair)
		}
		port, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil {
			return nil, fmt.Errorf("%q is no port", number)
		}
		files[port] = path
	}
	return files, nil
}

func disableByPort(files map[int]string, log *slog.Logger) func(int) Result {
	var told sync.Map // ports that a warning was given about
	return func(port int) Result {
		path := files[port]
		switch {
		case path == "":
			if _, again := told.LoadOrStore(port, true); !again {
				log.Warn("[healthcheck] disable_by_file_paths has no file for a port that is asked", "port", port)
			}
		case exists(path):
			return Result{false, reasonDisabled, ""}
		}
		return Result{true, reasonOK, ""}
	}
}

func enableByFiles(paths []string) func(int) Result {
	return func(int) Result {
		for _, path := range paths {
			if !exists(path) {
				return Result{false, reasonMissing, fmt.Sprintf("File path %s is missing", path)}
			}
		}
		return Result{true, reasonOK, "Specified file paths are available"}
	}
}
