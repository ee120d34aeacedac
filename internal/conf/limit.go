package conf

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Limit is what 120/1m burst 240 says: Requests that come back each Period, and
// Burst that may be made at once.
type Limit struct {
	Requests int
	Period   time.Duration
	Burst    int
}

// String writes the limit as a file has it.
func (l Limit) String() string {
	period := strconv.FormatInt(int64(l.Period/time.Second), 10) + "s"
	for _, u := range limitUnits {
		if l.Period%u.length == 0 {
			period = strconv.FormatInt(int64(l.Period/u.length), 10) + u.letter
			break
		}
	}
	text := strconv.Itoa(l.Requests) + "/" + period
	if l.Burst != l.Requests {
		text += " burst " + strconv.Itoa(l.Burst)
	}
	return text
}

// Bounds of a Limit, those of ratelimit.Quota.
const (
	maxRequests = 100_000
	maxPeriod   = 24 * time.Hour
)

var limitUnits = []struct {
	letter string
	length time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

var limitForm = regexp.MustCompile(`^([0-9]+)\s*/\s*([0-9]*)([smhd])(?:\s+burst\s+([0-9]+))?$`)

// parseLimit takes requests/period with the burst behind it; without one the
// burst is the requests.
func parseLimit(s string) (any, error) {
	if s == "" {
		return nil, nil
	}
	m := limitForm.FindStringSubmatch(s)
	if m == nil {
		return nil, fmt.Errorf("%q is not a limit; give requests/period such as 120/1m or 120/1m burst 240, the period in s, m, h or d", s)
	}
	if m[2] == "" {
		m[2] = "1"
	}
	if m[4] == "" {
		m[4] = m[1]
	}
	requests, err1 := strconv.Atoi(m[1])
	count, err2 := strconv.Atoi(m[2])
	burst, err3 := strconv.Atoi(m[4])
	var unit time.Duration
	for _, u := range limitUnits {
		if u.letter == m[3] {
			unit = u.length
		}
	}
	switch {
	case err2 != nil || count < 1 || count > int(maxPeriod/unit):
		return nil, fmt.Errorf("%q: the period is out of range; give 1s to 1d", s)
	case err1 != nil || requests < 1 || requests > maxRequests:
		return nil, fmt.Errorf("%q: the requests are out of range; give a whole number from 1 to %d", s, maxRequests)
	case err3 != nil || burst < 1 || burst > maxRequests:
		return nil, fmt.Errorf("%q: the burst is out of range; give a whole number from 1 to %d", s, maxRequests)
	}
	return Limit{Requests: requests, Period: time.Duration(count) * unit, Burst: burst}, nil
}

var pathForm = regexp.MustCompile(`^(?:[A-Z]+|\*):/[^\s,*?#]*\*?$`)

// parsePaths takes METHOD:/path entries.
func parsePaths(s string) (any, error) {
	list := parseList(s)
	seen := map[string]bool{}
	for _, item := range list {
		switch {
		case !pathForm.MatchString(item):
			return nil, fmt.Errorf("%q is not a route; give METHOD:/path such as POST:/v3/auth/tokens, with a * at the end for everything below; * as the method is any", item)
		case strings.Contains(item, "//"):
			return nil, fmt.Errorf("%q has a doubled slash, which no route has", item)
		case seen[item]:
			return nil, fmt.Errorf("%q stands twice", item)
		}
		seen[item] = true
	}
	return list, nil
}
