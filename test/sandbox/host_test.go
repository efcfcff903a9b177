//go:build linux

package sandbox

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/test/apptest"
)

// host is what the kernel of a machine offers to confine commands.
type host struct {
	name string
	// run makes a server run on such a machine.
	run func(t *testing.T, cmd *exec.Cmd)
	// enforced is set if commands can be confined, reading if commands that only read can be.
	enforced, reading bool
}

// hosts are the machines that this one can play. The first has user namespaces, the second only Landlock, as many
// containers have, and the third neither.
func hosts() []host {
	return []host{
		{"with namespaces", func(*testing.T, *exec.Cmd) {}, true, true},
		{"with Landlock only", denyNamespaces, false, true},
		{"with nothing", func(t *testing.T, cmd *exec.Cmd) { denyNamespaces(t, cmd); denyLandlock(t, cmd) }, false, false},
	}
}

// eachHost runs a test with a server on each host that this machine can play.
func eachHost(t *testing.T, test func(t *testing.T, h host)) {
	t.Parallel()
	for _, h := range hosts() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			test(t, h)
		})
	}
}

// denyNamespaces makes a server run in a user namespace that has no others.
func denyNamespaces(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	apptest.ThroughShell(cmd, `echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"`)
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, UidMappings: own(os.Geteuid()), GidMappings: own(os.Getegid())}
	if exec.Command("unshare", "--user", "true").Run() != nil {
		cmd.SysProcAttr = nil // this machine denies them already
	}
}

// withoutLandlock is the argument by which this test program runs another one on a kernel without Landlock.
const withoutLandlock = "without-landlock"

func denyLandlock(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd.Args = append([]string{self, withoutLandlock, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
}

// runWithoutLandlock replaces this process by a program for which Landlock does not exist.
func runWithoutLandlock(argv []string) {
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_LANDLOCK_CREATE_RULESET, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		err = syscall.Exec(argv[0], argv, os.Environ())
	}
	panic(err)
}
