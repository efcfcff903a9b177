//go:build linux || darwin

package tool

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/core"
)

func TestTimeout(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		c := script("echo $$; sleep 60 & echo $!; wait")
		c.Timeout = 300 * time.Millisecond
		result, r := run(t, s, c)
		require.True(t, result.TimedOut)
		require.Equal(t, "ended by signal 15 (terminated)", result.Failure)
		require.GreaterOrEqual(t, result.Duration, c.Timeout)
		require.Less(t, result.Duration, c.Timeout+bound)
		requireGone(t, r.text())
	})
}

func TestCommandCanEndItselfInTheGracePeriod(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		s.KillGrace = 5 * time.Second
		result, _ := cancelAfterOutput(t, s, script(`trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.02; done`))
		require.Equal(t, 3, *result.ExitCode)
		require.Regexp(t, `^ready\n(Terminated\n)?bye\n$`, result.Output)
		require.False(t, result.TimedOut)
	})
}

// TestCancel: each script prints its process ids, and a cancellation ends all of them.
func TestCancel(t *testing.T) {
	for name, text := range map[string]string{
		"sleep":             "echo $$; sleep 60",
		"exec":              "echo $$; exec sleep 60",
		"ignores TERM":      "trap '' TERM HUP INT; echo $$; sleep 60 & echo $!; while :; do sleep 1; done",
		"a tree":            "echo $$; (echo $BASHPID; (echo $BASHPID; sleep 60 & echo $!; wait) & wait) & wait",
		"stopped":           "echo $$; kill -STOP $$",
		"own session":       "echo $$; setsid sleep 60 & echo $!; wait",
		"own group":         "set -m; echo $$; sleep 60 & echo $!; wait",
		"double fork":       "echo $$; (setsid bash -c 'echo $$; sleep 60' &); sleep 60",
		"deaf double fork":  "echo $$; (setsid bash -c 'trap \"\" TERM HUP; echo $$; sleep 60' >&1 &); sleep 60",
		"respawns":          "echo $$; trap 'sleep 60 & echo $!' TERM; while :; do sleep 0.01; done",
		"closed its output": "echo $$; exec >/dev/null 2>&1; sleep 60",
	} {
		if !runsHere(text) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, s *Shell) {
				result, r := cancelAfterOutput(t, s, script(text))
				require.Nil(t, result.ExitCode)
				require.Contains(t, result.Failure, "ended by signal")
				requireGone(t, r.text())
			})
		})
	}
}

func TestCancelEndsManyProcesses(t *testing.T) {
	needsLinux(t)
	both(t, func(t *testing.T, s *Shell) {
		_, r := cancelAfterOutput(t, s,
			script("pids=; for i in {1..60}; do setsid sleep 60 & pids+=\" $!\"; done; echo $pids; wait"))
		require.Len(t, pidsIn(t, r.text()), 60)
		requireGone(t, r.text())
	})
}

func TestCancelWhileTheCommandWrites(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		result, r := cancelAfterOutput(t, s, script("yes $$"))
		require.Contains(t, result.Failure, "ended by signal")
		pid, _, _ := strings.Cut(r.text(), "\n")
		requireGone(t, pid)
	})
}

// TestBackgroundProcessesEndWithTheCommand, with and without an open pipe.
func TestBackgroundProcessesEndWithTheCommand(t *testing.T) {
	for name, text := range map[string]string{
		"holds the pipe":  "sleep 60 & echo $!",
		"closes it":       "sleep 60 >/dev/null 2>&1 & echo $!",
		"ignores signals": "(trap '' TERM HUP; sleep 60) & echo $!",
		"own group":       "set -m; sleep 60 & echo $!",
		"own session":     "setsid sleep 60 >/dev/null 2>&1 & echo $!",
		"daemon":          "exec 3>&1; echo $(setsid bash -c 'sleep 60 >&3 2>&1 & echo $!')",
		"quiet daemon":    "echo $(setsid bash -c 'sleep 60 >/dev/null 2>&1 & echo $!')",
		"nohup":           "nohup sleep 60 >/dev/null 2>&1 & echo $!",
	} {
		if !runsHere(text) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, s *Shell) {
				result, r := run(t, s, script(text+"; exit 7"))
				require.Equal(t, 7, *result.ExitCode)
				require.Less(t, result.Duration, bound)
				requireGone(t, r.text())
			})
		})
	}
}

// TestBackgroundProcessesCanFinish within drainTime. On a busy machine this needs several tries.
func TestBackgroundProcessesCanFinish(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		require.Eventually(t, func() bool {
			result, _ := run(t, s, script("(sleep 0.02; echo late) & echo early"))
			return result.Output == "early\nlate\n"
		}, bound, time.Millisecond)
	})
}

func TestSupervisorReportsHowTheCommandEnded(t *testing.T) {
	s := shells()["supervised"]
	result, _ := run(t, s, script("(sleep 0.01; exit 4) & (exit 5) & exit 6"))
	require.Equal(t, 6, *result.ExitCode)
	s.Supervisor = []string{"/bin/sh", "-c", "exit 9", "sh"}
	result, _ = run(t, s, script("true"))
	require.Equal(t, "exit status 9, and its supervisor ended as well", result.Failure)
	s.Supervisor = []string{"/bin/sh", "-c", "echo no such luck >&3", "sh"}
	result, _ = run(t, s, script("true"))
	require.Equal(t, "no such luck\n", result.Failure)
}

