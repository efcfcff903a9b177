//go:build !linux && !darwin

package osfile

// OpenRealFolder opens a folder by a path without links. This system has no sandbox, so it does not detect a part of
// the path that has become a link.
func OpenRealFolder(path string) (*Folder, error) { return OpenFolder(path) }
