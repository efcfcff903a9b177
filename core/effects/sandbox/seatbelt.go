package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sandboxExec is the program of macOS that confines itself by a profile, and then becomes a command.
// It is not searched in PATH, which commands could change.
const sandboxExec = "/usr/bin/sandbox-exec"

// Profile is the rules of a command in the language of Seatbelt, the sandbox of macOS.
type Profile struct {
	// Text has the rules. Of several that match an operation, the last one decides. No path is in it:
	// the rules name parameters, so that no name of a file can be read as a rule.
	Text string
	// Values are the values of the parameters P0, P1, ….
	Values []string
}

// Seatbelt returns the profile of the rules. It allows what the rules allow on Linux, except that
// without Network a command has no loopback either, and that hard links are denied: a second name of
// a protected file could be written.
func (r Rules) Seatbelt() Profile {
	p := &Profile{Text: basicRules}
	places := newPlaces(r)
	var kept []string
	for _, path := range slices.Sorted(maps.Keys(places)) { // outer places first
		for _, name := range slices.Compact([]string{path, stored(path)}) {
			p.addPlace(name, places[path])
			kept = append(kept, "(literal "+p.param(name)+")")
		}
	}
	for _, file := range r.Absent() {
		p.add("(deny file-write* (literal " + p.param(file) + "))")
	}
	if len(kept) > 0 {
		// A rename of a folder moves what is in it to a path without protection.
		p.add("(deny file-write-unlink " + strings.Join(kept, " ") + ")")
	}
	p.Text += deviceRules
	if r.Network {
		p.Text += networkRules
	}
	return *p
}

// addPlace adds the rules of a place and of all below it.
func (p *Profile) addPlace(path string, a access) {
	switch a {
	case written:
		p.add("(allow file-write* (subpath " + p.param(path) + "))")
	case shut:
		p.add("(deny file-write* (subpath " + p.param(path) + "))")
	case hidden:
		p.add("(deny file-read* file-write* (subpath " + p.param(path) + "))")
		p.add("(allow file-read* (subpath " + p.param(path+"/"+SharedFolder) + "))")
	}
}

func (p *Profile) add(rule string) { p.Text += rule + "\n" }

// param returns an expression whose value is a path.
func (p *Profile) param(path string) string {
	i := slices.Index(p.Values, path)
	if i < 0 {
		i = len(p.Values)
		p.Values = append(p.Values, path)
	}
	return fmt.Sprintf("(param \"P%d\")", i)
}

// Command returns the argument vector that runs a program under the profile.
func (p Profile) Command(program string, args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, errors.New("no command to confine")
	}
	command := []string{sandboxExec, "-p", p.Text}
	for i, value := range p.Values {
		if strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("cannot confine a command by the path %q: it holds a NUL byte", value)
		}
		command = append(command, "-D", fmt.Sprintf("P%d=%s", i, value))
	}
	return append(append(command, "--", program), args[1:]...), nil
}

// basicRules are about processes and services of the system. Some operations are not part of
// default, and are allowed unless a rule denies them: process-info* has the environment of other
// processes, as the setting procargs does.
const basicRules = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))
(allow file-map-executable)
(deny nvram*)
(allow sysctl-read)
(deny sysctl-read (sysctl-name-regex #"procargs"))
(allow file-read*)
(allow ipc-posix-sem)
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
`

// deviceRules are the devices that a command may use: no disks, its own terminal, and terminals that
// it makes. It may set the terminal that it has inherited, but open no other.
const deviceRules = `(deny file-read* file-write* (subpath "/dev"))
(allow file-read* (literal "/dev") (subpath "/dev/fd"))
(allow file-read-metadata (subpath "/dev"))
(allow file-write-data (subpath "/dev/fd"))
(allow file-read* file-write-data file-ioctl
  (literal "/dev/dtracehelper")
  (literal "/dev/null")
  (literal "/dev/random")
  (literal "/dev/tty")
  (literal "/dev/urandom")
  (literal "/dev/zero"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write*
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-ioctl (regex #"^/dev/ttys[0-9]+$"))
`

// networkRules allow the network and the search of names, and no sockets of services of the machine.
const networkRules = `(allow network-outbound (remote ip))
(allow network-inbound (local ip))
(allow network-bind (local ip))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.networkd")
  (global-name "com.apple.trustd.agent"))
`
