//go:build !linux

package pause

import "time"

func exactly(d time.Duration) { time.Sleep(d) }
