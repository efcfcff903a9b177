//go:build linux && !posix

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

// eachReading runs a test with and without namespaces, as far as this machine can confine reading.
func eachReading(t *testing.T, test func(t *testing.T, s *Shell, c core.Command)) {
	for name, unconfined := range map[string]bool{"namespaces": false, "Landlock": true} {
		t.Run(name, func(t *testing.T) {
			s, c := confined(t, "")
			probe := Probe
			if unconfined {
				probe = ProbeReading
			}
			if err := probe(s.Confiner); err != nil {
				t.Skip(err)
			}
			c.Access, c.Unconfined, c.Sandbox = core.AccessReading, unconfined, protocol.SandboxDangerFullAccess.Policy()
			test(t, s, c)
		})
	}
}

// TestReadingCommandsCannotWrite requires that a command that reads is confined under any sandbox policy.
func TestReadingCommandsCannotWrite(t *testing.T) {
	eachReading(t, func(t *testing.T, s *Shell, c core.Command) {
		file := filepath.Join(c.Cwd, "a")
		require.NoError(t, os.WriteFile(file, []byte("as it was"), 0o644))
		c.Argv = []string{"/bin/sh", "-c", "cat a; echo x > a; rm a; chmod 777 a; touch made; echo > /dev/null && echo; exit 3"}
		result, _ := run(t, s, c)
		require.Equal(t, 3, *result.ExitCode)
		require.Regexp(t, `^as it was.*(?s:.*)\n$`, result.Output)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "as it was", string(text))
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o644), info.Mode())
		require.NoFileExists(t, filepath.Join(c.Cwd, "made"))
	})
}

// TestReadingCommandsEndInTime requires that no process of a command is left after a timeout, though the supervisor is
// restricted as well.
func TestReadingCommandsEndInTime(t *testing.T) {
	eachReading(t, func(t *testing.T, s *Shell, c core.Command) {
		c.Argv = []string{"/bin/bash", "-c", "trap '' TERM; (setsid sleep 61 &); echo $$; sleep 61"}
		c.Timeout = 300 * time.Millisecond
		begin := time.Now()
		result, _ := run(t, s, c)
		require.True(t, result.TimedOut)
		require.Less(t, time.Since(begin), 5*time.Second)
	})
}

func TestEnvironmentOfReadingCommandsNamesNoPrograms(t *testing.T) {
	env := readingEnv([]string{"PATH=/bin:.::bin:/usr/bin", "GIT_EXTERNAL_DIFF=x", "GIT_TRACE=/a", "GIT_SSH_COMMAND=x",
		"RIPGREP_CONFIG_PATH=x", "HOME=/home/me", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"})
	require.Subset(t, env, []string{"PATH=/bin:/usr/bin", "HOME=/home/me", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c",
		"GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_1=false", "GIT_OPTIONAL_LOCKS=0"})
	for _, entry := range env {
		require.NotRegexp(t, "^(GIT_EXTERNAL_DIFF|GIT_TRACE|GIT_SSH_COMMAND|RIPGREP_CONFIG_PATH)=", entry)
	}
	require.Equal(t, "14", variableOf(env, "GIT_CONFIG_COUNT"))
}

// variableOf returns the value of the last entry with a name, as a program sees it.
func variableOf(env []string, name string) (value string) {
	for _, entry := range env {
		if len(entry) > len(name) && entry[:len(name)+1] == name+"=" {
			value = entry[len(name)+1:]
		}
	}
	return value
}
