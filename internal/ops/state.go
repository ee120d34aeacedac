package ops

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/internal/pycache"
)

// Sources are asked at every scrape; a nil one is left out.
type Sources struct {
	Pool     func() db.PoolStats
	Gate     func() passhash.Stats
	Limiters func() []Limiter
	Keys     func() []Keys
	// Revocations counts the stored revocation events. It is asked once a
	// minute at most.
	Revocations func(context.Context) (int64, error)
	Now         func() time.Time // time.Now when nil
	Traces      func() (sent, lost uint64)
	Caches      func() pycache.Stats
	Guesses     func() []Guesses
	Notices     func() notify.Stats

	Version, Revision, GoVersion string
}

// Limiter is the state of one limiter's store.
type Limiter struct {
	Name, Backend     string
	Entries, Capacity int
	Evictions         uint64 // for room, those below among them
	LiveEvictions     uint64 // of keys that owed something
	Overflowed        uint64 // checks of new keys that shared a bucket, or were refused for lack of room
	Errors            uint64 // checks that the store could not decide
	Failing           bool   // the last one was such: the limiter follows its on_store_failure
	NearLimit         int    // keys that have used four fifths of their quota or more
}

// Guesses counts what is remembered of users and addresses beside what they owe.
type Guesses struct {
	Kind    string // trusted, failing, tried, passwords
	Marks   int
	Evicted uint64 // for room
}

// Keys is the state of one key repository.
type Keys struct {
	Repository string // fernet_tokens, fernet_receipts, credential
	Count      int
	PrimaryID  string
	PrimaryAge time.Duration
}

// state turns the sources into metrics when it is asked.
type state struct{ Sources }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	poolAcquired = desc("keystone_db_pool_acquired_connections", "Connections in use.")
	poolIdle     = desc("keystone_db_pool_idle_connections", "Connections open and idle.")
	poolMax      = desc("keystone_db_pool_max_connections", "Connections allowed.")
	poolWaits    = desc("keystone_db_pool_acquire_waits_total", "Times a request had to wait for a connection.")
	poolWaited   = desc("keystone_db_pool_acquire_wait_seconds_total", "Time spent waiting for connections.")

	hashSlots   = desc("keystone_password_hash_slots_in_use", "Password hashes being computed.")
	hashWaiting = desc("keystone_password_hash_waiting", "Callers in the queue for a hash.")
	hashDone    = desc("keystone_password_hashes_total", "Password hashes computed.")
	hashRefused = desc("keystone_password_hash_refused_total", "Callers turned away by a full or slow queue.")

	storeEntries   = desc("keystone_rate_limit_store_entries", "Keys that a limiter remembers.", "limiter", "backend")
	storeEvictions = desc("keystone_rate_limit_store_evictions_total", "Keys forgotten before they were full again.", "limiter", "backend")
	storeCapacity  = desc("keystone_rate_limit_store_capacity", "Keys that a limiter can remember.", "limiter", "backend")
	storeLive      = desc("keystone_rate_limit_store_live_evictions_total", "Keys forgotten although something was owed on them: a flood, or max_entries is too small.", "limiter", "backend")
	storeOverflow  = desc("keystone_rate_limit_store_overflow_total", "Checks of new keys that a full store put together or refused.", "limiter", "backend")
	storeNear      = desc("keystone_rate_limit_near_limit_keys", "Keys that have used four fifths of their quota or more; at most 1000 are counted.", "limiter", "backend")
	storeErrors    = desc("keystone_rate_limit_store_errors_total", "Failures of a limiter's store.", "limiter", "backend")
	storeFailing   = desc("keystone_rate_limit_store_fallback_active", "1 while a limiter's shared store is away and on_store_failure decides in its place.", "limiter", "backend")

	guessMarks   = desc("keystone_rate_limit_guess_marks", "What is remembered of guesses: trusted pairs, pairs that failed in a row, users tried from an address, users tried with a password.", "kind")
	guessEvicted = desc("keystone_rate_limit_guess_evictions_total", "What was forgotten of guesses for lack of room: a flood, or max_entries is too small.", "kind")

	fernetKeys    = desc("keystone_fernet_keys", "Keys in a repository.", "repository")
	fernetPrimary = desc("keystone_fernet_primary_key_info", "The key that is used to issue; always 1.", "repository", "key_id")
	fernetAge     = desc("keystone_fernet_key_age_seconds", "Age of the primary key.", "repository")

	cachesTold  = desc("keystone_cache_invalidations_total", "Times that a memcached of Python Keystone was told to forget a region of its cache.", "region", "outcome")
	cachesOwing = desc("keystone_cache_servers_owing", "Memcached servers of Python Keystone that could not be told of changes yet.")

	traceSpans = desc("keystone_trace_spans_total", "Spans of traces that the collector has taken, and that were lost.", "outcome")

	noticesTold    = desc("keystone_notifications_total", "Notifications that a driver has sent, could not send, and dropped since too many were waiting.", "driver", "outcome")
	noticesWaiting = desc("keystone_notifications_waiting", "Notifications that wait to be sent.")

	buildInfo = desc("keystone_build_info", "The program; always 1.", "version", "revision", "goversion")
)

