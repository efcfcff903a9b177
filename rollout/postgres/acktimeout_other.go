//go:build !linux

package postgres

import "syscall"

// setAckTimeout does nothing: only Linux has the option. Probes of connections without traffic find a server
// that does not respond.
func setAckTimeout(string, string, syscall.RawConn) error { return nil }
