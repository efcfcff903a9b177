//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes returns the attributes of the process that applies the rules. It is the first process
// of its own namespaces and session. It ends with the thread that started it, and all processes of
// its namespaces end with it.
//
// Bare rules have no namespaces. Their process ends its command when it gets the signal.
func (r Rules) Attributes() (*syscall.SysProcAttr, error) {
	if r.Bare {
		return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}, nil
	}
	attributes := &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: syscall.SIGKILL,
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC,
	}
	if !r.Network {
		attributes.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Geteuid() != 0 {
		// The process maps its user itself, see mapUser: a server that is not dumpable cannot write the
		// maps of its children.
		attributes.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
		return attributes, nil
	}
	// Root keeps access to files of other users. Mapping root alone would remove it.
	var err error
	attributes.GidMappingsEnableSetgroups = true
	if attributes.UidMappings, err = identity("/proc/self/uid_map"); err == nil {
		attributes.GidMappings, err = identity("/proc/self/gid_map")
	}
	return attributes, err
}

// identity maps every id of this process's user namespace to itself.
func identity(path string) (maps []syscall.SysProcIDMap, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var first, outside, size int
		if _, err := fmt.Sscan(line, &first, &outside, &size); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		maps = append(maps, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
	}
	return maps, nil
}

// mapUser maps a plain user and its group to themselves, unless the server has mapped all ids.
// Commands see other users as nobody.
func (r Rules) mapUser() error {
	known, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || len(known) > 0 {
		return err
	}
	own := func(id int) string { return fmt.Sprintf("%d %d 1", id, id) }
	for _, file := range []struct{ name, text string }{
		{"setgroups", "deny"}, {"uid_map", own(r.User)}, {"gid_map", own(r.Group)},
	} {
		if err := os.WriteFile("/proc/self/"+file.name, []byte(file.text), 0); err != nil {
			return err
		}
	}
	return nil
}
