package db

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
)

// pgError gives an error of pgx its kind.
func pgError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := ended(ctx, err); ok {
		return e
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return asKind(ErrNoRow, err)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return asKind(pgKind(e.Code), err)
	}
	if strings.Contains(err.Error(), "failed to encode args[") {
		// pgx's text shows the argument, which may be a secret.
		return asKind(ErrBadValue, errors.New("an argument does not fit its column"))
	}
	if pgLost(err) {
		return asKind(ErrUnavailable, err)
	}
	return err
}

// pgKind reads an SQLSTATE (Postgres manual, appendix A).
func pgKind(code string) error {
	switch code {
	case "23505":
		return ErrDuplicate
	case "23503", "23001":
		return ErrReference
	case "40001", "40P01":
		return ErrSerialize
	case "53300", "53400", "57P01", "57P02", "57P03", "57P05", "25006":
		// Full, going down, coming up, idle too long, a standby.
		return ErrUnavailable
	}
	if len(code) == 5 {
		switch code[:2] {
		case "08":
			return ErrUnavailable
		case "22":
			return ErrBadValue
		}
	}
	return nil
}

// pgLost tells whether the connection, not the statement, failed.
func pgLost(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, puddle.ErrClosedPool) || pgconn.SafeToRetry(err)
}
