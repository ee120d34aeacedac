// The command keystone-go is the identity server and the tools of its
// operator. It answers to the name keystone-manage too.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	p := &program{
		argv0: os.Args[0], args: os.Args[1:], env: os.Environ(), uid: os.Geteuid(),
		in: os.Stdin, out: os.Stdout, err: os.Stderr, signals: signals,
	}
	os.Exit(p.run(context.Background()))
}
