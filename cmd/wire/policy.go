package wire

import (
	"log/slog"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/rules"
	"github.com/keystone-go/keystone-go/policy"
)

// NewPolicy reads the policy files of a configuration.
func NewPolicy(cfg *conf.Config, now func() time.Time, log *slog.Logger) (*policy.Engine, error) {
	o := cfg.OsloPolicy
	return policy.New(policy.Config{
		PolicyFile: o.PolicyFile, PolicyDirs: o.PolicyDirs, DefaultRule: o.PolicyDefaultRule,
		EnforceNewDefaults: o.EnforceNewDefaults, Now: now, Log: log,
		Remote: rules.RemoteConfig{
			JSON: o.RemoteContentType == "application/json", Timeout: time.Duration(o.RemoteTimeout * float64(time.Second)),
			Verify: o.RemoteSSLVerifyServerCrt, CAFile: o.RemoteSSLCACrtFile,
			CertFile: o.RemoteSSLClientCrtFile, KeyFile: o.RemoteSSLClientKeyFile,
		},
	}, cfg.Dirs)
}
