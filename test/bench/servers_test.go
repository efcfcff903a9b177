package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

// benchPatience is how long a row waits for an answer. One that does not come is a metric of
// the row, not its failure.
const benchPatience = 120 * time.Second

// contender is a server that is measured.
type contender struct {
	name string
	// start is false where the server does not answer to initialize in time.
	start func(b testing.TB, home string) (*apptest.Client, bool)
	// await returns once the server has read all threads, if the server reports that.
	await func(c *apptest.Client, h *benchHome) bool
}

// contenders returns ours and, where REFERENCE_BINARY names its program, the reference
// implementation.
func contenders(b *testing.B) []contender {
	_, err := apptest.Binary() // building it is in no row
	require.NoError(b, err)
	ours := func(b testing.TB, home string) (*apptest.Client, bool) {
		return apptest.StartBenchServer(b, home), true
	}
	all := []contender{{"ours", ours, func(c *apptest.Client, _ *benchHome) bool {
		apptest.AwaitIndex(c)
		return true
	}}}
	path := os.Getenv("REFERENCE_BINARY")
	if path == "" {
		return all
	}
	start := func(b testing.TB, home string) (*apptest.Client, bool) {
		cmd := apptest.ProcessCommand(b, home, path, "app-server", "-c", "analytics.enabled=false", "-c",
			"features.apps=false", "-c", "features.plugins=false")
		cmd.SysProcAttr = posix.Group() // its program is started by a script
		c := apptest.StartProcess(b, cmd)
		_, ok := answerBy(c, time.Now().Add(benchPatience), "initialize",
			apptest.Object{"clientInfo": apptest.Object{"name": "test", "version": "1"},
				"capabilities": apptest.Object{"experimentalApi": true}})
		c.Send(apptest.Object{"method": "initialized"})
		return c, ok
	}
	return append(all, contender{"reference", start, func(c *apptest.Client, h *benchHome) bool {
		_, _, ok := firstPage(c, apptest.Object{}, h.newest(""))
		return ok
	}})
}

// answerBy does the same as call, except that it ends at a deadline.
func answerBy(c *apptest.Client, deadline time.Time, method string, params any) (json.RawMessage, bool) {
	c.T.Helper()
	id := c.SendRequest(method, params)
	expired := time.After(time.Until(deadline))
	for {
		select {
		case m, ok := <-c.Messages:
			require.True(c.T, ok, "the server ended its output")
			if m.Method == "" && string(m.ID) == id {
				require.Nil(c.T, m.Error, "%s: %s", method, m.Line)
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
func firstPage(c *apptest.Client, params apptest.Object, want []string) (answered, right time.Duration, ok bool) {
	c.T.Helper()
	began := time.Now()
	all := apptest.Object{"modelProviders": []string{}}
	for k, v := range params {
		all[k] = v
	}
	for {
		page, ok := answerBy(c, began.Add(benchPatience), "thread/list", all)
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

// peakMB returns the most memory that one of a process and its children has had resident.
func peakMB(b testing.TB, pid int) (peak float64) {
	for _, pid := range apptest.WithDescendants(b, pid) {
		peak = max(peak, memberMB(b, pid, "VmHWM:"))
	}
	return peak
}

// memberMB returns a figure of one process of a process group, or 0 if it has ended.
func memberMB(b testing.TB, pid int, name string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if apptest.IsProcessGone(err) || !strings.Contains(string(status), name) {
		return 0
	}
	return float64(apptest.StatusKiB(b, pid, name)) / 1024
}

// treeTime returns the user and system time of a process and its children, in steps of 10 ms, as far
// as these have not ended.
func treeTime(b testing.TB, pid int) (used time.Duration) {
	for _, pid := range apptest.WithDescendants(b, pid) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if apptest.IsProcessGone(err) {
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
