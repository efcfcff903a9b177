//go:build reference

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// resume resumes a thread that the home has not opened before, and again in a new process.
func (r besideRun) resume(size resumed) {
	thread := r.longThread(size)
	clearHome(r, r.path, "sessions", "thread")
	r.configure(r, r.path)
	for _, row := range []string{"first", "again"} {
		c, _ := r.dial()
		took := r.timed(c, "thread/resume", fmt.Sprintf(`{"threadId":%q,"excludeTurns":true}`, thread))
		name, goal := fmt.Sprintf("resume of %d MB, %s", size.megabytes, row), [2]string{}
		if size.megabytes == 49 {
			goal = [2]string{"150", "120"}
		}
		r.put(besideRow{name: name, unit: "ms", goal: goal[0]}, took)
		r.put(besideRow{name: name + ": peak memory", unit: "MB", goal: goal[1]}, peakMB(r, c.pid))
		c.close()
	}
}

// resumeAll resumes a thread with all its turns, in a new process of a home that has opened it before.
func (r besideRun) resumeAll(size resumed) {
	params := fmt.Sprintf(`{"threadId":%q}`, r.longThread(size))
	c, _ := r.dial()
	r.timed(c, "thread/resume", params)
	c.close()
	c, _ = r.dial()
	began := time.Now()
	took := r.timed(c, "thread/resume", params)
	name := fmt.Sprintf("resume of %d MB with all turns", size.megabytes)
	goal := map[int][3]string{49: {"120", "60"}, 1000: {"", "", "150"}}[size.megabytes]
	r.put(besideRow{name: name, unit: "ms", goal: goal[0]}, took)
	r.put(besideRow{name: name + ": first byte", unit: "ms", goal: goal[2]}, ms(c.arrived.Sub(began)))
	r.put(besideRow{name: name + ": peak memory", unit: "MB", goal: goal[1]}, peakMB(r, c.pid))
	c.close()
}

// longThread writes a thread into the home, once, and gives its id.
func (r besideRun) longThread(size resumed) (thread string) {
	if sessions := filepath.Join(r.path, "sessions"); !exists(sessions) {
		stock := r.TempDir()
		thread = size.Write(r, stock)
		require.NoError(r, exec.Command("cp", "-a", filepath.Join(stock, "sessions"), sessions).Run())
		require.NoError(r, os.RemoveAll(stock))
		require.NoError(r, os.WriteFile(filepath.Join(r.path, "thread"), []byte(thread), 0o600))
	}
	text, err := os.ReadFile(filepath.Join(r.path, "thread"))
	require.NoError(r, err)
	return string(text)
}

// list measures the first page of a list, of a home that is new to the server, and warm.
func (r besideRun) list(count int) {
	h := newBenchHome(r, count)
	r.path = h.path
	r.configure(r, r.path)
	name := fmt.Sprintf("first page of %d threads", count)
	c, started := r.dial()
	cold, _ := r.page(c, h, 0)
	r.put(besideRow{name: name + ", from spawn, in a new home", unit: "ms"}, ms(started+cold))
	r.settle(c)
	for i, list := range listed {
		row := besideRow{name: name + ", warm, " + list.name, unit: "ms", goal: [...]string{"1.5", "5", "4"}[i]}
		for range 5 {
			_, right := r.page(c, h, i)
			r.put(row, ms(right))
		}
	}
	c.close()
	c, started = r.dial()
	_, right := r.page(c, h, 0)
	r.put(besideRow{name: name + ", from spawn, in a home it knows", unit: "ms", goal: "12"}, ms(started+right))
	c.close()
	require.NoError(r, os.RemoveAll(h.path))
}

// page asks for a first page until it is right.
func (r besideRun) page(c *lineClient, h *benchHome, list int) (answered, right time.Duration) {
	want := h.newest(listed[list].term)
	params := `{"modelProviders":[]`
	for k, v := range listed[list].params {
		params += fmt.Sprintf(`,%q:%q`, k, v)
	}
	began := time.Now()
	for {
		c.call("thread/list", params+"}")
		right = time.Since(began)
		if answered == 0 {
			answered = right
		}
		var ids []string
		for _, id := range gjson.GetBytes(c.head, "result.data.#.id").Array() {
			ids = append(ids, id.Str)
		}
		if fmt.Sprint(ids) == fmt.Sprint(want) {
			return answered, right
		}
		require.Less(r, right, benchPatience, "the list stays wrong: %.300s", c.head)
		<-time.After(10 * time.Millisecond)
	}
}

// settle waits until the server has read all threads. Our server reports it; the reference
// implementation has read them when it responds.
func (r besideRun) settle(c *lineClient) {
	if r.name == "ours" {
		c.settle()
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// clearHome takes all but some names out of a home.
func clearHome(t testing.TB, home string, keep ...string) {
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	for _, e := range entries {
		if !slices.Contains(keep, e.Name()) {
			require.NoError(t, os.RemoveAll(filepath.Join(home, e.Name())))
		}
	}
}
