package pgtest

import (
	"syscall"
	"testing"
)

// attributes returns the attributes of a process that runs as the user of the tests.
func attributes(*account) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Crash skips the test: Windows does not suspend processes.
func (s *Server) Crash(t testing.TB) { t.Skip("it needs signals") }

// Pause skips the test: Windows does not suspend processes.
func (s *Server) Pause(t testing.TB) { t.Skip("it needs signals") }

// Resume does nothing.
func (s *Server) Resume(testing.TB) {}

func (s *Server) freeMemory() {}
