package app

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// product returns the name and version of Windows.
func product() string {
	major, minor, build := windows.RtlGetNtVersionNumbers()
	return fmt.Sprintf("Windows %d.%d.%d", major, minor, build&0xffff)
}
