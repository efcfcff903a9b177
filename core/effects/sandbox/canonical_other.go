//go:build !darwin

package sandbox

import "path/filepath"

// canonical returns the path by which the kernel knows a file.
func canonical(path string) (string, error) { return filepath.EvalSymlinks(path) }

// stored does the same as canonical, for a path whose last name may be a link, which it does not
// follow.
func stored(path string) string { return path }
