//go:build !linux && !darwin && !windows

package host

// createdAt is not known here.
func createdAt(string) int64 { return 0 }
