package dbtest

// Prepare has MariaDB read a text.
var Prepare = prepare
