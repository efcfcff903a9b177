//go:build linux || darwin

package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/protocol"
)

func TestExecSeparatesStreams(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		k := startSession(t, s, Exec{Command: script(`printf 'out\377\n'; echo err >&2; exit 7`)})
		require.Equal(t, Exit{Code: 7}, k.ended())
		out, err := k.written()
		require.Equal(t, "out\xff\n", out, "unchanged")
		require.Equal(t, "err\n", err)
	})
}

func TestExecReportsExitCodes(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for text, want := range map[string]int{"exit 0": 0, "exit 255": 255, "kill -9 $$": 137, "kill -TERM $$": 143} {
			require.Equal(t, Exit{Code: want}, startSession(t, s, Exec{Command: script(text)}).ended(), text)
		}
		slow := script("echo before; sleep 600")
		slow.Timeout = 300 * time.Millisecond
		k := startSession(t, s, Exec{Command: slow})
		require.Equal(t, Exit{Code: 124, TimedOut: true}, k.ended())
		out, _ := k.written()
		require.Equal(t, "before\n", out)
	})
}

func TestExecReportsFailures(t *testing.T) {
	s := shells()["direct"]
	for failure, e := range map[string]Exec{
		"names no program":      {},
		"was not found in PATH": {Command: script("")},
		"does not exist":        {Command: script("")},
		"NUL byte":              {Command: script("")},
	} {
		switch failure {
		case "was not found in PATH":
			e.Argv = []string{"no-such-program"}
		case "does not exist":
			e.Cwd = "/no/such/folder"
		case "NUL byte":
			e.Argv = []string{"/bin/echo", "a\x00b"}
		}
		k := startSession(t, s, e)
		require.Contains(t, k.ended().Failure, failure)
		require.Nil(t, k.input, "started was not called")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	exit := s.Exec(ctx, Exec{Command: script("echo x")}, func(*Input) { t.Error("started was called") })
	require.Contains(t, exit.Failure, "cancelled")
}

func TestExecPassesInputOn(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		k := startSession(t, s, Exec{Command: script(`while read line; do echo "got $line"; done; echo end`), Input: true})
		k.write("one\n")
		k.until("got one\n")
		k.write("two\nthr")
		k.write("ee\n")
		k.until("got three\n")
		require.NoError(t, k.input.Close())
		require.Equal(t, Exit{}, k.ended())
		out, _ := k.written()
		require.Equal(t, "got one\ngot two\ngot three\nend\n", out)
		_, err := k.input.Write([]byte("late"))
		require.Error(t, err)
		require.ErrorIs(t, k.input.Resize(Size{1, 1}), ErrNoTerminal)
	})
}

func TestExecHasAnEmptyInputByDefault(t *testing.T) {
	k := startSession(t, shells()["direct"], Exec{Command: script("cat; echo end")})
	require.Equal(t, Exit{}, k.ended())
	out, _ := k.written()
	require.Equal(t, "end\n", out)
	_, err := k.input.Write([]byte("x"))
	require.ErrorIs(t, err, ErrNoInput)
	require.ErrorIs(t, k.input.Close(), ErrNoInput)
}

func TestEndOfTheCommandReleasesWriters(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		for _, tty := range []bool{false, true} {
			c := script("stty raw -echo 2>/dev/null; echo up; sleep 600")
			c.TTY = tty
			k := startSession(t, s, Exec{Command: c, Input: true})
			k.until("up")
			failed := make(chan error, 1)
			go func() {
				_, err := k.input.Write(make([]byte, 4<<20))
				failed <- err
			}()
			k.end()
			k.ended()
			select {
			case err := <-failed:
				require.Error(t, err)
			case <-time.After(bound):
				require.Fail(t, "Write did not return")
			}
		}
	})
}

func TestExecOnATerminal(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		c := script(`trap 'resized=yes' WINCH; tty >/dev/null && echo terminal; stty size; echo "$TERM"; read x; echo "$resized"; stty size; echo "got $x"; echo err >&2; while read y; do :; done; echo end`)
		c.TTY = true
		k := startSession(t, s, Exec{Command: c, Size: Size{Rows: 10, Cols: 30}})
		k.until("xterm-256color\r\n")
		out, _ := k.written()
		require.Equal(t, "terminal\r\n10 30\r\nxterm-256color\r\n", out)
		require.NoError(t, k.input.Resize(Size{Rows: 11, Cols: 31}))
		k.write("word\n")
		k.until("yes\r\n11 31\r\n")
		k.until("got word\r\nerr\r\n")
		require.NoError(t, k.input.Close())
		require.Equal(t, Exit{}, k.ended())
		_, err := k.written()
		require.Empty(t, err, "a terminal has one stream")
	})
}

