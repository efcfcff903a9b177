package apptest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/posix"
)

// UnknownThreadID is a valid id of a thread that no server created.
const UnknownThreadID = "01a1fdec-a59f-7270-ac57-000000000001"

// RolloutName returns a valid path of a thread's rollout in a home.
func RolloutName(home, id string) string {
	return filepath.Join(home, "sessions/2026/01/02", "rollout-2026-01-02T03-04-05-"+id+".jsonl")
}

// Unprivileged makes a command of root run as the user nobody, because root ignores file
// permissions. It opens the parent folder of home to that user.
func Unprivileged(t *testing.T, cmd *exec.Cmd, home string) *exec.Cmd {
	if os.Geteuid() != 0 {
		return cmd
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = posix.As(UnprivilegedID)
	require.NoError(t, os.Chmod(filepath.Dir(home), 0o755))
	return cmd
}

// UnprivilegedID is the user and group id of nobody.
const UnprivilegedID = 65534

// GiveHome makes the user nobody the owner of a home, if the test runs as root.
func GiveHome(t *testing.T, home string) {
	if os.Geteuid() != 0 {
		return
	}
	require.NoError(t, filepath.WalkDir(home, func(path string, _ os.DirEntry, _ error) error {
		return os.Lchown(path, UnprivilegedID, UnprivilegedID)
	}))
}

// Warnings returns the messages of the warning notifications.
func (c *Client) Warnings() (list []string) {
	for _, m := range c.Seen {
		var p struct{ Message string }
		if m.Method == "warning" && json.Unmarshal(m.Params, &p) == nil {
			list = append(list, p.Message)
		}
	}
	return list
}

// FillDisk runs turns until turn/start fails, and returns the error. A turn may fail before that,
// if its error names the cause.
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
	c.T.Fatal("turns still succeed on a full disk")
	return nil
}

// Methods returns the methods of the notifications and requests that were read.
func (c *Client) Methods() (list []string) {
	for _, m := range c.Seen {
		if m.Method != "" {
			list = append(list, m.Method)
		}
	}
	return list
}

// ItemsOf returns the items of a thread in order.
func ItemsOf(v ThreadView) []string {
	items := []string{}
	for _, turn := range v.Turns {
		for _, item := range turn.Items {
			items = append(items, string(item))
		}
	}
	return items
}

// ShortDir returns a folder with a path that is short enough for a socket in it.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "listen")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Count returns the number of notifications with a method that were read.
func (c *Client) Count(method string) (n int) {
	for _, m := range c.Methods() {
		if m == method {
			n++
		}
	}
	return n
}
