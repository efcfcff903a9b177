// Package postgres stores the threads of a fleet in PostgreSQL 14 or newer. It implements
// fleet.Driver.
package postgres
