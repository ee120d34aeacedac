package test

import (
	"testing"

	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// BenchmarkValidate is one validation of a project token by a service, through
// the handler chain.
func BenchmarkValidate(b *testing.B) {
	for _, engine := range dbtest.Engines() {
		b.Run(engine, func(b *testing.B) {
			s := harness.New(b, harness.Options{Engine: engine})
			caller, subject := s.Admin(), s.Admin()
			b.ReportAllocs()
			for b.Loop() {
				if a := s.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens", Token: caller, Subject: subject}); a.Status != 200 {
					b.Fatal(a.Status)
				}
			}
		})
	}
}
