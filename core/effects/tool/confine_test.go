//go:build linux || darwin

package tool

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/protocol"
)

// confined returns a shell that confines, and a command in its own workspace.
func confined(t *testing.T, text string) (*Shell, core.Command) {
	c := script(text)
	c.Cwd = t.TempDir()
	c.Workspace, c.Sandbox = c.Cwd, protocol.SandboxWorkspaceWrite.Policy()
	return &Shell{Env: BaseEnv(os.Environ()), Confiner: []string{program(), "confine"}}, c
}

// requireConfined runs a command that creates the file made. If the kernel cannot confine it, it
// must not run, and the result has the reason.
func requireConfined(t *testing.T, s *Shell, c core.Command) (result core.ToolResult, ok bool) {
	result, _ = run(t, s, c)
	if Probe(s.Confiner) == nil {
		return result, true
	}
	require.NotEmpty(t, result.Failure)
	require.NoFileExists(t, filepath.Join(c.Cwd, "made"))
	return result, false
}

func TestConfinedCommandsHaveEqualResults(t *testing.T) {
	for text, want := range map[string]core.ToolResult{
		"exit 3": {ExitCode: new(3)},
		"echo $PWD | wc -l; exec 2>&1; echo x >&2": {ExitCode: new(0), Output: "1\nx\n"},
		"kill -KILL $$":             {Failure: "ended by signal 9 (killed)"},
		"kill -TERM 1; sleep 60":    {Failure: "ended by signal 15 (terminated)"},
		"(setsid sleep 60 &); exit": {ExitCode: new(0)},
	} {
		if !runsHere(text) {
			continue
		}
		s, c := confined(t, "> made; "+text)
		result, ok := requireConfined(t, s, c)
		if ok {
			result.Duration = 0
			require.Equal(t, want, result, text)
		}
	}
}

func TestConfinedCommandsEndInTime(t *testing.T) {
	needsLinux(t)
	s, c := confined(t, "> made; trap '' TERM; (setsid sleep 60 &); sleep 60")
	c.Timeout = 300 * time.Millisecond
	result, ok := requireConfined(t, s, c)
	require.Equal(t, ok, result.TimedOut)
	require.Less(t, result.Duration, bound)
}

func TestMissingConfinedProgramIsReported(t *testing.T) {
	s, c := confined(t, "")
	c.Argv = []string{"./none"}
	result, ok := requireConfined(t, s, c)
	if ok {
		require.Contains(t, result.Failure, `cannot start "./none" (no such file or directory)`)
	}
}

// TestRulesDependOnPolicyAndCommand: a policy with full access confines nothing, nor does any policy a command that
// may run unconfined.
func TestRulesDependOnPolicyAndCommand(t *testing.T) {
	s, c := confined(t, "exit 0")
	_, confines := s.rules(c)
	require.True(t, confines)
	c.Unconfined = true
	_, confines = s.rules(c)
	require.False(t, confines)
	result, _ := run(t, s, c)
	require.Equal(t, 0, *result.ExitCode)
	c.Unconfined = false
	c.Sandbox = protocol.SandboxDangerFullAccess.Policy()
	_, confines = s.rules(c)
	require.False(t, confines)
}
