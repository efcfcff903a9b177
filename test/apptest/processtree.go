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
)

// CleanupLimit is how long any end of a turn or the server may take to leave nothing
// behind.
const CleanupLimit = 2 * time.Second

// ProcessTree is a command with children of every kind, all marked by a token.
type ProcessTree struct{ Token string }

func NewProcessTree() ProcessTree { return ProcessTree{"tree-" + rand.Text()} }

// Script starts the children, says so, and waits. The traps are inherited as ignored
// signals.
func (b ProcessTree) Script() string {
	return "export TREE_TOKEN=" + b.Token +
		"; trap '' TERM INT HUP; sleep 600 & setsid sleep 600 & (setsid sleep 600 &); echo children started; wait"
}

// Alive are the processes that carry the token. Zombies carry nothing.
func (b ProcessTree) Alive(t *testing.T) (list []string) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		arguments, _ := os.ReadFile(path) // of a process that may be gone by now
		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if bytes.Contains(arguments, []byte(b.Token)) || bytes.Contains(environ, []byte(b.Token)) {
			list = append(list, filepath.Dir(path)+": "+string(bytes.ReplaceAll(arguments, []byte{0}, []byte{' '})))
		}
	}
	return list
}

// StartProcessTree starts a turn with a brood, and reads until it is there. What the test
// leaves of it is ended.
func (c *Client) StartProcessTree(t *testing.T, thread string) (b ProcessTree, turn string) {
	b = NewProcessTree()
	turn = c.BeginTurn(thread, "run: "+b.Script())
	c.UntilOutput("children started\n")
	t.Cleanup(func() { b.Kill(t) })
	require.Eventually(t, func() bool {
		return strings.Count(strings.Join(b.Alive(t), "\n"), ": sleep 600") == 3
	}, Timeout, 10*time.Millisecond, "three children")
	return b, turn
}

func (b ProcessTree) Kill(t *testing.T) {
	for _, line := range b.Alive(t) {
		var pid int
		_, err := fmt.Sscanf(line, "/proc/%d:", &pid)
		require.NoError(t, err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
