//go:build !darwin && !windows

package app

// product returns "": os-release has the name of the system.
func product() string { return "" }
