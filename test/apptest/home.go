package apptest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const UnknownThreadID = "01a1fdec-a59f-7270-ac57-000000000001"

// RolloutName is a path, below a home, at which a thread's rollout is looked for.
func RolloutName(home, id string) string {
	return filepath.Join(home, "sessions/2026/01/02", "rollout-2026-01-02T03-04-05-"+id+".jsonl")
}

// Unprivileged lets a command that root would start run as the user nobody: root can read
// and write everything. The folder that the test made for the home is opened to it.
func Unprivileged(t *testing.T, cmd *exec.Cmd, home string) *exec.Cmd {
	if os.Geteuid() != 0 {
		return cmd
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: UnprivilegedID, Gid: UnprivilegedID}}
	require.NoError(t, os.Chmod(filepath.Dir(home), 0o755))
	return cmd
}

const UnprivilegedID = 65534

// GiveHome makes nobody the owner of a home, if root is the owner of everything.
func GiveHome(t *testing.T, home string) {
	if os.Geteuid() != 0 {
		return
	}
	require.NoError(t, filepath.WalkDir(home, func(path string, _ os.DirEntry, _ error) error {
		return os.Lchown(path, UnprivilegedID, UnprivilegedID)
	}))
}

// Warnings are the messages of warning notifications.
func (c *Client) Warnings() (list []string) {
	for _, m := range c.Seen {
		var p struct{ Message string }
		if m.Method == "warning" && json.Unmarshal(m.Params, &p) == nil {
			list = append(list, p.Message)
		}
	}
	return list
}

// FillDisk takes turns until input is refused. Turns that fail are told of as such.
func (c *Client) FillDisk(id string, text func(i int) string) *RPCError {
	c.T.Helper()
	for i := range 200 {
		answer := c.Request("turn/start", Object{"threadId": id, "input": TextInput(text(i))})
		if answer.Error != nil {
			return answer.Error
		}
		if ended := c.AwaitTurn(); ended.Status != "completed" {
			require.Equal(c.T, "failed", ended.Status)
			require.Contains(c.T, ended.Error.Message, "could not be saved")
			require.Contains(c.T, c.Methods(), "error")
		}
	}
	c.T.Fatal("the disk does not become full")
	return nil
}

// Methods are those of the notifications and requests of the server.
func (c *Client) Methods() (list []string) {
	for _, m := range c.Seen {
		if m.Method != "" {
			list = append(list, m.Method)
		}
	}
	return list
}

// ItemsOf are the items of a thread, in order.
func ItemsOf(v ThreadView) []string {
	items := []string{}
	for _, turn := range v.Turns {
		for _, item := range turn.Items {
			items = append(items, string(item))
		}
	}
	return items
}

// ShortDir is a folder whose path leaves room for that of a socket.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "listen")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Count is how many notifications of a method the client has read.
func (c *Client) Count(method string) (n int) {
	for _, m := range c.Methods() {
		if m == method {
			n++
		}
	}
	return n
}
