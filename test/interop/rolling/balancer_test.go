//go:build interop

package rolling_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// balancer is HAProxy in its master-worker mode, as systemd runs it.
type balancer struct {
	dir, socket string
	cmd         *exec.Cmd
}

func (b *balancer) conf() string { return filepath.Join(b.dir, "haproxy.cfg") }

func (b *balancer) start(t *testing.T, conf string) {
	t.Helper()
	if err := os.WriteFile(b.conf(), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program = "/usr/sbin/haproxy"
	}
	var log bytes.Buffer
	b.cmd = exec.Command(program, "-W", "-f", b.conf())
	b.cmd.Stdout, b.cmd.Stderr = &log, &log
	// Its workers end with it, and it with this process.
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = b.cmd.Process.Signal(syscall.SIGTERM)
		_ = b.cmd.Wait()
		if t.Failed() {
			t.Logf("HAProxy:\n%s", log.String())
		}
	})
	for range 100 {
		if c, err := net.Dial("unix", b.socket); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("HAProxy does not start")
}

// reload has HAProxy read its file again, and gives it time to do so.
func (b *balancer) reload() error {
	err := b.cmd.Process.Signal(syscall.SIGUSR2)
	time.Sleep(2 * time.Second)
	return err
}
