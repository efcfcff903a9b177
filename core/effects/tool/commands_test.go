package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
)

// The tests of this file run on every system, because their commands are this test program.

// requireEnded requires that the processes whose ids a command wrote have ended.
func requireEnded(t *testing.T, text string) {
	t.Helper()
	words := strings.Fields(text)
	require.NotEmpty(t, words)
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		require.NoError(t, err, "%q", text)
		require.False(t, alive(pid), "process %d", pid)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestPlayedCommandsHaveExitCodes(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for _, code := range []int{0, 1, 42, 255} {
			result, r := run(t, s, played("out:hello\n", fmt.Sprintf("exit:%d", code)))
			require.Equal(t, &code, result.ExitCode, result.Failure)
			require.Equal(t, "hello\n", r.text())
			require.Len(t, r.pids, 1)
		}
	})
}

func TestPlayedOutputAndErrorKeepTheirOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		result, r := run(t, s, played("out:1", "err:2", "out:3", "err:4", "out:5"))
		require.Equal(t, "12345", result.Output)
		require.Equal(t, result.Output, r.text())
	})
}

func TestPlayedInputIsEmpty(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		result, _ := run(t, s, played("lines", "out:end", "exit:2"))
		require.Equal(t, new(2), result.ExitCode)
		require.Equal(t, "end", result.Output)
	})
}

