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

// Promised is how long any end of a turn or the server may take to leave nothing
// behind.
const Promised = 2 * time.Second

// Brood is a command with children of every kind, all marked by a token.
type Brood struct{ Token string }

func NewBrood() Brood { return Brood{"brood-" + rand.Text()} }

// Script starts the children, says so, and waits. The traps are inherited as ignored
// signals.
func (b Brood) Script() string {
	return "export BROOD=" + b.Token +
		"; trap '' TERM INT HUP; sleep 600 & setsid sleep 600 & (setsid sleep 600 &); echo hatched; wait"
}

// Alive are the processes that carry the token. Zombies carry nothing.
func (b Brood) Alive(t *testing.T) (list []string) {
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

// Hatch starts a turn with a brood, and reads until it is there. What the test
// leaves of it is ended.
func (c *Client) Hatch(t *testing.T, thread string) (b Brood, turn string) {
	b = NewBrood()
	turn = c.BeginTurn(thread, "run: "+b.Script())
	c.UntilOutput("hatched\n")
	t.Cleanup(func() { b.End(t) })
	require.Eventually(t, func() bool {
		return strings.Count(strings.Join(b.Alive(t), "\n"), ": sleep 600") == 3
	}, Patience, 10*time.Millisecond, "three children")
	return b, turn
}

func (b Brood) End(t *testing.T) {
	for _, line := range b.Alive(t) {
		var pid int
		_, err := fmt.Sscanf(line, "/proc/%d:", &pid)
		require.NoError(t, err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
