package db

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mariaMode is what all texts count on: strict about values as Python Keystone
// asks for it, names in double quotes, and || between texts.
const mariaMode = "TRADITIONAL,ANSI_QUOTES,PIPES_AS_CONCAT"

// mariaIgnored are options of Python's drivers and of SQLAlchemy that say
// nothing here: the connection is always utf8mb4, whose letters are those of all
// utf8 columns.
var mariaIgnored = map[string]bool{
	"charset": true, "use_unicode": true, "plugin": true, "local_infile": true, "sql_mode": true, "program_name": true,
	"read_default_group": true, "autocommit": true, "binary_prefix": true, "max_allowed_packet": true, "use_pure": true,
}

// mariaOptions are the options of a URL that are acted upon, by their names
// with pymysql and with mysqlclient.
type mariaOptions struct {
	socket               string
	ca, cert, key        string
	verify               *bool // the certificate
	hostname             *bool // its name
	off                  bool  // no TLS at all
	wanted               bool  // any option of TLS was given
	connect, read, write time.Duration
	defaults             string
}

// mariaConfig makes the driver's configuration.
func mariaConfig(a address, c Config) (*mysql.Config, error) {
	o, err := mariaRead(&a)
	if err != nil {
		return nil, err
	}
	if o.defaults != "" {
		if err := o.fromFile(&a); err != nil {
			return nil, err
		}
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = a.user, a.password, a.database
	if a.database == "" {
		return nil, errors.New("database connection: no database is named: mysql+pymysql://user:password@host/keystone")
	}
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(orElse(a.host, "localhost"), orElse(a.port, "3306"))
	if n, err := strconv.Atoi(orElse(a.port, "3306")); err != nil || n < 1 || n > 65535 {
		return nil, errors.New("database connection: the port is no number of a port")
	}
	if o.socket != "" {
		cfg.Net, cfg.Addr = "unix", o.socket
	}
	cfg.Params = map[string]string{"sql_mode": "'" + mariaMode + "'", "time_zone": "'+00:00'"}
	if err := cfg.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, fmt.Errorf("database connection: %w", err)
	}
	cfg.Timeout = c.ConnectTimeout
	if o.connect > 0 {
		cfg.Timeout = o.connect
	}
	cfg.ReadTimeout, cfg.WriteTimeout = o.read, o.write
	cfg.Logger = &mysql.NopLogger{}
	cfg.ParseTime, cfg.ClientFoundRows = true, true
	// One round trip a statement, and one for several reads.
	cfg.InterpolateParams, cfg.MultiStatements = true, true
	cfg.RejectReadOnly = true
	return cfg, o.tls(cfg, a.host)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// mariaRead reads the options of a URL.
func mariaRead(a *address) (o mariaOptions, err error) {
	for k, v := range a.query {
		last := v[len(v)-1]
		switch k {
		case "unix_socket":
			o.socket = last
		case "read_default_file":
			o.defaults = last
		case "host":
			a.host = last
		case "port":
			a.port = last
		case "user":
			a.user = last
		case "password", "passwd":
			a.password = last
		case "database", "db":
			a.database = last
		case "connect_timeout":
			o.connect, err = seconds(k, last)
		case "read_timeout":
			o.read, err = seconds(k, last)
		case "write_timeout":
			o.write, err = seconds(k, last)
		case "charset":
			if !strings.HasPrefix(strings.ToLower(last), "utf8") {
				err = errors.New("database connection: the charset is not utf8 or utf8mb4")
			}
		default:
			err = o.tlsOption(k, last)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// tlsOption reads one of the options of TLS.
func (o *mariaOptions) tlsOption(k, v string) (err error) {
	o.wanted = o.wanted || strings.HasPrefix(k, "ssl")
	switch k {
	case "ssl_ca":
		o.ca = v
	case "ssl_cert":
		o.cert = v
	case "ssl_key":
		o.key = v
	case "ssl_verify_cert":
		o.verify, err = yesNo(k, v)
	case "ssl_check_hostname", "ssl_verify_identity":
		o.hostname, err = yesNo(k, v)
	case "ssl_disabled":
		var off *bool
		if off, err = yesNo(k, v); err == nil {
			o.off = *off
		}
	case "ssl", "ssl_mode":
		switch strings.ToUpper(v) {
		case "DISABLED", "FALSE", "0":
			o.off = true
		case "PREFERRED":
			o.wanted = false
		case "VERIFY_CA", "VERIFY_IDENTITY":
			yes, name := true, strings.EqualFold(v, "VERIFY_IDENTITY")
			o.verify, o.hostname = &yes, &name
		case "REQUIRED", "TRUE", "1":
		default:
			err = fmt.Errorf("database connection: %s has no such value", k)
		}
	default:
		switch {
		case mariaIgnored[k]:
		case plainWord(k):
			err = fmt.Errorf("database connection: the option %s is not supported", k)
		default:
			err = errors.New("database connection: an option has no plain name")
		}
	}
	return err
}

func seconds(option, s string) (time.Duration, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f <= 0 || f > 31536000 {
		return 0, fmt.Errorf("database connection: %s is no number of seconds", option)
	}
	return time.Duration(f * float64(time.Second)), nil
}

func yesNo(option, s string) (*bool, error) {
	var b bool
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on", "required":
		b = true
	case "0", "false", "no", "off", "none":
	default:
		return nil, fmt.Errorf("database connection: %s is true or false", option)
	}
	return &b, nil
}

// fromFile takes what the URL leaves open from the section [client] of an
// option file.
func (o *mariaOptions) fromFile(a *address) error {
	text, err := os.ReadFile(o.defaults)
	if err != nil {
		return fmt.Errorf("database connection: read_default_file: %w", err)
	}
	open := map[string]*string{
		"user": &a.user, "password": &a.password, "host": &a.host, "port": &a.port, "database": &a.database, "socket": &o.socket,
		"ssl-ca": &o.ca, "ssl-cert": &o.cert, "ssl-key": &o.key,
	}
	for key, to := range open {
		if *to != "" {
			delete(open, key)
		}
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		key, value, given := strings.Cut(line, "=")
		key = strings.ReplaceAll(strings.TrimSpace(key), "_", "-")
		to, known := open[key]
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case section == "client" && known && given:
			*to = strings.Trim(strings.TrimSpace(value), `'"`)
			o.wanted = o.wanted || strings.HasPrefix(key, "ssl")
		}
	}
	return nil
}

// tls asks for TLS as Python's driver does: with an authority the server has to
// be who it says, by its name too (but where ssl_verify_cert stands alone beside
// it); without, any certificate will do, and none where no option asks for it.
func (o *mariaOptions) tls(cfg *mysql.Config, host string) error {
	if o.off || (!o.wanted && cfg.Net == "unix") {
		return nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: orElse(host, "localhost")}
	if o.ca != "" {
		pem, err := os.ReadFile(o.ca)
		if err != nil {
			return fmt.Errorf("database connection: ssl_ca: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return errors.New("database connection: ssl_ca has no certificate")
		}
	}
	if (o.cert == "") != (o.key == "") {
		return errors.New("database connection: ssl_cert and ssl_key go together")
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return fmt.Errorf("database connection: ssl_cert and ssl_key: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	yes := func(b *bool, otherwise bool) bool {
		if b == nil {
			return otherwise
		}
		return *b
	}
	name := yes(o.hostname, o.ca != "" && o.verify == nil)
	switch chain := yes(o.verify, o.ca != "" || o.hostname != nil && *o.hostname); {
	case !chain:
		t.InsecureSkipVerify = true
	case !name:
		t.InsecureSkipVerify = true
		t.VerifyConnection = chainOnly(t.RootCAs)
	}
	cfg.TLS = t
	cfg.AllowFallbackToPlaintext = !o.wanted
	return nil
}

// chainOnly verifies a certificate, whatever name is in it.
func chainOnly(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		between := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			between.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
		return err
	}
}