func TestPlayedArgumentsAreUnchanged(t *testing.T) {
	arguments := []string{"", "two words", `a"b`, `c:\d\`, `e f\`, `"`, `\\"\`, "%PATH%", "a&b|c^d", "é€😀", "'x'", "$y `z`", "*"}
	both(t, func(t *testing.T, s *Shell) {
		result, _ := run(t, s, played(append([]string{"say"}, arguments...)...))
		require.JSONEq(t, jsonOf(t, arguments), result.Output)
	})
}

func TestPlayedCommandsRunInTheirFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	c := played("dir", "env:GIVEN", "env:SystemRoot")
	c.Cwd = dir
	c.Environment.Set = map[string]string{"GIVEN": "a=b c"}
	both(t, func(t *testing.T, s *Shell) {
		result, _ := run(t, s, c)
		lines := strings.Split(result.Output, "\n")
		require.Equal(t, []string{dir, "a=b c", os.Getenv("SystemRoot")}, lines[:3])
	})
}

// TestPlayedBackgroundProcessesEndWithTheCommand: a child and a grandchild whose parents have ended.
func TestPlayedBackgroundProcessesEndWithTheCommand(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for _, steps := range [][]string{
			{"child", "sleep"},
			{"quiet", "sleep"},
			{"child", "child", "sleep"},
			{"child", "quiet", "sleep"},
		} {
			result, r := run(t, s, played(steps...))
			require.Equal(t, new(7), result.ExitCode, result.Failure)
			require.Less(t, result.Duration, bound)
			requireEnded(t, r.text())
		}
	})
}

func TestPlayedTimeoutEndsAllProcesses(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *Shell) {
		for _, steps := range [][]string{{"pid", "sleep"}, {"pid", "parent", "sleep"}} {
			c := played(steps...)
			c.Timeout = time.Second
			result, r := run(t, s, c)
			require.True(t, result.TimedOut)
			require.Contains(t, result.Failure, "ended by signal")
			require.GreaterOrEqual(t, result.Duration, c.Timeout)
			require.Less(t, result.Duration, c.Timeout+bound)
			require.Len(t, strings.Fields(r.text()), len(steps)-1)
			requireEnded(t, r.text())
		}
	})
}

func TestPlayedCancelEndsAllProcesses(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		result, r := cancelAfterOutput(t, s, played("parent", "sleep"))
		require.Nil(t, result.ExitCode)
		require.Contains(t, result.Failure, "ended by signal")
		requireEnded(t, r.text())
	})
}

func TestPlayedCommandCanEndItselfInTheGracePeriod(t *testing.T) {
	if reason := cannotAsk(); reason != "" {
		t.Skip(reason)
	}
	s := shells()["supervised"]
	s.KillGrace = 10 * time.Second
	result, _ := cancelAfterOutput(t, s, played("trap"))
	require.Equal(t, new(3), result.ExitCode, result.Failure)
	require.Equal(t, "ready\nbye\n", result.Output)
}

func TestPlayedOutputIsComplete(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		s.OutputLimit = 10 << 20
		result, r := run(t, s, played("fill:5000000", "out:end"))
		require.Equal(t, new(0), result.ExitCode)
		require.Len(t, r.text(), 5_000_003)
		require.True(t, strings.HasSuffix(r.text(), "xend"))
		require.Len(t, result.Output, 5_000_003)
	})
}

func TestPlayedCommandIsBlockedByBlockedOutput(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		release, blocked := make(chan struct{}), make(chan struct{}, 10_000)
		done := make(chan core.ToolResult, 1)
		size := 0
		go func() {
			done <- s.Run(t.Context(), played("fill:3000000"), nil, func(string) {}, func(piece string) {
				blocked <- struct{}{}
				<-release
				size += len(piece)
			})
		}()
		<-blocked
		select {
		case <-done:
			require.Fail(t, "Run returned before all output was passed on")
		case <-time.After(drainTime + 2*pumpTime):
		}
		close(release)
		require.Equal(t, new(0), (<-done).ExitCode)
		require.Equal(t, 3_000_000, size)
	})
}

func TestPlayedCancelWhileOutputIsBlocked(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		ctx, cancel := context.WithCancel(t.Context())
		release, entered := make(chan struct{}), make(chan string, 100)
		done := make(chan core.ToolResult, 1)
		go func() {
			done <- s.Run(ctx, played("pid", "fill:100000000"), nil, func(string) {}, func(piece string) {
				entered <- piece
				<-release
			})
		}()
		pid, _, _ := strings.Cut(<-entered, "\n")
		begin := time.Now()
		cancel()
		<-done
		require.Less(t, time.Since(begin), bound)
		requireEnded(t, pid)
		close(release)
	})
}

// TestPlayedCommandEndsWithAKilledServer: another process is the server.
func TestPlayedCommandEndsWithAKilledServer(t *testing.T) {
	server := exec.Command(program(), "play", "server", "pid", "parent", "sleep")
	pipe, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	lines := bufio.NewReader(pipe)
	var pids []int
	for range 2 {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		require.True(t, alive(pid))
		pids = append(pids, pid)
	}
	require.NoError(t, server.Process.Kill())
	server.Wait()
	require.Eventually(t, func() bool { return !alive(pids[0]) && !alive(pids[1]) }, bound, 5*time.Millisecond)
}

func TestPlayedCommandsRunAtTheSameTime(t *testing.T) {
	s := shells()["direct"]
	var runs sync.WaitGroup
	results := make([]core.ToolResult, 10)
	for i := range results {
		runs.Go(func() {
			results[i] = s.Run(t.Context(), played("quiet", "sleep"), nil, func(string) {}, func(string) {})
		})
	}
	runs.Wait()
	for _, result := range results {
		require.Equal(t, new(7), result.ExitCode, result.Failure)
		requireEnded(t, result.Output)
	}
}

func TestPlayedExecHasInputAndTwoStreams(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		k := startSession(t, s, Exec{Command: played("err:problem\n", "lines", "exit:6"), Input: true})
		k.write("one\ntw")
		k.until("got one\n")
		k.write("o\n")
		k.until("got two\n")
		require.NoError(t, k.input.Close())
		require.Equal(t, Exit{Code: 6}, k.ended())
		out, err := k.written()
		require.Equal(t, "got one\ngot two\n", out)
		require.Equal(t, "problem\n", err)
	})
}

func TestPlayedExecReleasesWriters(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		k := startSession(t, s, Exec{Command: played("out:up", "sleep"), Input: true})
		k.until("up")
		failed := make(chan error, 1)
		go func() {
			_, err := k.input.Write(make([]byte, 4<<20))
			failed <- err
		}()
		k.end()
		require.GreaterOrEqual(t, k.ended().Code, codeSignal)
		require.Error(t, <-failed)
	})
}

func TestPlayedExecTimesOut(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *Shell) {
		c := played("out:before", "sleep")
		c.Timeout = time.Second
		k := startSession(t, s, Exec{Command: c})
		require.Equal(t, Exit{Code: codeTimedOut, TimedOut: true}, k.ended())
		out, _ := k.written()
		require.Equal(t, "before", out)
	})
}

// TestPlayedTerminal types two lines.
func TestPlayedTerminal(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		c := played("console")
		c.TTY = true
		k := startSession(t, s, Exec{Command: c, Size: Size{Rows: 10, Cols: 40}})
		k.until("ready")
		k.write("one" + nextLine)
		k.until("got <one>")
		if err := k.input.Resize(Size{Rows: 20, Cols: 50}); cannotResize() == "" {
			require.NoError(t, err)
		}
		k.write("two" + nextLine)
		require.Equal(t, Exit{Code: 4}, k.ended())
		out, _ := k.written()
		require.Contains(t, out, "got <two>")
		require.Error(t, k.input.Resize(Size{Rows: 1, Cols: 1}))
	})
}

func TestPlayedTypingReachesTheTerminal(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		c := played("console")
		c.TTY, c.Stays = true, true
		keys := make(chan string, 2)
		var text strings.Builder
		said := 0
		result := s.Run(t.Context(), c, keys, func(string) {}, func(piece string) {
			text.WriteString(piece)
			for i, sign := range []string{"ready", "got <first>"} {
				if said == i && strings.Contains(text.String(), sign) {
					keys <- []string{"first\n", "second\n"}[i]
					said++
				}
			}
		})
		require.Equal(t, new(4), result.ExitCode, result.Failure)
		require.Contains(t, text.String(), "got <second>")
	})
}

func TestPlayedProgramIsConnected(t *testing.T) {
	stderr := make(chan string, 10)
	l, err := (&Shell{}).Connect(Program{Argv: []string{program(), "play", "err:up\n", "lines", "exit:3"},
		Dir: t.TempDir(), Env: os.Environ(), Stderr: func(line string) { stderr <- line }})
	require.NoError(t, err)
	require.Equal(t, "up", <-stderr)
	_, err = io.WriteString(l, "one\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(l).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "got one\n", line)
	l.CloseInput()
	<-l.Ended()
	require.EqualError(t, l.Outcome(), "it ended with exit code 3")
	require.NoError(t, l.Close())
}

func TestPlayedProgramThatIgnoresCloseIsKilled(t *testing.T) {
	l, err := (&Shell{}).Connect(Program{Argv: []string{program(), "play", "parent", "sleep"}, Env: os.Environ()})
	require.NoError(t, err)
	line, err := bufio.NewReader(l).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, l.Close())
	<-l.Ended()
	require.ErrorContains(t, l.Outcome(), "signal")
	requireEnded(t, line)
}

func TestPlayedCommandsThatDoNotStart(t *testing.T) {
	dir := t.TempDir()
	both(t, func(t *testing.T, s *Shell) {
		for _, c := range []struct {
			command core.Command
			want    []string
		}{
			{core.Command{}, []string{"names no program"}},
			{core.Command{Argv: []string{"x"}, Cwd: filepath.Join(dir, "none")},
				[]string{"none", "does not exist", "create it"}},
			{core.Command{Argv: []string{"x"}, Cwd: program()}, []string{"is not a directory"}},
			{core.Command{Argv: []string{"no-such-program"}}, []string{`"no-such-program"`, "not found in PATH", "install it"}},
			{core.Command{Argv: []string{"./none"}, Cwd: dir}, []string{`"./none"`, "check that it exists"}},
			{core.Command{Argv: []string{program(), "a\x00b"}}, []string{"NUL"}},
		} {
			result, r := run(t, s, c.command)
			require.Nil(t, result.ExitCode)
			for _, want := range c.want {
				require.Contains(t, result.Failure, want)
			}
			require.Empty(t, r.text())
		}
	})
}
