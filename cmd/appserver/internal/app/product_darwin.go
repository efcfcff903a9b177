package app

import "golang.org/x/sys/unix"

// product returns the name and version of macOS.
func product() string {
	version, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return "Mac OS"
	}
	return "Mac OS " + version
}
