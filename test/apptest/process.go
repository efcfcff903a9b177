package apptest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/posix"
)

// AwaitIndex waits until the index contains all threads.
func AwaitIndex(c *Client) {
	for !gjson.GetBytes(c.Call("thread/search", Object{"searchTerm": "no such text"}), "complete").Bool() {
		<-time.After(time.Millisecond)
	}
	c.Seen = nil
}

// KillGroup kills the server, and its process group if it has its own.
func (c *Client) KillGroup() {
	if posix.LeadsGroup(c.Cmd.SysProcAttr) {
		_ = posix.Kill(-c.Cmd.Process.Pid, syscall.SIGKILL)
	}
	c.Kill()
}

// IsProcessGone reports whether an error means that the process exited.
func IsProcessGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// WithDescendants returns the ids of a process and all its descendants.
func WithDescendants(b testing.TB, pid int) []int {
	pids := []int{pid}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(b, err)
	for _, file := range children {
		text, err := os.ReadFile(file)
		if IsProcessGone(err) {
			continue
		}
		require.NoError(b, err)
		for _, child := range strings.Fields(string(text)) {
			id, err := strconv.Atoi(child)
			require.NoError(b, err)
			pids = append(pids, WithDescendants(b, id)...)
		}
	}
	return pids
}

// StatusKiB returns a figure of /proc/PID/status, named with its colon, in KiB.
func StatusKiB(b testing.TB, pid int, name string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			require.NoError(b, err)
			return kib
		}
	}
	b.Fatal("no " + name)
	return 0
}
