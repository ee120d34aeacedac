package db

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
)

func TestMariaDBText(t *testing.T) {
	for text, want := range map[string]translated{
		`select 1`:                              {text: `select 1`},
		`select $1`:                             {`select ?`, []int{0}},
		`select $2, $1, $2`:                     {`select ?, ?, ?`, []int{1, 0, 1}},
		`select $10$1`:                          {`select ??`, []int{9, 0}},
		`select '$1 it''s $2', "a$3", $4`:       {`select '$1 it''s $2', "a$3", ?`, []int{3}},
		`select 'a\' || $1`:                     {`select 'a\\' || ?`, []int{0}},
		"select $1 -- the $2 of 'nothing\n, $3": {"select ? \n, ?", []int{0, 2}},
		`select $1 -- end`:                      {`select ? `, []int{0}},
		`select a - $1 - -$2, '--', $3`:         {`select a - ? - -?, '--', ?`, []int{0, 1, 2}},
		`select cast($1 as varchar), cast($1 as bigint), 'x as varchar)', a as varchar_`: {
			`select cast(? as char), cast(? as signed), 'x as varchar)', a as varchar_`, []int{0, 0},
		},
		`select 'open $1`: {text: `select 'open $1`},
		`select $, $a`:    {text: `select $, $a`},
	} {
		for range 2 { // the second time it is known
			got := mariaText(text)
			if got.text != want.text || !slices.Equal(got.order, want.order) {
				t.Errorf("%s: got %q and %v, want %q and %v", text, got.text, got.order, want.text, want.order)
			}
		}
	}
	_, args, err := mariaTranslate(`select $2, $1, $2`, []any{"a", "b"})
	if err != nil || !slices.Equal(args, []any{"b", "a", "b"}) {
		t.Errorf("arguments: got %v, %v", args, err)
	}
	for _, text := range []string{`select $3`, `select $0`} {
		if _, _, err := mariaTranslate(text, []any{"a", "b"}); err == nil {
			t.Errorf("%s with two arguments: no error", text)
		}
	}
}

func FuzzMariaDBText(f *testing.F) {
	for _, s := range []string{"select $1", "'$1", `"--"`, "-- $1\n$2", "$99999999999999999999", "'a''b' || $1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := translate(text)
		if strings.Count(got.text, "?") < len(got.order) {
			t.Errorf("%q: %d arguments, %q", text, len(got.order), got.text)
		}
	})
}

// reach is where a URL of MariaDB leads, and how.
type reach struct {
	User, Password, Database, Net, Addr string
	TLS                                 string // "", "if there is one", "any", "chain", "chain and name"
	Timeout                             time.Duration
}

func TestMariaDBURLs(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca, cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	file := write("my.cnf", "[mysqld]\nport=1\n[client]\nuser = filed\npassword=in#file\nhost=file.example\nport=3310\nssl-ca="+ca+"\nssl\n!includedir /etc/none\n")
	plain := write("plain.cnf", "[client]\nsocket=/run/mysqld/mysqld.sock\n")
	const maybe, ten = "if there is one", 10 * time.Second
	for address, want := range map[string]reach{
		"mysql://k:p@db.example/keystone":                                                                           {"k", "p", "keystone", "tcp", "db.example:3306", maybe, ten},
		"mysql+pymysql://k:p%40s%2Fs%25%3A@h:3307/ks?charset=utf8":                                                  {"k", "p@s/s%:", "ks", "tcp", "h:3307", maybe, ten},
		"mysql+mysqldb://k:a:b/c@h/ks?charset=utf8mb4":                                                              {"k", "a:b/c", "ks", "tcp", "h:3306", maybe, ten},
		"mariadb+mariadbconnector://k@[::1]:6000/ks":                                                                {"k", "", "ks", "tcp", "[::1]:6000", maybe, ten},
		"MariaDB+pymysql://k:p@h/ks?plugin=dbcounter&connect_timeout=2.5":                                           {"k", "p", "ks", "tcp", "h:3306", maybe, 2500 * time.Millisecond},
		"mysql+pymysql://k:p@/ks?unix_socket=/run/m.sock":                                                           {"k", "p", "ks", "unix", "/run/m.sock", "", ten},
		"mysql+pymysql://k:p@h/ks?ssl_disabled=true":                                                                {"k", "p", "ks", "tcp", "h:3306", "", ten},
		"mysql+pymysql://k:p@h/ks?ssl_ca=" + ca:                                                                     {"k", "p", "ks", "tcp", "h:3306", "chain and name", ten},
		"mysql+pymysql://k:p@h/ks?ssl_ca=" + ca + "&ssl_check_hostname=false":                                       {"k", "p", "ks", "tcp", "h:3306", "chain", ten},
		"mysql+pymysql://k:p@h/ks?ssl_ca=" + ca + "&ssl_cert=" + cert + "&ssl_key=" + key + "&ssl_verify_cert=true": {"k", "p", "ks", "tcp", "h:3306", "chain", ten},
		"mysql+pymysql://k:p@h/ks?ssl_verify_cert=true&ssl_verify_identity=true":                                    {"k", "p", "ks", "tcp", "h:3306", "chain and name", ten},
		"mysql+pymysql://k:p@h/ks?ssl_ca=" + ca + "&ssl_verify_cert=false&ssl_verify_identity=false":                {"k", "p", "ks", "tcp", "h:3306", "any", ten},
		"mysql+mysqldb://k:p@h/ks?ssl_mode=REQUIRED":                                                                {"k", "p", "ks", "tcp", "h:3306", "any", ten},
		"mysql+mysqldb://k:p@h/ks?ssl_mode=VERIFY_CA&ssl_ca=" + ca:                                                  {"k", "p", "ks", "tcp", "h:3306", "chain", ten},
		"mysql+pymysql:///ks?read_default_file=" + file:                                                             {"filed", "in#file", "ks", "tcp", "file.example:3310", "chain and name", ten},
		"mysql+pymysql://k:p@h:1/ks?read_default_file=" + file:                                                      {"k", "p", "ks", "tcp", "h:1", "chain and name", ten},
		"mysql+pymysql://k:p@/ks?read_default_file=" + plain:                                                        {"k", "p", "ks", "unix", "/run/mysqld/mysqld.sock", "", ten},
	} {
		a, err := parseURL(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		cfg, err := mariaConfig(a, Config{}.withDefaults())
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		got := reach{cfg.User, cfg.Passwd, cfg.DBName, cfg.Net, cfg.Addr, howSure(cfg), cfg.Timeout}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", address, diff)
		}
	}
}

