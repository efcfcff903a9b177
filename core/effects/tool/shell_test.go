//go:build linux || darwin

package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/core"
)

// script returns a command for bash.
func script(text string) core.Command {
	return core.Command{Argv: []string{"/bin/bash", "-c", text}, Cwd: "/"}
}

// runsHere reports whether a script needs no program that only Linux has. MacOS has neither setsid nor
// /proc, and its bash is older.
func runsHere(text string) bool {
	return runtime.GOOS == "linux" || !strings.Contains(text, "setsid") && !strings.Contains(text, "/proc/") &&
		!strings.Contains(text, "BASHPID")
}

// needsLinux skips a test whose scripts run on Linux only.
func needsLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("its scripts need setsid or /proc")
	}
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	p, ok := processOf(pid)
	return ok && !p.zombie
}

// pidsIn returns the numbers in a text. It skips the messages of bash about ended jobs.
func pidsIn(t *testing.T, text string) []int {
	t.Helper()
	var pids []int
	for _, word := range strings.Fields(text) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	require.NotEmpty(t, pids, "%q", text)
	return pids
}

// requireGone requires that the processes whose ids a command wrote, their groups and their
// sessions have ended.
func requireGone(t *testing.T, text string) {
	t.Helper()
	table, err := processes()
	require.NoError(t, err)
	for _, pid := range pidsIn(t, text) {
		require.False(t, alive(pid), "process %d", pid)
		for _, p := range table {
			require.False(t, !p.zombie && (p.group == pid || p.session == pid || p.parent == pid), "%+v of %d", p, pid)
		}
	}
}

func TestExitCodes(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for _, code := range []int{0, 1, 42, 255} {
			result, r := run(t, s, script(fmt.Sprintf("echo out; exit %d", code)))
			require.Equal(t, &code, result.ExitCode)
			require.Empty(t, result.Failure)
			require.Equal(t, "out\n", result.Output)
			require.Equal(t, "out\n", r.text())
			require.Len(t, r.pids, 1)
			require.Positive(t, result.Duration)
			require.False(t, result.TimedOut)
		}
	})
}

func TestDeathBySignal(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for signal, want := range map[string]string{"KILL": "signal 9 (killed)", "SEGV": "signal 11 (segmentation fault)",
			"TERM": "signal 15 (terminated)"} {
			result, _ := run(t, s, script("ulimit -c 0; kill -"+signal+" $$"))
			require.Nil(t, result.ExitCode)
			require.Equal(t, "ended by "+want, result.Failure)
		}
	})
}

func TestOutputAndErrorKeepTheirOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		result, r := run(t, s, script("for i in 1 2 3; do echo o$i; echo e$i >&2; done"))
		require.Equal(t, "o1\ne1\no2\ne2\no3\ne3\n", result.Output)
		require.Equal(t, result.Output, r.text())
	})
}

func TestCommandsInheritNoSecretsAndNoFiles(t *testing.T) {
	needsLinux(t)
	leak, err := os.Open("/dev/null")
	require.NoError(t, err)
	defer leak.Close()
	_, err = unix.FcntlInt(leak.Fd(), unix.F_SETFD, 0)
	require.NoError(t, err)
	t.Setenv("PROVIDER_API_KEY", "sk-hidden")
	t.Setenv("OTHER", "sk-named")
	t.Setenv("APPSERVER_LOG", "debug")
	for name, s := range shells() {
		s.Env = BaseEnv(os.Environ(), "OTHER")
		s.Secrets = func() []string { return []string{"PROVIDER_API_KEY"} }
		result, _ := run(t, s, script(`env; ls -l /proc/self/fd; cat /proc/$PPID/environ | tr '\0' '\n'`))
		if name == "supervised" {
			require.NotContains(t, result.Output, "sk-", name)
		}
		own, _, _ := strings.Cut(result.Output, "total 0")
		require.NotContains(t, own, "sk-")
		require.NotContains(t, own, "APPSERVER_LOG")
		require.Contains(t, own, "PATH=")
		require.Contains(t, own, "PWD=/\n")

		result, _ = run(t, s,
			script(`cd /proc/self/fd; echo *; read x || echo eof; (: </dev/tty) 2>/dev/null || echo no terminal`))
		require.Equal(t, "0 1 2\neof\nno terminal\n", strings.ReplaceAll(result.Output, " 3", ""), name)
	}
}

