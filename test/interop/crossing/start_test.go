//go:build interop

package crossing_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// TestOrders stands the pair up both ways round: who comes second finds
// nothing to do in the database.
func TestOrders(t *testing.T) {
	for name, goFirst := range map[string]bool{"python first": false, "go first": true} {
		t.Run(name, func(t *testing.T) {
			e := peer.Start(t, peer.Options{GoFirst: goFirst})
			for _, s := range e.Servers() {
				s.MustManage(t, "db_sync", "--check")
				s.Admin(t)
			}
		})
	}
}
