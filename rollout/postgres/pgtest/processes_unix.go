//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attributes returns the attributes of a process that runs as a user.
func attributes(as *account) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{}
	if as != nil {
		a.Credential = &syscall.Credential{Uid: uint32(as.uid), Gid: uint32(as.gid)}
	}
	return a
}

// Crash kills all processes of the server with SIGKILL: they write nothing and send nothing to their
// clients. The operating system survives, so that what was written is there. Restart starts the server again.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	pid := s.cmd.Process.Pid
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	// From then on the server starts no children.
	awaitState(t, pid, "T")
	children := childrenOf(t, pid)
	for _, child := range children {
		kill(t, child, syscall.SIGKILL)
	}
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	<-s.done
	for _, child := range children { // their shared memory would prevent a restart
		awaitState(t, child, "Z")
	}
}

// awaitState waits until a process has a state of /proc/PID/stat, or is gone.
func awaitState(t testing.TB, pid int, state string) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(text), ") ")
		return err != nil || strings.HasPrefix(rest, state)
	}, time.Minute, time.Millisecond, "process %d does not get the state %s", pid, state)
}

// Pause suspends all processes of the server, and Resume resumes them. So does the end of the test, because a
// suspended server cannot be stopped.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	t.Cleanup(func() {
		select {
		case <-s.done:
		default:
			s.signal(t, syscall.SIGCONT)
		}
	})
}

// Resume resumes a suspended server.
func (s *Server) Resume(t testing.TB) { s.signal(t, syscall.SIGCONT) }

// signal sends a signal to the server and its children, which have sessions of their own.
func (s *Server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	pid := s.cmd.Process.Pid
	children := childrenOf(t, pid)
	require.NoError(t, syscall.Kill(pid, sig))
	for _, child := range children {
		kill(t, child, sig)
	}
}

// kill sends a signal to a process that may have ended.
func kill(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); !errors.Is(err, syscall.ESRCH) {
		require.NoError(t, err)
	}
}

func childrenOf(t testing.TB, pid int) (children []int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	require.NoError(t, err)
	for _, field := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(field)
		require.NoError(t, err)
		children = append(children, child)
	}
	return children
}

// freeMemory removes the shared memory of a server that has crashed. The seventh line of postmaster.pid has
// its key and its id. A server that ends removes the file and the memory itself.
func (s *Server) freeMemory() {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) < 7 {
		return
	}
	var key, id uintptr
	if _, err := fmt.Sscan(lines[6], &key, &id); err == nil {
		const remove = 0 // IPC_RMID
		_, _, _ = syscall.Syscall(syscall.SYS_SHMCTL, id, remove, 0)
	}
}
