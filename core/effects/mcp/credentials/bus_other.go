//go:build !linux

package credentials

// hasKeyring reports whether the system can have a keyring.
func hasKeyring() bool { return true }
