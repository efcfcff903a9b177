//go:build linux && !posix

package tool

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// noConfinement is part of the reason why a command cannot be confined.
const noConfinement = "namespaces"

// TestSupervisorEndsDaemonsWithoutTheMark: their parent has ended, and they have their own session
// and an empty environment.
func TestSupervisorEndsDaemonsWithoutTheMark(t *testing.T) {
	s := shells()["supervised"]
	result, r := run(t, s, script("echo $(setsid env -i bash -c 'sleep 60 >/dev/null 2>&1 & echo $!')"))
	require.Equal(t, 0, *result.ExitCode)
	requireGone(t, r.text())

	_, r = cancelAfterOutput(t, s,
		script("echo $(setsid env -i bash -c 'trap \"\" TERM; sleep 60 >/dev/null & echo $!'); sleep 60"))
	requireGone(t, r.text())
}

// TestSupervisorReapsDaemons: otherwise a script that waits for the end of its daemon would wait
// forever.
func TestSupervisorReapsDaemons(t *testing.T) {
	s := shells()["supervised"]
	result, _ := run(t, s, script(`
		pid=$(setsid bash -c 'sleep 60 >/dev/null & echo $!')
		kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.01; done; echo gone`))
	require.Equal(t, "gone\n", result.Output)
}

func TestSupervisorGivesUpOnUnkillableProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reaper{signalAll: func(unix.Signal) {}, exited: make(chan struct{}), gone: make(chan struct{})}
		ends := make(chan os.Signal, 1)
		ends <- unix.SIGTERM
		begin := time.Now()
		r.await(ends, time.Minute)
		require.InDelta(t, time.Minute+killTime, time.Since(begin), float64(time.Second))
		close(r.exited)
		r.await(ends, time.Minute)
	})
	require.ErrorContains(t, unkillable(7), "process 7 did not end within 1s of SIGKILL")
}

func TestSuperviseRejectsWrongArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"1s"}, {"soon", "true"}} {
		_, err := supervise(args, nil)
		require.Error(t, err)
	}
}

func TestConfineRejectsWrongArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"no rules"}} {
		_, err := confine(args)
		require.Error(t, err)
	}
	require.ErrorContains(t, Probe([]string{"/nowhere"}), "cannot make namespaces")
	require.Error(t, Probe([]string{"/bin/false"}))
	require.ErrorContains(t, namespaceFailure(unix.ENOSPC), "user.max_user_namespaces")
	require.ErrorIs(t, namespaceFailure(unix.EPERM), unix.EPERM)
}
