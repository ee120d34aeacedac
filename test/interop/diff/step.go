// Package diff sends the same requests to two servers and lists what differs
// in their answers. Requests, masks and listed differences are data.
package diff

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Step is one request. ${name} in the path, a header or the body stands for
// what an earlier step kept or for a variable of the run.
type Step struct {
	Name    string            `yaml:"name"`
	Method  string            `yaml:"method"`
	Path    string            `yaml:"path"`
	As      string            `yaml:"as"`      // variable with the token for X-Auth-Token
	Subject string            `yaml:"subject"` // the same for X-Subject-Token
	Headers map[string]string `yaml:"headers"`
	Body    any               `yaml:"body"` // sent as JSON
	Raw     *string           `yaml:"raw"`  // sent as it stands, instead of Body
	// Keep remembers parts of the answer: name: "header X-Subject-Token" or
	// "body region.id". Kept values are masked in all later answers.
	Keep map[string]string `yaml:"keep"`
	// Wait is slept first, in milliseconds: for locks that end by time.
	Wait int `yaml:"wait"`
	// Times sends the request so often; the last answers are compared. 0 is 1.
	Times int `yaml:"times"`
	// Status is what both are known to answer; 0 says nothing.
	Status int `yaml:"status"`
}

// Scenario is a list of steps that build upon one another.
type Scenario struct {
	Name  string `yaml:"scenario"`
	About string `yaml:"about"`
	Steps []Step `yaml:"steps"`
}

// Load reads the scenarios of a folder's YAML files, a file each.
func Load(dir string) ([]Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []Scenario
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var s Scenario
		if err := yaml.Load(text, &s, yaml.WithKnownFields()); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func (s Scenario) check() error {
	if s.Name == "" || len(s.Steps) == 0 {
		return fmt.Errorf("scenario %q has no name or no steps", s.Name)
	}
	seen := map[string]bool{}
	for _, st := range s.Steps {
		if st.Name == "" || st.Method == "" || st.Path == "" || seen[st.Name] {
			return fmt.Errorf("step %q lacks name, method or path, or has another's name", st.Name)
		}
		seen[st.Name] = true
	}
	return nil
}

// Recorded reads recorded exchanges whose file names match as one scenario. Of
// each, the request alone is taken.
func Recorded(dir string, match *regexp.Regexp) (Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "[0-9]*.json"))
	if err != nil {
		return Scenario{}, err
	}
	s := Scenario{Name: "recorded"}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		if !match.MatchString(name) {
			continue
		}
		step, err := recorded(f)
		if err != nil {
			return Scenario{}, fmt.Errorf("%s: %w", f, err)
		}
		step.Name = name
		s.Steps = append(s.Steps, step)
	}
	return s, nil
}

func recorded(file string) (Step, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Step{}, err
	}
	var x struct {
		Request struct {
			Method, Path string
			Headers      map[string]string
			Body         *string
			Fill         []any // prefix, character, how often, suffix
		}
	}
	if err := json.Unmarshal(text, &x); err != nil {
		return Step{}, err
	}
	st := Step{Method: x.Request.Method, Path: x.Request.Path, Headers: x.Request.Headers, Raw: x.Request.Body}
	if f := x.Request.Fill; len(f) == 4 {
		body := f[0].(string) + strings.Repeat(f[1].(string), int(f[2].(float64))) + f[3].(string)
		st.Raw = &body
	}
	return st, nil
}