func TestProgramsAreFoundInThePathOfTheCommand(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "greet"), []byte("#!/bin/sh\necho hello from $PWD\n"), 0o755))
	for _, s := range shells() {
		s.Env = []string{"PATH=relative:" + dir}
		result, _ := run(t, s, core.Command{Argv: []string{"greet"}, Cwd: dir})
		require.Equal(t, "hello from "+dir+"\n", result.Output)
		result, _ = run(t, s, core.Command{Argv: []string{"./greet"}, Cwd: dir})
		require.Equal(t, "hello from "+dir+"\n", result.Output)
	}
}

func TestStartFailuresHaveCauseAndAdvice(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("#!/nowhere\n"), 0o755))
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("hello"), 0o755))
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o644))
	both(t, func(t *testing.T, s *Shell) {
		for _, c := range []struct {
			command core.Command
			want    []string
		}{
			{core.Command{}, []string{"names no program"}},
			{core.Command{Argv: []string{""}}, []string{"names no program"}},
			{core.Command{Argv: []string{"ls"}, Cwd: dir + "/none"}, []string{dir + "/none", "does not exist", "create it"}},
			{core.Command{Argv: []string{"ls"}, Cwd: file}, []string{file, "not a directory", "another one"}},
			{core.Command{Argv: []string{"ls"}, Cwd: file + "/x"}, []string{file + "/x", "cannot be used", "another one"}},
			{core.Command{Argv: []string{"no-such-program"}, Cwd: dir},
				[]string{`"no-such-program"`, "not found in PATH", "install it"}},
			{core.Command{Argv: []string{"/no/such"}, Cwd: dir}, []string{`"/no/such"`, "no such file", "check that it exists"}},
			{core.Command{Argv: []string{file}, Cwd: dir}, []string{file, "interpreter"}},
			{core.Command{Argv: []string{text}, Cwd: dir}, []string{text, "exec format error", "#!"}},
			{core.Command{Argv: []string{plain}, Cwd: dir}, []string{plain, "permission denied", "chmod +x"}},
			{core.Command{Argv: []string{"echo", strings.Repeat("x", 4<<20)}, Cwd: dir},
				[]string{`"echo"`, "argument list too long", "fewer"}},
			{core.Command{Argv: []string{"echo", "a\x00b"}, Cwd: dir}, []string{`"echo"`, "NUL"}},
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

func TestCancelledBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newRecorder()
	result := shells()["direct"].Run(ctx, script("echo hi"), nil, r.started, r.output)
	require.Equal(t, "cancelled before it was started", result.Failure)
	require.Empty(t, r.pids)
}

func TestOutputIsDecoded(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		result, r := run(t, s, script(`printf 'a\xffb\xe2\x82'; sleep 0.05; printf '\xac\xe2\x82'`))
		require.Equal(t, "a\ufffdb€\ufffd\ufffd", result.Output)
		require.Equal(t, result.Output, r.text())
		for _, piece := range r.pieces {
			require.True(t, utf8.ValidString(piece), "%q", piece)
		}
	})
}

func TestLongOutputIsCutInTheMiddle(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		s.OutputLimit, s.WireLimit = 1000, 5001
		result, r := run(t, s, script("for ((i = 0; i < 5000; i++)); do echo é$i; done"))
		require.Equal(t, 0, *result.ExitCode)
		require.Regexp(t, `^é0\né1\n(?s:.*)\n\[\.\.\. \d+ bytes cut \.\.\.\]\n(?s:.*)\né4999\n$`, result.Output)
		require.InDelta(t, 1000, len(result.Output), 50)
		require.True(t, utf8.ValidString(result.Output))

		notice := r.pieces[len(r.pieces)-1]
		require.Equal(t, core.MoreOutput, notice)
		passed := strings.TrimSuffix(r.text(), notice)
		require.True(t, utf8.ValidString(passed))
		require.InDelta(t, 5000, len(passed), 1)
	})
}

func TestLongOutputNeedsLittleMemory(t *testing.T) {
	s := shells()["direct"]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak uint64
	result := s.Run(t.Context(), script("head -c 100000000 /dev/zero | tr '\\0' x"), nil, func(string) {},
		func(text string) {
			require.LessOrEqual(t, len(text), 3*readSize)
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapAlloc)
		})
	require.Equal(t, 0, *result.ExitCode)
	require.Contains(t, result.Output, "[... 99960000 bytes cut ...]")
	require.Less(t, int64(peak)-int64(before.HeapAlloc), int64(16<<20))
}
