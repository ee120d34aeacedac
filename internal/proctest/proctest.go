// Package proctest ends what tests have started, however the tests end.
package proctest

import (
	"os/exec"
	"syscall"
)

// Guard starts a shell that waits for the end of our side of a pipe, which
// comes with our own end too. It then runs a script, with arguments from $1 on,
// the first of which is a folder that is removed last.
func Guard(script string, dir string, args ...string) (end func(), err error) {
	script = "trap '' INT TERM HUP\nread -r _\n" + script + "\nrm -rf \"$1\""
	w := exec.Command("sh", append([]string{"-c", script, "sh", dir}, args...)...)
	w.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := w.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = pipe.Close()
		_ = w.Wait()
	}, nil
}
