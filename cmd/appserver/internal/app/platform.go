package app

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machines has the names that uname prints for processors, by the names of Go. MacOS prints arm64.
var machines = map[string]string{"amd64": "x86_64", "linux/arm64": "aarch64", "386": "i686"}

// platform returns the system, its version and the processor: "Debian 12; x86_64".
func platform() string {
	machine := cmp.Or(machines[runtime.GOOS+"/"+runtime.GOARCH], machines[runtime.GOARCH], runtime.GOARCH)
	return cmp.Or(product(), system()) + "; " + machine
}

// system returns the name and version of the distribution from os-release, or the name of the kernel.
func system() string {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return runtime.GOOS
	}
	members := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		members[name] = strings.Trim(value, `"'`)
	}
	name, _, _ := strings.Cut(members["NAME"], " ")
	if name == "" {
		return runtime.GOOS
	}
	return strings.TrimSpace(name + " " + members["VERSION_ID"])
}

// terminal returns the name of the terminal from the environment.
func terminal(getenv func(string) string) string {
	for _, name := range []string{"TERM_PROGRAM", "TERM"} {
		if v := getenv(name); v != "" {
			return v
		}
	}
	return "unknown"
}

// program identifies this build of the program by its version, and the size and time of its file.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return Version
	}
	info, err := os.Stat(path)
	if err != nil {
		return Version
	}
	return fmt.Sprintf("%s %d %d", Version, info.Size(), info.ModTime().UnixNano())
}
