package v3_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

//go:generate go test -count=1 -run ^TestOpenAPI$ . -update

// TestOpenAPI holds docs/openapi.yaml against the route table.
func TestOpenAPI(t *testing.T) {
	rows := v3.WithHeads(v3.Table(v3.Resources{}))
	missing, unknown := v3.Described(rows)
	for _, row := range missing {
		t.Errorf("%s has no description in openapi_rows.go", row)
	}
	for _, row := range unknown {
		t.Errorf("%s is described in openapi_rows.go, and not served", row)
	}
	const file = "../../docs/openapi.yaml"
	want := "# Written by go generate ./api/v3 from the route table; do not edit.\n" + yamlText(t, v3.OpenAPI(rows))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("%s is not current; go generate ./api/v3 writes it anew: %s", file, d)
	}
	if n := strings.Count(want, "operationId:"); n != len(rows) {
		t.Errorf("%d operations for %d rows", n, len(rows))
	}
}

func yamlText(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Dump(yamlNode(t, v), yaml.WithIndent(2))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// yamlNode keeps the order of an object's members, which a map would lose.
func yamlNode(t *testing.T, v any) *yaml.Node {
	t.Helper()
	switch v := v.(type) {
	case pyjson.Object:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, m := range v {
			n.Content = append(n.Content, yamlNode(t, m.Key), yamlNode(t, m.Value))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, x := range v {
			one := yamlNode(t, x)
			if one.Kind == yaml.MappingNode {
				n.Style = 0
			}
			n.Content = append(n.Content, one)
		}
		return n
	}
	n := &yaml.Node{}
	if err := n.Encode(v); err != nil {
		t.Fatal(err)
	}
	return n
}
