//go:build linux || darwin

package tool

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// numbers returns the process ids of a table that belong to a tree.
func numbers(f processTree, table []process) []int {
	var found []int
	for _, p := range table {
		if f.has(p) {
			found = append(found, p.pid)
		}
	}
	return found
}

func TestTreeFollowsParentGroupAndSession(t *testing.T) {
	table := []process{
		{pid: 1, start: 1},
		{pid: 90, parent: 1, group: 90, session: 90, start: 150},
		{pid: 106, parent: 105, group: 106, session: 106, start: 160},
		{pid: 105, parent: 104, group: 105, session: 105, start: 150},
		{pid: 104, parent: 1, group: 103, session: 103, start: 140},
		{pid: 103, parent: 101, group: 103, session: 103, start: 130},
		{pid: 102, parent: 1, group: 102, session: 100, start: 120},
		{pid: 101, parent: 1, group: 100, session: 90, start: 110},
		{pid: 100, parent: 50, group: 100, session: 100, start: 100, zombie: true},
	}
	f := processTree{root: 100, seen: map[int]uint64{100: 100}}
	f.add(table, f.related)
	require.Equal(t, []int{106, 105, 104, 103, 102, 101, 100}, numbers(f, table))
}

func TestTreeKeepsOrphans(t *testing.T) {
	f := processTree{root: 100, seen: map[int]uint64{100: 100}}
	child := process{pid: 101, parent: 100, group: 101, session: 101, start: 110}
	f.add([]process{child}, f.related)
	child.parent = 1
	later := []process{child, {pid: 102, parent: 1, group: 101, session: 101, start: 120}}
	f.add(later, f.related)
	require.Equal(t, []int{101, 102}, numbers(f, later))
}

func TestTreeIgnoresReusedProcessIDs(t *testing.T) {
	f := processTree{root: 100, seen: map[int]uint64{100: 100, 101: 110}}
	again := []process{{pid: 101, parent: 1, group: 7, session: 7, start: 500}}
	f.add(again, f.related)
	require.Empty(t, numbers(f, again))
}

func TestTreeAddsMarkedProcessesAndTheirChildren(t *testing.T) {
	f := processTree{root: 100, seen: map[int]uint64{100: 100}}
	table := []process{
		{pid: 202, parent: 201, group: 202, session: 202},
		{pid: 201, parent: 1, group: 201, session: 201},
		{pid: 300, parent: 1, group: 300, session: 300},
	}
	f.add(table, func(p process) bool { return p.pid == 201 })
	f.add(table, f.related)
	require.Equal(t, []int{202, 201}, numbers(f, table))
}

// child starts a program in its own session that runs until the test ends.
func child(t *testing.T, env []string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

func TestProcessTableHasThisProcess(t *testing.T) {
	table, err := processes()
	require.NoError(t, err)
	var self *process
	for _, p := range table {
		if p.pid == os.Getpid() {
			self = &p
		}
	}
	require.NotNil(t, self)
	require.Equal(t, os.Getppid(), self.parent)
	require.Equal(t, unix.Getpgrp(), self.group)
	session, err := unix.Getsid(0)
	require.NoError(t, err)
	require.Equal(t, session, self.session)
	require.Positive(t, self.start)
	require.False(t, self.zombie)
	require.Equal(t, self.start, startOf(os.Getpid()))
}

func TestEndedProcessHasNoStart(t *testing.T) {
	cmd := exec.Command("true")
	require.NoError(t, cmd.Run())
	require.Zero(t, startOf(cmd.Process.Pid))
	_, ok := processOf(cmd.Process.Pid)
	require.False(t, ok)
}

func TestMarksAreReadFromTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		env     []string
		carries bool
	}{
		{[]string{"A=1", "MARK=x", "B=2"}, true},
		{[]string{"MARK=y"}, false},
		{[]string{"A=1"}, false},
		{[]string{}, false},
	} {
		p, ok := processOf(child(t, c.env).Process.Pid)
		require.True(t, ok)
		var carries bool
		require.Eventually(t, func() (known bool) {
			carries, known = marked(p, "MARK=x")
			return known
		}, bound, time.Millisecond)
		require.Equal(t, c.carries, carries, c.env)
	}
	carries, known := marked(process{pid: 1 << 30}, "MARK=x")
	require.False(t, carries)
	require.True(t, known, "a process that has ended")
}

func TestEndKillsTheTreeOnly(t *testing.T) {
	marked := child(t, []string{"MARK=x"})
	other := child(t, []string{"MARK=y"})
	f := processTree{root: 1 << 30, mark: "MARK=x", start: startOf(marked.Process.Pid)}
	begin := time.Now()
	f.end(begin.Add(bound))
	require.Less(t, time.Since(begin), bound)
	require.False(t, alive(marked.Process.Pid))
	require.True(t, alive(other.Process.Pid))
}

func TestTreeIgnoresOlderProcesses(t *testing.T) {
	older := child(t, []string{"MARK=x"})
	f := processTree{root: older.Process.Pid, mark: "MARK=x", start: startOf(older.Process.Pid) + 1}
	require.Eventually(t, func() bool { // other processes of the machine start meanwhile
		members, unsure, err := f.members()
		require.NoError(t, err)
		require.Empty(t, members)
		return !unsure
	}, bound, time.Millisecond)
}
