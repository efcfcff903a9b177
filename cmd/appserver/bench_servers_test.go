package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// benchPatience is how long a row waits for an answer. One that does not come is a metric of
// the row, not its failure.
const benchPatience = 120 * time.Second

// contender is a server that is measured.
type contender struct {
	name string
	// start is false where the server does not answer to initialize in time.
	start func(b testing.TB, home string) (*client, bool)
	// await returns once the server has read all threads, as far as it tells.
	await func(c *client, h *benchHome) bool
}

// contenders are ours and, where REFERENCE_BINARY names its program, the reference
// implementation.
func contenders(b *testing.B) []contender {
	_, err := binary() // building it is in no row
	require.NoError(b, err)
	ours := func(b testing.TB, home string) (*client, bool) { return benchServer(b, home), true }
	all := []contender{{"ours", ours, func(c *client, _ *benchHome) bool {
		awaitIndex(c)
		return true
	}}}
	path := os.Getenv("REFERENCE_BINARY")
	if path == "" {
		return all
	}
	start := func(b testing.TB, home string) (*client, bool) {
		cmd := processCommand(b, home, path, "app-server", "-c", "analytics.enabled=false", "-c", "features.apps=false", "-c", "features.plugins=false")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its program is started by a script
		c := dial(b, cmd)
		_, ok := c.answerBy(time.Now().Add(benchPatience), "initialize", object{"clientInfo": object{"name": "test", "version": "1"}, "capabilities": object{"experimentalApi": true}})
		c.send(object{"method": "initialized"})
		return c, ok
	}
	return append(all, contender{"reference", start, func(c *client, h *benchHome) bool {
		_, _, ok := c.firstPage(object{}, h.newest(""))
		return ok
	}})
}

// end kills the server, with its process group where it has its own.
func (c *client) end() {
	if attr := c.cmd.SysProcAttr; attr != nil && attr.Setpgid {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	}
	c.kill()
}

// answerBy is call, except that it gives up at a time.
func (c *client) answerBy(deadline time.Time, method string, params any) (json.RawMessage, bool) {
	c.t.Helper()
	id := c.ask(method, params)
	expired := time.After(time.Until(deadline))
	for {
		select {
		case m, ok := <-c.messages:
			require.True(c.t, ok, "the server ended its output")
			if m.Method == "" && string(m.ID) == id {
				require.Nil(c.t, m.Error, "%s: %s", method, m.line)
				return m.Result, true
			}
		case <-expired:
			return nil, false
		}
	}
}

// firstPage asks for the first page of a list until it has the threads that it must have:
// the reference implementation answers while it still reads. It gives how long the first
// answer took, and the right one, and whether that came.
func (c *client) firstPage(params object, want []string) (answered, right time.Duration, ok bool) {
	c.t.Helper()
	began := time.Now()
	all := object{"modelProviders": []string{}}
	for k, v := range params {
		all[k] = v
	}
	for {
		page, ok := c.answerBy(began.Add(benchPatience), "thread/list", all)
		right = time.Since(began)
		if answered == 0 {
			answered = right
		}
		if !ok {
			return answered, right, false
		}
		var ids []string
		for _, id := range gjson.GetBytes(page, "data.#.id").Array() {
			ids = append(ids, id.Str)
		}
		if slices.Equal(ids, want) {
			return answered, right, true
		}
		<-time.After(10 * time.Millisecond)
	}
}

// peakMB is the most memory that one of a process and its children has had resident.
func peakMB(b testing.TB, pid int) (peak float64) {
	for _, pid := range family(b, pid) {
		peak = max(peak, memberMB(b, pid, "VmHWM:"))
	}
	return peak
}

// memberMB is a figure of one of a family, 0 where that has ended since they were counted.
func memberMB(b testing.TB, pid int, name string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if gone(err) || !strings.Contains(string(status), name) {
		return 0
	}
	return float64(statusKiB(b, pid, name)) / 1024
}

// gone is true of errors about a process that has ended.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// treeTime is the user and system time of a process and its children, in steps of 10 ms, as far
// as these have not ended.
func treeTime(b testing.TB, pid int) (used time.Duration) {
	for _, pid := range family(b, pid) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if gone(err) {
			continue
		}
		require.NoError(b, err)
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, ticks := range fields[11:13] {
			n, err := strconv.Atoi(ticks)
			require.NoError(b, err)
			used += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return used
}

// family is a process with its children, and theirs.
func family(b testing.TB, pid int) []int {
	pids := []int{pid}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(b, err)
	for _, file := range children {
		text, err := os.ReadFile(file)
		if gone(err) {
			continue
		}
		require.NoError(b, err)
		for _, child := range strings.Fields(string(text)) {
			id, err := strconv.Atoi(child)
			require.NoError(b, err)
			pids = append(pids, family(b, id)...)
		}
	}
	return pids
}

func statusKiB(b testing.TB, pid int, name string) int {
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
