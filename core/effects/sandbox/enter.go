//go:build linux

package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Enter sets up the users, files, processes and network that the calling process and its
// descendants see. The process must have been started with [Rules.Attributes].
//
// Bare rules set up nothing: [Rules.Restrict] does all of it.
func (r Rules) Enter() error {
	if r.Bare {
		return closeMemory()
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"map its user", r.mapUser},
		{"close itself to the command", closeMemory},
		{"limit processes", limitProcesses},
		{"arrange its files", r.arrange},
		{"bring up a loopback", r.loopback},
		{"enter the working directory", r.enterDirectory},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("cannot %s: %w", step.name, err)
		}
	}
	return nil
}

// closeMemory prevents the command from reading and changing this process, which is the first of
// its namespace and has more capabilities.
func closeMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// enterDirectory enters the working directory by its path. The inherited one belongs to a mount
// from before.
func (r Rules) enterDirectory() error {
	dir := r.Directory
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	return os.Chdir(dir)
}

// loopback enables the only interface of the network namespace.
func (r Rules) loopback() error {
	if r.Network {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
