//go:build linux

package sandbox

import (
	"fmt"
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

// host is the support of a kernel for confining commands.
type host struct {
	name string
	// run makes a server run on such a machine.
	run func(t *testing.T, cmd *exec.Cmd)
	// enforced is set if commands can be confined, reading if commands that only read can be.
	enforced, reading bool
	// plain is set if the server runs as another user than root.
	plain bool
}

// hosts returns the machines that this one can play. The first has user namespaces, the second only Landlock, as many
// containers have, and the third neither. If the test runs as root, a plain user has the second, too.
func hosts() []host {
	namespaces, landlock := hasNamespaces(), hasLandlock()
	all := []host{
		{name: "with namespaces", run: func(*testing.T, *exec.Cmd) {}, enforced: namespaces, reading: namespaces || landlock},
		{name: "with Landlock only", run: denyNamespaces, reading: landlock},
		{name: "with nothing", run: func(t *testing.T, cmd *exec.Cmd) { denyNamespaces(t, cmd); denyLandlock(t, cmd) }},
	}
	if os.Geteuid() == 0 {
		all = append(all, host{name: "with Landlock only, as a plain user", run: denyNamespacesToPlainUser, reading: landlock,
			plain: true})
	}
	return all
}

func hasNamespaces() bool { return exec.Command("unshare", "--user", "true").Run() == nil }

// hasLandlock reports whether the kernel has the version of Landlock that confines commands without namespaces.
func hasLandlock() bool {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return errno == 0 && version >= 3
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

// eachReadingHost does the same as eachHost without the hosts that confine nothing. There, the user
// is asked about every command that opens a file, as the other tests require.
func eachReadingHost(t *testing.T, test func(t *testing.T, h host)) {
	t.Parallel()
	for _, h := range hosts() {
		if !h.reading {
			continue
		}
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
	enterNamespace(cmd, os.Geteuid())
}

// denyNamespacesToPlainUser makes a server of root run as a plain user in such a namespace.
func denyNamespacesToPlainUser(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	apptest.ThroughShell(cmd, fmt.Sprintf(`echo 0 > /proc/sys/user/max_user_namespaces
		exec setpriv --reuid=%[1]d --regid=%[1]d --clear-groups "$@"`, apptest.UnprivilegedID))
	enterNamespace(cmd, 0, apptest.UnprivilegedID)
}

// enterNamespace makes a process start in a user namespace with these users and groups.
func enterNamespace(cmd *exec.Cmd, ids ...int) {
	if !hasNamespaces() {
		return // this machine denies namespaces already
	}
	var own []syscall.SysProcIDMap
	for _, id := range ids {
		own = append(own, syscall.SysProcIDMap{ContainerID: id, HostID: id, Size: 1})
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: own, GidMappings: own,
		GidMappingsEnableSetgroups: true}
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
