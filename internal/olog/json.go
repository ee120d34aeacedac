package olog

import (
	"log/slog"
	"time"

	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// jsonText is the layout of oslo.log's JSONFormatter: its keys in its order.
type jsonText struct{ text }

func (t *jsonText) append(b []byte, r *record) []byte {
	extra := pyjson.Object{}
	for _, a := range r.extra {
		extra = append(extra, pyjson.Member{Key: a.Key, Value: jsonValue(a.Value)})
	}
	return pyjson.Append(b, pyjson.Object{
		{Key: "message", Value: r.message},
		{Key: "asctime", Value: string(t.appendTime(nil, r.time))},
		{Key: "name", Value: r.logger},
		{Key: "msg", Value: r.message},
		{Key: "args", Value: []any{}},
		{Key: "levelname", Value: level(r.level)},
		{Key: "levelno", Value: levelNumber(r.level)},
		{Key: "pathname", Value: r.source.path},
		{Key: "filename", Value: r.source.file},
		{Key: "module", Value: r.source.module},
		{Key: "lineno", Value: r.source.line},
		{Key: "funcname", Value: r.source.function},
		{Key: "created", Value: float64(r.time.UnixMicro()) / 1e6},
		{Key: "msecs", Value: float64(r.time.Nanosecond()/int(time.Microsecond)) / 1e3},
		{Key: "relative_created", Value: float64(r.time.Sub(started).Microseconds()) / 1e3},
		{Key: "thread", Value: nil},
		{Key: "thread_name", Value: nil},
		{Key: "process_name", Value: nil},
		{Key: "process", Value: t.pid},
		{Key: "traceback", Value: orNil(r.stack)},
		{Key: "hostname", Value: orNil(t.host)},
		{Key: "error_summary", Value: ""},
		{Key: "context", Value: r.context()},
		{Key: "extra", Value: extra},
	})
}

// contextKeys are the members of context, in oslo.context's order as far as a
// server knows them.
var contextKeys = []string{
	"user_name", "project_name", "domain_name", "user_domain_name", "project_domain_name", "user", "project_id",
	"system_scope", "project", "domain", "user_domain", "project_domain", "request_id", "global_request_id",
}

func (r *record) context() pyjson.Object {
	o := pyjson.Object{}
	if r.req.ID == "" {
		return o
	}
	for _, key := range contextKeys {
		o = append(o, pyjson.Member{Key: key, Value: orNil(requestKeys[key](r.req))})
	}
	return o
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func jsonValue(v slog.Value) any {
	switch v.Kind() {
	case slog.KindBool:
		return v.Bool()
	case slog.KindInt64:
		return v.Int64()
	case slog.KindUint64:
		return v.Uint64()
	case slog.KindFloat64:
		return v.Float64()
	}
	return v.String()
}
