//go:build !linux

package osfile

import "os"

// StartSync does nothing, because this system has no call for it.
func StartSync(*os.File, int64, int64) {}
