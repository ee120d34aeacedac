// Command driver drives the operator's page in a real, headless browser as a
// person would, and takes its picture. It is a module of its own so that the
// server's module file stays free of it.
//
//	driver -url http://127.0.0.1:5009/ -browser chromium -address 192.0.2.77 -out page.png
//
// It prints what it saw as JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Seen is what the page showed.
type Seen struct {
	Title     string   `json:"title"`
	Limiters  string   `json:"limiters"`
	Bars      int      `json:"bars"`
	Debts     string   `json:"debts"`
	Gate      string   `json:"gate"`
	Lockouts  string   `json:"lockouts"`
	Remaining string   `json:"remaining"` // of the address looked up
	Refreshes bool     `json:"refreshes"` // after the click
	Requests  []string `json:"requests"`  // all addresses asked for
	Errors    []string `json:"errors"`    // of the browser's console
}

func main() {
	url := flag.String("url", "", "the page")
	browser := flag.String("browser", "chromium", "the program")
	address := flag.String("address", "", "a client address to look up")
	out := flag.String("out", "", "file for the picture")
	flag.Parse()
	seen, picture, err := drive(*url, *browser, *address)
	if err == nil && *out != "" {
		err = os.WriteFile(*out, picture, 0o644)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(seen)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// person does one thing after the other until one fails.
type person struct {
	ctx context.Context
	err error
}

func do[T any](p *person, a chromedp.Action[T]) (v T) {
	if p.err == nil {
		v, p.err = chromedp.Run(p.ctx, a)
	}
	return v
}

func drive(url, browser, address string) (s Seen, picture []byte, err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.WindowSize(1180, 1400), chromedp.WSURLReadTimeout(time.Minute))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	ctx, endTab := chromedp.NewContext(ctx)
	defer endTab()
	giveUp := time.AfterFunc(2*time.Minute, endTab)
	defer giveUp.Stop()

	var mu sync.Mutex
	if err := chromedp.Listen(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			s.Requests = append(s.Requests, e.Request.URL)
		case *log.EventEntryAdded:
			s.Errors = append(s.Errors, e.Entry.Text)
		}
	}); err != nil {
		return s, nil, err
	}
	p := &person{ctx: ctx}
	do(p, command(network.Enable, network.EnableParams{}))
	do(p, command(log.Enable, cdp.Empty{}))
	do(p, chromedp.Navigate(url))
	title := do(p, chromedp.Title())
	limiters, debts := do(p, chromedp.Text("#limiters")), do(p, chromedp.Text("#debts"))
	gate, lockouts := do(p, chromedp.Text("#gate")), do(p, chromedp.Text("#lockouts"))
	bars := do(p, chromedp.Evaluate[int](`document.querySelectorAll("#refusals rect").length`))
	do(p, chromedp.SendKeys(`input[name="address"]`, address))
	do(p, chromedp.Click("#ask button"))
	do(p, chromedp.WaitVisible("#standing"))
	remaining := do(p, chromedp.Text("#standing .remaining"))
	picture = do(p, chromedp.FullScreenshot(100))
	do(p, chromedp.Click("#refresh"))
	do(p, chromedp.WaitVisible("#still"))
	refreshes := do(p, chromedp.Evaluate[bool](`document.querySelector("meta[http-equiv=refresh]") !== null`))

	mu.Lock()
	defer mu.Unlock()
	s.Title, s.Limiters, s.Debts, s.Gate, s.Lockouts = title, limiters, debts, gate, lockouts
	s.Bars, s.Remaining, s.Refreshes = bars, strings.TrimSpace(remaining), refreshes
	return s, picture, p.err
}

func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[R] {
	return func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) }
}
