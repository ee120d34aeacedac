package auth

import (
	"strings"
	"sync"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// drawnMost bounds the catalogs that are kept, in bytes.
const drawnMost = 16 << 20

// drawn keeps catalogs as they were written into answers, for as long as
// logins and validations find the very rows in memory that they were made of: a catalog is
// the greater part of an answer, and of the time that it takes.
type drawn struct {
	mu    sync.Mutex
	lines catalog.Rows
	kept  map[drawnKey]pyjson.Raw
	size  int
}

type drawnKey struct {
	ties  catalog.Rows
	scope catalog.Scope
}

// of gives the catalog that the reads make in a scope. What is made of rows
// that were not met before is not kept: they may not come again.
func (d *drawn) of(reads catalog.Reads, scope catalog.Scope) pyjson.Raw {
	lines, ties := reads.Rows()
	key := drawnKey{ties, scope}
	d.mu.Lock()
	known := d.lines == lines
	if !known {
		d.lines, d.kept, d.size = lines, nil, 0
	}
	text, ok := d.kept[key]
	d.mu.Unlock()
	if ok {
		return text
	}
	text = drawCatalog(reads, scope)
	if known {
		d.keep(lines, key, text)
	}
	return text
}

func (d *drawn) keep(lines catalog.Rows, key drawnKey, text pyjson.Raw) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lines != lines || len(text) > drawnMost {
		return
	}
	if d.kept == nil || d.size+len(text) > drawnMost {
		d.kept, d.size = map[drawnKey]pyjson.Raw{}, 0
	}
	d.kept[key] = text
	d.size += len(text)
}

func drawCatalog(reads catalog.Reads, scope catalog.Scope) pyjson.Raw {
	return pyjson.Raw(pyjson.Append(nil, catalogBody(reads.Entries(scope))))
}

// catalogBody is a catalog as answers show it; what an endpoint keeps in its
// extra attributes is shown beside its own.
func catalogBody(entries []catalog.Entry) []pyjson.Object {
	out := make([]pyjson.Object, len(entries))
	for i, e := range entries {
		endpoints := make([]pyjson.Object, len(e.Endpoints))
		for j, p := range e.Endpoints {
			endpoints[j] = endpointBody(p)
		}
		out[i] = pyjson.Object{
			{Key: "endpoints", Value: endpoints},
			{Key: "id", Value: e.ID},
			{Key: "type", Value: e.Type},
			{Key: "name", Value: e.Name},
		}
	}
	return out
}

func endpointBody(p catalog.EntryEndpoint) pyjson.Object {
	var region any
	if p.RegionID != nil {
		region = *p.RegionID
	}
	body := pyjson.Object{
		{Key: "id", Value: p.ID},
		{Key: "interface", Value: p.Interface},
		{Key: "region_id", Value: region},
		{Key: "url", Value: p.URL},
		{Key: "region", Value: region},
	}
	if strings.Trim(p.Extra, "{} ") == "" {
		return body
	}
	extra, err := pyjson.DecodeObject([]byte(p.Extra))
	if err != nil {
		return body
	}
	for _, m := range extra.Without("service_id", "legacy_endpoint_id", "enabled") {
		if _, taken := body.Get(m.Key); !taken {
			body = append(body, m)
		}
	}
	return body
}
