package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
)

// mariaError gives an error of the driver its kind.
func mariaError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := ended(ctx, err); ok {
		return e
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return asKind(mariaKind(e.Number), err)
	}
	if mariaLost(err) {
		return asKind(ErrUnavailable, err)
	}
	return err
}

// outOfCluster is how a Galera node refuses every statement while it is not part
// of a cluster that has most of the nodes.
const outOfCluster = 1047

// mariaKind reads an error number, which MariaDB and MySQL share below 1900.
func mariaKind(number uint16) error {
	switch number {
	case 1062, 1169, 1586:
		return ErrDuplicate
	case 1216, 1217, 1451, 1452:
		return ErrReference
	case 1213, 1205, 1020, 3101:
		// A deadlock, or a row that Galera found changed on another node; a lock
		// waited for too long; a row that changed since the snapshot; a row that
		// MySQL's group replication found changed on another node.
		return ErrSerialize
	case 1040, 1203, 1226, 1053, 1077, 1079, 1129, 1152, 1184, 1158, 1159, 1160, 1161, 1927, 2006, 2013:
		// Full, going down, the connection broken or ended.
		return ErrUnavailable
	case 1290, 1792, 1836, outOfCluster:
		// A server that may only be read from, a Galera node out of its cluster.
		return ErrUnavailable
	case 1180, 1317, 1969, 3024, 3100:
		// A commit that broke off, as on a node that loses its cluster meanwhile;
		// a statement that somebody ended by hand or by a bound on its time.
		return ErrUnavailable
	case 1050, 1060, 1061, 1091:
		// A table, column or index that exists, or does not and is to be dropped.
		return ErrAltered
	case 1264, 1265, 1292, 1366, 1406, 1690, 1300, 1411, 1525, 3854, 1267, 1271:
		// Out of range, no value of an enum, too long, letters that the column
		// cannot hold, or that it cannot be compared with.
		return ErrBadValue
	}
	return nil
}

// mariaLost tells whether the connection, not the statement, failed.
func mariaLost(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, lost := range []error{driver.ErrBadConn, mysql.ErrInvalidConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}
