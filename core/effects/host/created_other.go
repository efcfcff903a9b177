//go:build !linux && !darwin && !windows

package host

// createdAt returns 0, because this system does not report the creation time.
func createdAt(string) int64 { return 0 }
