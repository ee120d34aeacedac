package listen

import (
	"net/http"
	"time"
)

// Limits are the times of a server and the protocols that it speaks.
func Limits(s *Server) (header, read, write, idle time.Duration, p *http.Protocols) {
	h := s.http
	return h.ReadHeaderTimeout, h.ReadTimeout, h.WriteTimeout, h.IdleTimeout, h.Protocols
}
