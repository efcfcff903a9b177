//go:build !posix

package app

// self returns the path of this program, which stays valid when its file is replaced.
func self() string { return "/proc/self/exe" }
