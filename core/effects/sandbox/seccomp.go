//go:build linux

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// deniedCalls change namespaces and mounts, inspect other processes, use keys of the session,
// change the machine, or bypass the filter.
var deniedCalls = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG,
	unix.SYS_ACCT,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
}

// newNamespaces are flags of clone.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// architectures are the machines for which the filter is correct: little-endian, with the flags of
// clone in its first argument.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// Offsets in struct seccomp_data, the input of a filter. For arguments, the lower half is enough:
// all compared values have 32 bits.
const (
	callNumber   = 0
	callMachine  = 4
	callArgument = 16
)

// x32Calls is the first number of the x32 table of calls on amd64.
const x32Calls = 0x40000000

// filterCalls restricts the calling thread.
func (r Rules) filterCalls() error {
	program, err := r.filter()
	if err != nil {
		return err
	}
	code := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&code)), 0, 0)
}

// filter returns the program that decides on each call. It kills programs that use another table of
// calls. Denied calls fail with EPERM.
func (r Rules) filter() ([]unix.SockFilter, error) {
	machine, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("no filter is known for %s", runtime.GOARCH)
	}
	p := program{
		load(callMachine), jump(unix.BPF_JEQ, machine, 1, 0), kill,
		load(callNumber), jump(unix.BPF_JGE, x32Calls, 0, 1), kill,
	}
	for _, number := range deniedCalls {
		p = p.when(number, deny)
	}
	if r.Bare {
		p = p.bare()
	}
	// The C library then uses clone, whose flags the filter can check.
	p = p.when(unix.SYS_CLONE3, absent)
	p = p.when(unix.SYS_CLONE, load(callArgument), jump(unix.BPF_JSET, newNamespaces, 0, 1), deny, allow)
	p = p.when(unix.SYS_IOCTL, load(callArgument+8),
		jump(unix.BPF_JEQ, unix.TIOCSTI, 1, 0), jump(unix.BPF_JEQ, unix.TIOCLINUX, 0, 1), deny, allow)
	p = p.when(unix.SYS_SOCKET, sockets()...)
	p = p.when(unix.SYS_SOCKETPAIR, pairs()...)
	return append(p, allow), nil
}

// sockets allows sockets that belong to the network namespace or query it. Unix sockets are denied,
// because they could connect to any service with a known path or name.
func sockets() []unix.SockFilter {
	return []unix.SockFilter{
		load(callArgument),
		jump(unix.BPF_JEQ, unix.AF_INET, 4, 0),
		jump(unix.BPF_JEQ, unix.AF_INET6, 3, 0),
		jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 3),
		load(callArgument + 16),
		jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1),
		allow, deny,
	}
}

// pairs allows socket pairs that stay connected. Datagram pairs are denied, because they could send
// elsewhere.
func pairs() []unix.SockFilter {
	const kinds = 0xf // without flags
	return []unix.SockFilter{
		load(callArgument),
		jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 5),
		load(callArgument + 8),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: kinds},
		jump(unix.BPF_JEQ, unix.SOCK_STREAM, 1, 0),
		jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 0, 1),
		allow, deny,
	}
}

type program []unix.SockFilter

// when runs a block for one call. Each path of the block must end in a decision.
func (p program) when(number uint32, block ...unix.SockFilter) program {
	return append(append(p, jump(unix.BPF_JEQ, number, 0, uint8(len(block)))), block...)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jump skips yes instructions if a test is true, and no instructions if it is false.
func jump(test uint16, value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jt: yes, Jf: no}
}

var (
	allow = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	kill  = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS}
	deny  = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	// absent is the result of a kernel without the call.
	absent = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
)
