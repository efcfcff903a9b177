//go:build darwin || (linux && posix)

package tool

import (
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