func TestTerminalHasADefaultSize(t *testing.T) {
	c := script("stty size")
	c.TTY = true
	k := startSession(t, shells()["supervised"], Exec{Command: c})
	require.Equal(t, Exit{}, k.ended())
	out, _ := k.written()
	require.Equal(t, "24 80\r\n", out)
}

func TestControlCInterruptsACommandOnATerminal(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		c := script("echo up; sleep 600")
		c.TTY = true
		k := startSession(t, s, Exec{Command: c})
		k.until("up")
		k.write("\x03")
		require.Equal(t, 130, k.ended().Code)
	})
}

func TestExecSetsVariables(t *testing.T) {
	s := &Shell{Env: []string{"PATH=" + os.Getenv("PATH"), "KEPT=1", "DROPPED=1", "CHANGED=old", "API_TOKEN=secret"},
		Secrets: func() []string { return []string{"API_TOKEN"} }}
	value := func(text string) *string { return &text }
	k := startSession(t, s, Exec{
		Command: script(`echo "$KEPT,${DROPPED-unset},$CHANGED,$NEW,${API_TOKEN-unset},$TERM,${PAGER-unset},${EMPTY-unset}"`),
		Env: map[string]*string{"DROPPED": nil, "CHANGED": value("new"), "NEW": value("a b"), "PAGER": nil,
			"TERM": value("vt100"), "EMPTY": value("")},
	})
	require.Equal(t, Exit{}, k.ended())
	out, _ := k.written()
	require.Equal(t, "1,unset,new,a b,unset,vt100,unset,\n", out, "variables of the client override the policy")
	own := startSession(t, s, Exec{
		Command: script(`echo "$API_TOKEN"`), Env: map[string]*string{"API_TOKEN": value("own")},
	})
	own.ended()
	out, _ = own.written()
	require.Equal(t, "own\n", out)
}

func TestAllProcessesOfAnExecEnd(t *testing.T) {
	needsLinux(t)
	both(t, func(t *testing.T, s *Shell) {
		for name, how := range map[string]func(*session){
			"its end": func(k *session) { require.NoError(t, k.input.Close()) },
			"ended":   func(k *session) { k.end() },
		} {
			file := filepath.Join(t.TempDir(), "pids")
			k := startSession(t, s, Exec{Command: script(fmt.Sprintf("sleep 600 & echo $! >%s; setsid sleep 601 & echo up; read x",
				file)), Input: true})
			k.until("up")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var pid int
			_, err = fmt.Sscan(string(text), &pid)
			require.NoError(t, err)
			how(k)
			k.ended()
			p, alive := processOf(pid)
			require.False(t, alive && !p.zombie, name)
		}
	})
}

func TestExecPassesOnAllOutput(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		k := startSession(t, s, Exec{Command: script("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2")})
		require.Equal(t, Exit{}, k.ended())
		out, err := k.written()
		require.Len(t, out, 3_000_000)
		require.Len(t, err, 3_000_000)
	})
}

func TestExecEndsWithBlockedOutput(t *testing.T) {
	s := shells()["supervised"]
	ctx, end := context.WithCancel(context.Background())
	release, blocked := make(chan struct{}), make(chan struct{})
	var once sync.Once
	exit := make(chan Exit, 1)
	go func() {
		exit <- s.Exec(ctx, Exec{Command: script("yes"), Output: func(bool, []byte) {
			once.Do(func() { close(blocked) })
			<-release
		}}, func(*Input) {})
	}()
	<-blocked
	end()
	select {
	case e := <-exit:
		require.Equal(t, 128+int(unix.SIGTERM), e.Code)
	case <-time.After(bound):
		require.Fail(t, "Exec waits for its output")
	}
	close(release)
}

func TestExecIsConfined(t *testing.T) {
	c := script("echo x >file; echo $?; cat /etc/hostname >/dev/null && echo read")
	c.Cwd = t.TempDir()
	c.Workspace, c.Sandbox = c.Cwd, protocol.SandboxReadOnly.Policy()
	s := &Shell{Env: BaseEnv(os.Environ()), Confiner: []string{program(), "confine"}}
	if err := Probe(s.Confiner); err != nil {
		require.Contains(t, startSession(t, s, Exec{Command: c}).ended().Failure, noConfinement, "it does not run unconfined")
		return
	}
	k := startSession(t, s, Exec{Command: c})
	require.Equal(t, Exit{}, k.ended())
	out, err := k.written()
	require.Equal(t, "1\nread\n", out)
	require.Contains(t, err, "Read-only file system")
	require.NoFileExists(t, filepath.Join(c.Cwd, "file"))
}