// Describe sends nothing: which metrics there are depends on the sources.
func (s *state) Describe(chan<- *prometheus.Desc) {}

func (s *state) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge(buildInfo, 1, s.Version, s.Revision, s.GoVersion)
	if s.Pool != nil {
		p := s.Pool()
		gauge(poolAcquired, float64(p.InUse))
		gauge(poolIdle, float64(p.Idle))
		gauge(poolMax, float64(p.Max))
		counter(poolWaits, float64(p.Waits))
		counter(poolWaited, p.Waited.Seconds())
	}
	if s.Gate != nil {
		g := s.Gate()
		gauge(hashSlots, float64(g.Running))
		gauge(hashWaiting, float64(g.Waiting))
		counter(hashDone, float64(g.Done))
		counter(hashRefused, float64(g.Refused))
	}
	if s.Limiters != nil {
		for _, l := range s.Limiters() {
			gauge(storeEntries, float64(l.Entries), l.Name, l.Backend)
			gauge(storeCapacity, float64(l.Capacity), l.Name, l.Backend)
			gauge(storeNear, float64(l.NearLimit), l.Name, l.Backend)
			counter(storeEvictions, float64(l.Evictions), l.Name, l.Backend)
			counter(storeLive, float64(l.LiveEvictions), l.Name, l.Backend)
			counter(storeOverflow, float64(l.Overflowed), l.Name, l.Backend)
			counter(storeErrors, float64(l.Errors), l.Name, l.Backend)
			failing := 0.0
			if l.Failing {
				failing = 1
			}
			gauge(storeFailing, failing, l.Name, l.Backend)
		}
	}
	if s.Guesses != nil {
		for _, g := range s.Guesses() {
			gauge(guessMarks, float64(g.Marks), g.Kind)
			counter(guessEvicted, float64(g.Evicted), g.Kind)
		}
	}
	if s.Caches != nil {
		c := s.Caches()
		for region, d := range c.Regions {
			counter(cachesTold, float64(d.Done), region, "done")
			counter(cachesTold, float64(d.Failed), region, "failed")
		}
		gauge(cachesOwing, float64(c.Owing))
	}
	if s.Traces != nil {
		sent, lost := s.Traces()
		counter(traceSpans, float64(sent), "sent")
		counter(traceSpans, float64(lost), "lost")
	}
	if s.Notices != nil {
		n := s.Notices()
		for driver := range n.Sent {
			counter(noticesTold, float64(n.Sent[driver]), driver, "sent")
			counter(noticesTold, float64(n.Failed[driver]), driver, "failed")
			counter(noticesTold, float64(n.Dropped[driver]), driver, "dropped")
		}
		gauge(noticesWaiting, float64(n.Waiting))
	}
	if s.Keys != nil {
		for _, k := range s.Keys() {
			gauge(fernetKeys, float64(k.Count), k.Repository)
			if k.PrimaryID != "" {
				gauge(fernetPrimary, 1, k.Repository, k.PrimaryID)
				gauge(fernetAge, k.PrimaryAge.Seconds(), k.Repository)
			}
		}
	}
}
