//go:build linux

package tool

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
)

// onTerminal is a command for bash on a terminal.
func onTerminal(text string) core.Command {
	c := script(text)
	c.TTY, c.Stays = true, true
	return c
}

// everywhere runs a test directly, with a supervisor and, where the kernel can, confined.
func everywhere(t *testing.T, c core.Command, test func(*testing.T, *Shell, core.Command)) {
	both(t, func(t *testing.T, s *Shell) { test(t, s, c) })
	t.Run("confined", func(t *testing.T) {
		s, inside := confined(t, c.Argv[2])
		if Probe(s.Confiner) == nil {
			inside.TTY, inside.Stays = c.TTY, c.Stays
			test(t, s, inside)
		}
	})
}

// TestTerminals are terminals to those who ask: the command has it as its own, with a size,
// and jobs.
func TestTerminals(t *testing.T) {
	everywhere(t, onTerminal("test -t 0 && test -t 1 && test -t 2 && stty size && { echo to the terminal >/dev/tty; set -m; sleep 0 & wait; }; exit 3"), func(t *testing.T, s *Shell, c core.Command) {
		result, r := run(t, s, c)
		require.Equal(t, new(3), result.ExitCode, result.Failure)
		require.Contains(t, r.text(), "24 80\r\nto the terminal\r\n")
	})
}

// TestTyping types a line, and then the key that interrupts.
func TestTyping(t *testing.T) {
	everywhere(t, onTerminal("read line; echo got $line; trap 'echo interrupted; exit 4' INT; echo ready; while :; do sleep 0.01; done"), func(t *testing.T, s *Shell, c core.Command) {
		keys := make(chan string, 1)
		keys <- "hello\n"
		var text strings.Builder
		interrupted := false
		result := s.Run(t.Context(), c, keys, func(string) {}, func(piece string) {
			text.WriteString(piece)
			if strings.Contains(text.String(), "ready") && !interrupted {
				interrupted = true
				keys <- "\x03"
			}
		})
		require.Equal(t, new(4), result.ExitCode, result.Failure)
		require.Contains(t, text.String(), "got hello\r\n")
		require.Contains(t, result.Output, "interrupted\r\n")
	})
}

// TestTerminalsGiveAllTheirOutput although the last of it is read when the command is gone,
// and although it is more than a pipe has room for.
func TestTerminalsGiveAllTheirOutput(t *testing.T) {
	everywhere(t, onTerminal("seq 100000"), func(t *testing.T, s *Shell, c core.Command) {
		result, r := run(t, s, c)
		require.Equal(t, new(0), result.ExitCode, result.Failure)
		require.True(t, strings.HasSuffix(r.text(), "\r\n99999\r\n100000\r\n"))
		require.Len(t, r.text(), 588895+100000)
	})
}

// TestTerminalsLeaveNothingBehind of jobs that have groups of their own, and ignore that the
// terminal hangs up.
func TestTerminalsLeaveNothingBehind(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for _, text := range []string{
			"set -m; trap '' HUP; sleep 600 & echo $!; setsid nohup sleep 600 & echo $!; sleep 600",
			"set -m; trap '' HUP TERM INT; sleep 600 & echo $!; exec sleep 600",
		} {
			_, r := cancelAfterOutput(t, s, onTerminal(text))
			requireGone(t, strings.ReplaceAll(r.text(), "\r", ""))
		}
	})
}

// TestWhatIsNotReadIsLost: a program that does not read what is typed holds up nobody.
func TestWhatIsNotReadIsLost(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		keys := make(chan string)
		c := onTerminal("stty raw -echo; echo ready; sleep 600")
		done := make(chan core.ToolResult, 1)
		ready := make(chan struct{}, 1)
		go func() {
			done <- s.Run(ctx, c, keys, func(string) {}, func(piece string) {
				if strings.Contains(piece, "ready") {
					ready <- struct{}{}
				}
			})
		}()
		<-ready
		for range 2 {
			keys <- strings.Repeat("x", 1<<20)
		}
		cancel()
		require.NotEmpty(t, (<-done).Failure)
	})
}
