//go:build !linux && !darwin

package doctor

// freeSpace reports that the free space is unknown.
func freeSpace(string) (uint64, bool) { return 0, false }

// openFiles reports that there is no limit.
func openFiles() (uint64, bool) { return 0, false }
