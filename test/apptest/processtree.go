package apptest

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/posix"
)

// CleanupLimit is the time after the end of a turn or of the server until no process may be left. A shutdown takes
// 2.5 s at most; the rest is for a machine that runs other tests.
const CleanupLimit = 5 * time.Second

// ProcessTree is a command with children that are hard to kill: in the group, in another session,
// and orphaned. Their environment contains Token.
type ProcessTree struct{ Token string }

// NewProcessTree returns a process tree with a unique token.
func NewProcessTree() ProcessTree { return ProcessTree{"tree-" + rand.Text()} }

// Script returns a script that starts the children, prints a line and waits. Children inherit the
// ignored signals.
func (p ProcessTree) Script() string {
	return "export TREE_TOKEN=" + p.Token +
		"; trap '' TERM INT HUP; sleep 600 & setsid sleep 600 & (setsid sleep 600 &); echo children started; wait"
}

// Alive returns the processes that carry the token. Zombies have neither arguments nor environment.
func (p ProcessTree) Alive(t *testing.T) (list []string) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		arguments, _ := os.ReadFile(path) // the process may have exited
		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if bytes.Contains(arguments, []byte(p.Token)) || bytes.Contains(environ, []byte(p.Token)) {
			list = append(list, filepath.Dir(path)+": "+string(bytes.ReplaceAll(arguments, []byte{0}, []byte{' '})))
		}
	}
	return list
}

// StartProcessTree starts a turn with a process tree and waits until all children run. The end of
// the test kills them.
func (c *Client) StartProcessTree(t *testing.T, thread string) (p ProcessTree, turn string) {
	p = NewProcessTree()
	turn = c.BeginTurn(thread, "run: "+p.Script())
	c.UntilOutput("children started\n")
	t.Cleanup(func() { p.Kill(t) })
	require.Eventually(t, func() bool {
		return strings.Count(strings.Join(p.Alive(t), "\n"), ": sleep 600") == 3
	}, Timeout, 10*time.Millisecond, "three children")
	return p, turn
}

// Kill kills the processes that are still alive.
func (p ProcessTree) Kill(t *testing.T) {
	for _, line := range p.Alive(t) {
		var pid int
		_, err := fmt.Sscanf(line, "/proc/%d:", &pid)
		require.NoError(t, err)
		_ = posix.Kill(pid, syscall.SIGKILL)
	}
}