func TestCommandEndsWithAKilledSupervisor(t *testing.T) {
	needsLinux(t)
	s := shells()["supervised"]
	result, r := run(t, s, script("echo $$ $(setsid bash -c 'sleep 60 >/dev/null & echo $!'); kill -KILL $PPID; sleep 60"))
	require.Contains(t, result.Failure, "ended by signal 9 (killed), and its supervisor ended as well")
	requireGone(t, r.text())
}

func TestCommandEndsWithAStoppedSupervisor(t *testing.T) {
	s := shells()["supervised"]
	result, r := cancelAfterOutput(t, s, script("kill -STOP $PPID; echo $$; sleep 60"))
	require.Contains(t, result.Failure, "and its supervisor ended as well")
	requireGone(t, r.text())
}

// TestCommandEndsWithAKilledServer runs TestServerToBeKilled in another process as the server.
func TestCommandEndsWithAKilledServer(t *testing.T) {
	server := exec.Command(program(), "-test.run=^TestServerToBeKilled$")
	server.Env = append(os.Environ(), "PLAY_SERVER=1")
	pipe, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	buf := make([]byte, 100)
	n, err := pipe.Read(buf)
	require.NoError(t, err)
	require.NoError(t, server.Process.Kill())
	server.Wait()
	require.Eventually(t, func() bool {
		for _, pid := range pidsIn(t, string(buf[:n])) {
			if alive(pid) {
				return false
			}
		}
		return true
	}, bound, 5*time.Millisecond)
}

func TestServerToBeKilled(t *testing.T) {
	text := "true"
	if os.Getenv("PLAY_SERVER") != "" {
		text = "sleep 60 & echo $$ $!; wait"
	}
	result := shells()["supervised"].Run(t.Context(), script(text), nil, func(string) {},
		func(text string) { os.Stdout.WriteString(text) })
	require.Equal(t, 0, *result.ExitCode)
}

func TestBlockedOutputBlocksTheCommand(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		release := make(chan struct{})
		blocked := make(chan struct{}, 1000)
		var text strings.Builder
		done := make(chan core.ToolResult)
		go func() {
			done <- s.Run(t.Context(), script("yes | head -c 300000; echo end"), nil, func(string) {}, func(piece string) {
				blocked <- struct{}{}
				<-release
				text.WriteString(piece)
			})
		}()
		<-blocked
		select {
		case <-done:
			require.Fail(t, "Run returned before all output was passed on")
		case <-time.After(drainTime + 2*pumpTime):
		}
		close(release)
		require.Equal(t, 0, *(<-done).ExitCode)
		require.Len(t, text.String(), 300004)
	})
}

func TestCancelWhileOutputIsBlocked(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for _, text := range []string{"echo $$; trap '' TERM; yes", "echo $$"} {
			ctx, cancel := context.WithCancel(t.Context())
			release := make(chan struct{})
			entered, left := make(chan string, 100), make(chan struct{}, 100)
			done := make(chan core.ToolResult)
			go func() {
				done <- s.Run(ctx, script(text), nil, func(string) {}, func(piece string) {
					entered <- piece
					<-release
					left <- struct{}{}
				})
			}()
			first := <-entered
			begin := time.Now()
			cancel()
			result := <-done
			require.Less(t, time.Since(begin), bound)
			pid, _, _ := strings.Cut(first, "\n")
			requireGone(t, pid)
			require.Contains(t, result.Output, pid)
			close(release)
			<-left
			require.Empty(t, entered, "output was called after the end")
		}
	})
}

// If the command has ended by itself, Run waits for output until it is cancelled.
func TestCancelAfterTheEndWhileOutputIsBlocked(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		entered := make(chan string, 1)
		done := make(chan core.ToolResult)
		go func() {
			done <- s.Run(ctx, script("echo $PPID $$; exit 3"), nil, func(string) {}, func(piece string) {
				entered <- piece
				<-release
			})
		}()
		pids := pidsIn(t, <-entered)
		reaped := func() bool {
			_, leader := processOf(pids[1])
			return !leader && (len(s.Supervisor) == 0 || !alive(pids[0]))
		}
		require.Eventually(t, reaped, bound, time.Millisecond)
		cancel()
		require.Equal(t, 3, *(<-done).ExitCode)
		close(release)
	})
}

func TestTimeoutWhileStartedIsBlocked(t *testing.T) {
	release := make(chan struct{})
	c := script("echo hi; sleep 60")
	c.Timeout = 50 * time.Millisecond
	result := shells()["direct"].Run(t.Context(), c, nil, func(string) { <-release },
		func(string) { panic("output after the end") })
	require.True(t, result.TimedOut)
	require.Less(t, result.Duration, bound)
	close(release)
}

func TestOtherProcessesAreNotSignalled(t *testing.T) {
	needsLinux(t)
	other := exec.Command("sleep", "60")
	other.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	require.NoError(t, other.Start())
	both(t, func(t *testing.T, s *Shell) {
		started := make(chan struct{})
		neighbour := make(chan core.ToolResult)
		ctx, cancel := context.WithCancel(t.Context())
		r := newRecorder()
		go func() {
			neighbour <- s.Run(ctx, script("(setsid sleep 60 & echo $!); sleep 60"), nil, r.started, func(text string) {
				r.output(text)
				close(started)
			})
		}()
		<-started
		_, _ = run(t, s, script("setsid sleep 60 & exit 0"))
		for _, pid := range append(pidsIn(t, r.text()), other.Process.Pid) {
			require.True(t, alive(pid))
		}
		cancel()
		require.Contains(t, (<-neighbour).Failure, "ended by signal")
	})
	require.NoError(t, other.Process.Kill())
	require.Error(t, other.Wait())
}
