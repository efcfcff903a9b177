//go:build linux || darwin

package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/core"
)

func TestLookPath(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	program := func(dir, name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, mode))
		return path
	}
	program(first, "plain", 0o644)
	require.NoError(t, os.Mkdir(filepath.Join(first, "folder"), 0o755))
	env := []string{"PATH=/nowhere", "OTHER=x", "PATH=" + first + "::.:" + second}
	for name, want := range map[string]string{
		"both":   program(first, "both", 0o755),
		"later":  program(second, "later", 0o755),
		"plain":  program(second, "plain", 0o755),
		"folder": program(second, "folder", 0o755),
		"./x":    "./x",
		"/a/b":   "/a/b",
	} {
		program(second, "both", 0o755)
		found, err := lookPath(name, "", env)
		require.NoError(t, err)
		require.Equal(t, want, found)
	}
	_, err := lookPath("start_test.go", "", env)
	require.ErrorContains(t, err, `the program "start_test.go" was not found in PATH (`+first)
	found, err := lookPath("sh", "", nil)
	require.NoError(t, err, "without a PATH the default folders are searched")
	require.True(t, strings.HasSuffix(found, "/bin/sh"), found)
}

func TestStartFailuresKeepTheirCause(t *testing.T) {
	err := startFailure("x", &os.PathError{Op: "fork/exec", Path: "/x", Err: unix.ENOENT})
	require.ErrorIs(t, err, unix.ENOENT)
	require.EqualError(t, err,
		`cannot start "x" (no such file or directory): check that it exists, and the interpreter that its first line names`)
	other := errors.New("no memory")
	require.EqualError(t, startFailure("x", other), `cannot start "x" (no memory): try again later`)
}

func TestPipeOfTheCommandIsBlocking(t *testing.T) {
	needsLinux(t)
	both(t, func(t *testing.T, s *Shell) {
		result, _ := run(t, s, script("grep flags /proc/self/fdinfo/1"))
		require.Regexp(t, `^flags:\s+0(100)?0*1\n$`, result.Output, "O_WRONLY without O_NONBLOCK")
	})
}

func TestInputIsEmpty(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		result, _ := run(t, s, core.Command{Argv: []string{"cat"}})
		require.Equal(t, 0, *result.ExitCode)
		require.Empty(t, result.Output)
	})
}

func TestEnvironmentIsOfTheShell(t *testing.T) {
	dir := t.TempDir()
	both(t, func(t *testing.T, s *Shell) {
		s.Env = []string{"PATH=" + os.Getenv("PATH"), "A=1", "PWD=/elsewhere"}
		marks := map[string]bool{}
		for range 2 {
			result, _ := run(t, s, core.Command{Argv: []string{"env"}, Cwd: dir})
			lines := strings.Split(strings.TrimSpace(result.Output), "\n")
			require.Len(t, lines, 4+len(plainOutput))
			require.Subset(t, lines, append([]string{"PATH=" + os.Getenv("PATH"), "A=1", "PWD=" + dir}, plainOutput...))
			for _, line := range lines {
				if strings.HasPrefix(line, markName+"=") {
					marks[line] = true
				}
			}
		}
		require.Len(t, marks, 2, "each run has its own mark")
		require.Len(t, s.Env, 3)
	})
}

func TestCommandLeadsItsSession(t *testing.T) {
	needsLinux(t)
	both(t, func(t *testing.T, s *Shell) {
		result, r := run(t, s,
			script(`read -r pid name state parent group session rest </proc/self/stat; echo $(($$ == group && $$ == session)) $$ $PPID`))
		words := strings.Fields(result.Output)
		require.Equal(t, "1", words[0])
		require.Len(t, r.pids, 1)
		require.Contains(t, words[1:], r.pids[0], "started gets the pid of the leader or its supervisor")
	})
}

// openDescriptors counts the open descriptors of this process.
func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(descriptors)
	require.NoError(t, err)
	return len(entries)
}

func TestRunsCloseTheirDescriptors(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		run(t, s, script("true"))
		before := openDescriptors(t)
		for range 5 {
			run(t, s, script("echo hi; exit 3"))
			run(t, s, core.Command{Argv: []string{"/no/such"}})
			run(t, s, script("sleep 60 & kill -KILL $$"))
		}
		require.LessOrEqual(t, openDescriptors(t), before)
	})
}

func TestRunsAtTheSameTime(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		var runs sync.WaitGroup
		results := make([]core.ToolResult, 20)
		for i := range results {
			runs.Go(func() {
				c := script(fmt.Sprintf("sleep 60 >/dev/null & echo $!; exit %d", i))
				results[i] = s.Run(t.Context(), c, nil, func(string) {}, func(string) {})
			})
		}
		runs.Wait()
		for i, result := range results {
			require.Empty(t, result.Failure)
			require.Equal(t, i, *result.ExitCode)
			requireGone(t, result.Output)
		}
	})
}
