// Command benchpeer drives Python Keystone and keystone-go, on one database, in
// runs that take turns, and tells what a request costs either in processor
// time, all their processes together, and how many a second are answered.
//
// With -large it fills the database with a large cloud and times its lists.
//
//	benchpeer [-large] [-time 3s] [-rounds 3] [-out FILE] [-strict]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// The goals: how many times Python's processor time a validation of ours may
// cost at the most, as a ratio.
const (
	goalCached  = 50  // Python with memcached
	goalDefault = 500 // Python as its default file has it
)

// What is measured against, beside bare bcrypt.
const withMemcached, asDefault = "Python with memcached", "Python with the default file"

// What a login's hash costs, and how many are made at a time.
const hashRounds, hashSlots = 12, 2

// Row is what one scenario came to; times are milliseconds of processor time a
// request, rates requests a second. Against bare bcrypt, which is no Python,
// Python's figures are those of the hash.
type Row struct {
	Scenario, Against    string
	PythonCPU, GoCPU     float64
	CPURatio             float64
	PythonRate, GoRate   float64
	RateRatio            float64
	PythonCount, GoCount int
	Goal                 float64 `json:",omitempty"`
}

func main() {
	length := flag.Duration("time", 3*time.Second, "the `time` of one run")
	rounds := flag.Int("rounds", 3, "runs of each server for each scenario; the median counts")
	out := flag.String("out", "", "`file` for the figures as JSON")
	strict := flag.Bool("strict", false, "fail when a goal is missed")
	lists := flag.Bool("large", false, "measure the lists of a large cloud instead")
	flag.Parse()
	var (
		missed  bool
		figures any
		err     error
	)
	if *lists {
		var rows []LargeRow
		rows, err = benchLarge(*length, *rounds)
		missed, figures = reportLarge(rows), rows
	} else {
		var rows []Row
		rows, err = bench(*length, *rounds)
		missed, figures = report(rows), rows
	}
	if err == nil {
		err = save(*out, figures)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || missed && *strict {
		os.Exit(1)
	}
}

// save writes figures as JSON, where a file is named.
func save(name string, rows any) error {
	if name == "" {
		return nil
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// bench measures against Python with memcached, and then without.
func bench(length time.Duration, rounds int) (rows []Row, err error) {
	e, err := peer.Open(peer.Options{
		Processes: 2, Cache: peer.PyMemcache,
		// As a cloud has it: logins cost what they cost there.
		Conf: peer.Conf{"identity": {"password_hash_rounds": fmt.Sprint(hashRounds)}, "keystone_go": {"hash_slots": fmt.Sprint(hashSlots)}},
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := e.Close(); err == nil {
			err = e
		}
	}()
	all, err := scenarios(e)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		r, err := compare(e, s, withMemcached, length, rounds)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
		if s.name != "login" {
			continue
		}
		if r, err = bound(s, func(d time.Duration) (figure, error) { return s.run(e.Go, d) }, length, rounds); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	if err := withoutCache(e); err != nil {
		return nil, err
	}
	for _, s := range all {
		r, err := compare(e, s, asDefault, length, rounds)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, e.Python.Stop()
}

// withoutCache has another Python stand in the place of the one with memcached.
func withoutCache(e *peer.Env) error {
	plain, err := e.SecondPython("plain", 2, peer.Conf{"cache": {"backend": "dogpile.cache.null"}})
	if err != nil {
		return err
	}
	if err := e.Python.Stop(); err != nil {
		return err
	}
	e.Python = plain
	return plain.Start()
}

// compare has both servers do a scenario in turns.
func compare(e *peer.Env, s scenario, against string, length time.Duration, rounds int) (Row, error) {
	row := Row{Scenario: s.name, Against: against}
	if s.validates {
		row.Goal = goalDefault
		if against == withMemcached {
			row.Goal = goalCached
		}
	}
	figures := map[string][]figure{}
	for range rounds {
		for _, server := range e.Servers() {
			f, err := s.run(server, length)
			if err != nil {
				return row, fmt.Errorf("%s at %s: %w", s.name, server.Name, err)
			}
			figures[server.Name] = append(figures[server.Name], f)
		}
	}
	return row.with(median(figures["python"]), median(figures["go"])), nil
}

func (r Row) with(python, ours figure) Row {
	r.PythonCPU, r.PythonRate, r.PythonCount = python.cpu, python.rate, python.count
	r.GoCPU, r.GoRate, r.GoCount = ours.cpu, ours.rate, ours.count
	r.CPURatio, r.RateRatio = python.cpu/ours.cpu, ours.rate/python.rate
	return r
}

// median takes each figure's own, and the sum of the counts.
func median(runs []figure) figure {
	mid := func(of func(figure) float64) float64 {
		var l []float64
		for _, f := range runs {
			l = append(l, of(f))
		}
		slices.Sort(l)
		return l[len(l)/2]
	}
	sum := 0
	for _, f := range runs {
		sum += f.count
	}
	return figure{cpu: mid(func(f figure) float64 { return f.cpu }), rate: mid(func(f figure) float64 { return f.rate }), count: sum}
}

func report(rows []Row) (missed bool) {
	fmt.Printf("| scenario | against | there: ms of CPU | here: ms of CPU | ratio | there: a second | here: a second | ratio |\n|%s\n", strings.Repeat("---|", 8))
	for _, r := range rows {
		fmt.Printf("| %s | %s | %.2f | %.3f | %.2f | %.1f | %.1f | %.2f |\n", r.Scenario, r.Against, r.PythonCPU, r.GoCPU, r.CPURatio, r.PythonRate, r.GoRate, r.RateRatio)
	}
	for _, r := range rows {
		if r.Goal == 0 {
			continue
		}
		word := "met"
		if r.CPURatio < r.Goal {
			word, missed = "MISSED", true
		}
		fmt.Printf("%s against %s: %.4g times its rate per processor-second, the goal is %g: %s\n", r.Scenario, r.Against, r.CPURatio, r.Goal, word)
	}
	return missed
}
