//go:build !linux

package pgtest

import "syscall"

// endWithParent does nothing: a server outlives a test that is killed here.
func endWithParent(*syscall.SysProcAttr) {}
