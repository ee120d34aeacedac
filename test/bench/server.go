package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/crypto/bcrypt"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/migrations"
)

const password = "bench-secret"

// server is a keystone-go on loopback, and a bare echo handler beside it.
type server struct {
	app        *wire.App
	url        string // of keystone-go
	bare       string // of the handler that answers the same after one ping
	http       *http.Client
	admin      string
	answer     []byte
	listeners  []net.Listener
	dir        string
	drop       func()
	hashRounds int
}

func start(ctx context.Context) (*server, error) {
	dir, err := os.MkdirTemp("", "keystone-bench")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, hashRounds: 12, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	cfg := conf.Default()
	cfg.Database.Connection, s.drop, err = freshDatabase(ctx)
	if err != nil {
		return nil, err
	}
	keys := filepath.Join(dir, "keys")
	if err := fernet.Setup(keys, fernet.Owner{UID: -1, GID: -1}); err != nil {
		return nil, err
	}
	cfg.FernetTokens.KeyRepository, cfg.FernetReceipts.KeyRepository = keys, keys
	cfg.Database.MaxPoolSize = 16
	d, err := wire.OpenDB(ctx, cfg, nil)
	if err != nil {
		return nil, err
	}
	if err := migrations.Sync(ctx, d); err != nil {
		return nil, err
	}
	d.Close()
	s.app, err = wire.Build(ctx, cfg, wire.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	err = wire.Bootstrap(ctx, s.app.DB, s.app.Users, cfg, wire.BootstrapOptions{
		Username: "admin", Password: password, Project: "admin", Role: "admin", Service: "keystone",
		PublicURL: "http://127.0.0.1/v3", InternalURL: "http://127.0.0.1/v3", AdminURL: "http://127.0.0.1/v3", Region: "RegionOne",
	})
	if err != nil {
		return nil, err
	}
	if s.url, err = s.serve(s.app.Handler); err != nil {
		return nil, err
	}
	return s, s.prepare()
}

// freshDatabase makes a database of its own on the test server.
func freshDatabase(ctx context.Context) (url string, drop func(), err error) {
	root := os.Getenv("KEYSTONE_GO_TEST_POSTGRES")
	if root == "" {
		return "", nil, fmt.Errorf("KEYSTONE_GO_TEST_POSTGRES is not set: run make bench")
	}
	d, err := db.Open(ctx, db.Config{URL: root})
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("bench_%d", time.Now().UnixNano())
	if _, err := d.Exec(ctx, "create database "+name); err != nil {
		return "", nil, err
	}
	base, query, _ := strings.Cut(root, "?")
	url = base[:strings.LastIndex(base, "/")+1] + name
	if query != "" {
		url += "?" + query
	}
	return url, func() {
		_, _ = d.Exec(ctx, "drop database "+name+" with (force)")
		d.Close()
	}, nil
}

func (s *server) serve(h http.Handler) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.listeners = append(s.listeners, l)
	go func() { _ = (&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}).Serve(l) }()
	return "http://" + l.Addr().String(), nil
}

// prepare logs in and sets up the bare handler with the very bytes of a
// validation.
func (s *server) prepare() error {
	var err error
	if s.admin, err = s.login(password); err != nil {
		return err
	}
	s.answer, err = s.validate()
	if err != nil {
		return err
	}
	e := echo.New()
	e.GET("/v3/auth/tokens", func(c echo.Context) error {
		if err := s.app.DB.Ping(c.Request().Context()); err != nil {
			return err
		}
		c.Response().Header().Set("X-Subject-Token", s.admin)
		c.Response().Header().Set("Vary", "X-Auth-Token")
		return c.Blob(http.StatusOK, "application/json", s.answer)
	})
	hash, err := bcrypt.GenerateFromPassword([]byte(password), s.hashRounds)
	if err != nil {
		return err
	}
	// What any login costs that asks its database before and behind the hash.
	e.POST("/v3/auth/tokens", func(c echo.Context) error {
		ctx := c.Request().Context()
		if _, err := io.Copy(io.Discard, c.Request().Body); err != nil {
			return err
		}
		if err := s.app.DB.Ping(ctx); err != nil {
			return err
		}
		if err := bcrypt.CompareHashAndPassword(hash, []byte(password)); err != nil {
			return err
		}
		if err := s.app.DB.Ping(ctx); err != nil {
			return err
		}
		return c.Blob(http.StatusCreated, "application/json", s.answer)
	})
	s.bare, err = s.serve(e)
	return err
}

func (s *server) login(password string) (string, error) { return s.loginAt(s.url, password) }

func (s *server) loginAt(base, password string) (string, error) {
	body, _ := json.Marshal(map[string]any{"auth": map[string]any{
		"identity": map[string]any{"methods": []string{"password"}, "password": map[string]any{
			"user": map[string]any{"name": "admin", "domain": map[string]any{"id": "default"}, "password": password},
		}},
		"scope": map[string]any{"project": map[string]any{"name": "admin", "domain": map[string]any{"id": "default"}}},
	}})
	r, err := s.http.Post(base+"/v3/auth/tokens", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	if r.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("login: %d %.200s", r.StatusCode, text)
	}
	return r.Header.Get("X-Subject-Token"), nil
}

func (s *server) validate() ([]byte, error) { return s.get(s.url) }

func (s *server) get(base string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, base+"/v3/auth/tokens", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Auth-Token", s.admin)
	req.Header.Set("X-Subject-Token", s.admin)
	r, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("validation: %d %.200s", r.StatusCode, body)
	}
	return body, err
}

func (s *server) close() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
	s.app.Close()
	s.drop()
	_ = os.RemoveAll(s.dir)
}
