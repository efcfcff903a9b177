//go:build linux || darwin

package tool

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
)

// onTerminal returns a command for bash on a terminal.
func onTerminal(text string) core.Command {
	c := script(text)
	c.TTY, c.Stays = true, true
	return c
}

// everywhere runs a test directly, with a supervisor and, if the kernel supports it, confined.
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

// TestTerminal: the command controls its terminal, with a size and job control.
func TestTerminal(t *testing.T) {
	everywhere(t, onTerminal("test -t 0 && test -t 1 && test -t 2 && stty size && { echo to the terminal >/dev/tty; set -m; sleep 0 & wait; }; exit 3"), func(t *testing.T, s *Shell, c core.Command) {
		result, r := run(t, s, c)
		require.Equal(t, new(3), result.ExitCode, result.Failure)
		require.Contains(t, r.text(), "24 80\r\nto the terminal\r\n")
	})
}

// TestTyping types a line, and then Ctrl-C.
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

// TestTerminalPassesOnAllOutput: it is longer than a pipe, and its end is read after the command
// has ended.
func TestTerminalPassesOnAllOutput(t *testing.T) {
	everywhere(t, onTerminal("seq 100000"), func(t *testing.T, s *Shell, c core.Command) {
		result, r := run(t, s, c)
		require.Equal(t, new(0), result.ExitCode, result.Failure)
		require.True(t, strings.HasSuffix(r.text(), "\r\n99999\r\n100000\r\n"))
		require.Len(t, r.text(), 588895+100000)
	})
}

// TestJobsEndWithTheTerminal, even if they have their own groups and ignore SIGHUP.
func TestJobsEndWithTheTerminal(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for _, text := range []string{
			"set -m; trap '' HUP; sleep 600 & echo $!; setsid nohup sleep 600 & echo $!; sleep 600",
			"set -m; trap '' HUP TERM INT; sleep 600 & echo $!; exec sleep 600",
		} {
			if !runsHere(text) {
				continue
			}
			_, r := cancelAfterOutput(t, s, onTerminal(text))
			requireGone(t, strings.ReplaceAll(r.text(), "\r", ""))
		}
	})
}

// TestUnreadInputIsLost: a program that does not read its input does not block Run.
func TestUnreadInputIsLost(t *testing.T) {
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
