//go:build darwin || (linux && posix)

package tool

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// noConfinement is part of the reason why a command cannot be confined.
const noConfinement = "sandbox-exec"

func TestSuperviseRejectsWrongArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"1s"}, {"soon", "true"}} {
		_, err := supervise(args)
		require.Error(t, err)
	}
}

// TestConfinedCommandsRunUnderTheirProfile: the supervisor is outside of the sandbox, because it ends
// the command.
func TestConfinedCommandsRunUnderTheirProfile(t *testing.T) {
	s, c := confined(t, "exit 0")
	p, err := s.prepare(c, s.Env)
	require.NoError(t, err)
	rules, _ := s.rules(c)
	profile := rules.Seatbelt()
	want := []string{program(), "confine", defaultKillGrace.String(), "/usr/bin/sandbox-exec", "-p", profile.Text}
	require.Equal(t, want, p.cmd.Args[:len(want)])
	require.Equal(t, append([]string{"--"}, c.Argv...), p.cmd.Args[slices.Index(p.cmd.Args, "--"):])
	c.Argv = []string{"./none"}
	_, err = s.prepare(c, s.Env)
	require.ErrorContains(t, err, `cannot start "./none" (no such file or directory)`)
}

// TestConfinedCommandsReplaceSandboxExec: a stand-in for the program drops the profile, and becomes the
// command.
func TestConfinedCommandsReplaceSandboxExec(t *testing.T) {
	standIn := filepath.Join(t.TempDir(), "sandbox-exec")
	require.NoError(t, os.WriteFile(standIn,
		[]byte("#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"), 0o755))
	s, c := confined(t, `echo "$0 $1"; ls -A; exit 3`)
	c.Argv = append(c.Argv, "--", "two words")
	p, err := s.prepare(c, s.Env)
	require.NoError(t, err)
	p.cmd.Args[slices.Index(p.cmd.Args, "/usr/bin/sandbox-exec")] = standIn
	require.NoError(t, p.launch())
	text, err := io.ReadAll(p.output)
	require.NoError(t, err)
	require.NoError(t, p.output.Close())
	<-p.exited
	p.reap()
	require.Equal(t, new(3), p.outcome().ExitCode, p.status)
	require.Equal(t, "-- two words\n.agents\n.codex\n", string(text), "protected folders exist while the command runs")
	left, err := os.ReadDir(c.Cwd)
	require.NoError(t, err)
	require.Empty(t, left)
}
