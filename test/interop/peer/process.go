package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// guard is a shell that outlives this process by moments: at its end, however
// it came, it ends the process groups that were named to it and removes the
// folder. Tests that are killed leave nothing behind.
type guard struct {
	in   io.WriteCloser
	done chan struct{}
}

const guardScript = `trap '' INT TERM HUP
all=
while read -r sign group; do
  case $sign in
  +) all="$all $group" ;;
  -) rest=; for g in $all; do [ "$g" = "$group" ] || rest="$rest $g"; done; all=$rest ;;
  esac
done
for g in $all; do kill -s TERM -- "-$g" 2>/dev/null; done
n=0
for g in $all; do
  while kill -s 0 -- "-$g" 2>/dev/null && [ $n -lt 50 ]; do n=$((n+1)); sleep 0.1; done
  kill -s KILL -- "-$g" 2>/dev/null
done
rm -rf "$1"`

func newGuard(dir string) (*guard, error) {
	cmd := exec.Command("sh", "-c", guardScript, "sh", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &guard{in: in, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(g.done)
	}()
	return g, nil
}

func (g *guard) close() {
	_ = g.in.Close()
	<-g.done
}

// process is a program in a group of its own, with its output in a file.
type process struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	err   error // how it ended
	guard *guard
	once  sync.Once
}

func (e *Env) launch(name string, env []string, program string, args ...string) (*process, error) {
	p := &process{log: e.path(name + ".log"), ended: make(chan struct{}), guard: e.guard}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	p.cmd = exec.Command(program, args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = append(os.Environ(), env...), out, out, e.Dir
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(p.guard.in, "+ %d\n", p.cmd.Process.Pid)
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// stop ends the program by SIGTERM, and by force after 30 s, and tells how it
// ended.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.wait()
}

// kill ends the program and what it started at once.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
	p.forget()
}

func (p *process) wait() error {
	select {
	case <-p.ended:
		p.forget()
		return p.err
	case <-time.After(30 * time.Second):
		p.kill()
		return errors.New("still running 30 s after SIGTERM")
	}
}

func (p *process) forget() {
	p.once.Do(func() { _, _ = fmt.Fprintf(p.guard.in, "- %d\n", p.cmd.Process.Pid) })
}

// tail is the end of the log.
func (p *process) tail() string {
	text, _ := os.ReadFile(p.log)
	lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}

// ready waits until answers is true or the program has ended.
func (p *process) ready(within time.Duration, answers func() bool) error {
	deadline := time.After(within)
	for {
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended at its start: %w\n%s", filepath.Base(p.cmd.Path), p.err, p.tail())
		case <-deadline:
			return fmt.Errorf("%s did not answer in %s\n%s", filepath.Base(p.cmd.Path), within, p.tail())
		case <-time.After(50 * time.Millisecond):
		}
		if answers() {
			return nil
		}
	}
}

// processor sums the user and system time of every process of the group, and
// of children that have ended (proc(5), fields 14 to 17 of stat).
func (p *process) processor() (time.Duration, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	group, ticks, found := strconv.Itoa(p.cmd.Process.Pid), 0, false
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		// The name in parentheses may hold anything.
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(f) < 15 || f[2] != group {
			continue
		}
		found = true
		for _, i := range []int{11, 12, 13, 14} {
			n, err := strconv.Atoi(f[i])
			if err != nil {
				return 0, err
			}
			ticks += n
		}
	}
	if !found {
		return 0, errors.New("the process has ended")
	}
	const ticksASecond = 100 // USER_HZ is that on every Linux
	return time.Duration(ticks) * time.Second / ticksASecond, nil
}