func howSure(cfg *mysql.Config) string {
	switch t := cfg.TLS; {
	case t == nil:
		return ""
	case cfg.AllowFallbackToPlaintext:
		return "if there is one"
	case t.VerifyConnection != nil:
		return "chain"
	case t.InsecureSkipVerify:
		return "any"
	}
	return "chain and name"
}

func TestMariaDBURLsThatAreRefused(t *testing.T) {
	for address, want := range map[string]string{
		"mysql+pymysql://k:hush@h":                            "no database",
		"mysql+pymysql://k:hush@h:port/ks":                    "port",
		"mysql+pymysql://k:hush@h/ks?charset=latin1":          "charset",
		"mysql+pymysql://k:hush@h/ks?ssl_ca=/none":            "ssl_ca",
		"mysql+pymysql://k:hush@h/ks?ssl_cert=/none":          "go together",
		"mysql+pymysql://k:hush@h/ks?ssl_verify_cert=perhaps": "ssl_verify_cert",
		"mysql+pymysql://k:hush@h/ks?ssl_cipher=AES":          "ssl_cipher is not supported",
		"mysql+pymysql://k:hush@h/ks?ssl_mode=SOMETIMES":      "ssl_mode",
		"mysql+pymysql://k:hush@h/ks?init_command=drop":       "init_command is not supported",
		"mysql+pymysql://k:hush@h/ks?connect_timeout=soon":    "connect_timeout",
		"mysql+pymysql://k:hush@h/ks?read_default_file=/none": "/none",
		"mysql+pymysql://k:hush@h/ks?hush%20%3D=1":            "no plain name",
	} {
		_, err := Open(t.Context(), Config{URL: address})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want it to say %q", address, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error shows the password: %v", address, err)
		}
	}
}

func TestMariaDBErrors(t *testing.T) {
	for want, numbers := range map[error][]uint16{
		ErrDuplicate:   {1062, 1586},
		ErrReference:   {1451, 1452, 1216, 1217},
		ErrSerialize:   {1213, 1205, 1020, 3101},
		ErrUnavailable: {1040, 1053, 1290, 1792, 1836, 1047, 1927, 1180, 1317, 1969, 3024, 3100},
		ErrBadValue:    {1264, 1265, 1292, 1366, 1406},
		ErrAltered:     {1050, 1060, 1061, 1091},
	} {
		for _, n := range numbers {
			if err := mariaError(t.Context(), &mysql.MySQLError{Number: n}); !errors.Is(err, want) {
				t.Errorf("%d: got %v, want %v", n, err, want)
			}
		}
	}
	for _, err := range []error{mysql.ErrInvalidConn, net.ErrClosed, &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		if got := mariaError(t.Context(), err); !errors.Is(got, ErrUnavailable) {
			t.Errorf("%v: got %v, want ErrUnavailable", err, got)
		}
	}
	if err := mariaError(t.Context(), &mysql.MySQLError{Number: 1064}); isUnavailable(err) || errors.Is(err, ErrBadValue) {
		t.Errorf("a fault of syntax: got %v", err)
	}
}

// certificate writes one that is its own authority, and its key.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
