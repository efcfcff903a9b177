package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout"
	"appserver/rollout/files"
	"appserver/rollout/postgres/pgtest"
	"appserver/rollout/store"
	"appserver/test/apptest"
)

// turns measures an empty turn through servers.
func (r storeRun) turns() {
	row := storeRow{name: "an empty turn, to `turn/completed`", unit: "ms", rule: "10 + 4 rt",
		limit: func(_, trip float64) float64 { return 10 + 4*trip }}
	url := r.database()
	local, remote := r.start(r.TempDir(), ""), r.start(r.TempDir(), url)
	threads := map[*apptest.Client]string{local: local.StartTrusted(), remote: remote.StartTrusted()}
	for i := range 110 {
		for _, c := range []*apptest.Client{local, remote} {
			began := time.Now()
			require.Equal(r, "completed", c.Turn(threads[c], "hi").Status)
			if c.Seen = nil; i >= 10 { // the first ones are warming up
				r.put(row, c == remote, ms(time.Since(began)))
			}
		}
	}
}

// resumes measures the resume of a thread of 49 MB in new processes.
func (r storeRun) resumes() {
	cold := storeRow{name: "resume of 49 MB, first", unit: "ms", rule: "2.5 ×",
		limit: func(files, _ float64) float64 { return 2.5 * files }}
	warm := storeRow{name: "resume of 49 MB, again", unit: "ms", rule: "1.3 ×",
		limit: func(files, _ float64) float64 { return 1.3 * files }}
	local, url := r.TempDir(), r.database()
	id := apptest.LongRollout{Turns: 5000, Output: 64, CompactEvery: 50}.Write(r, local)
	r.copyAll(local, url, 1)
	for range 5 {
		require.NoError(r, os.RemoveAll(filepath.Join(local, "appserver-cache")))
		remote := r.TempDir()
		for _, row := range []storeRow{cold, warm} {
			r.put(row, false, r.resume(local, "", id))
			r.put(row, true, r.resume(remote, url, id))
		}
	}
}

func (r storeRun) resume(home, url, id string) float64 {
	c := r.start(home, url)
	took := timed(c, "thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
	c.Close()
	return took
}

// forks measures the fork of a thread of 98 MB in new processes, and their memory. The first round reads the thread.
func (r storeRun) forks() {
	took := storeRow{name: "fork of 98 MB", unit: "ms"}
	peak := storeRow{name: "fork of 98 MB: peak memory", unit: "MB"}
	homes := map[bool]string{false: r.TempDir(), true: r.TempDir()}
	urls := map[bool]string{true: r.database()}
	id := apptest.WriteLongRollout(r, homes[false], 10_000)
	r.copyAll(homes[false], urls[true], 1)
	for round := range 4 {
		for _, isDatabase := range []bool{false, true} {
			c := r.start(homes[isDatabase], urls[isDatabase])
			ms := timed(c, "thread/fork", apptest.Object{"threadId": id, "excludeTurns": true})
			mb := peakMB(r, c.Cmd.Process.Pid)
			if c.Close(); round > 0 {
				r.put(took, isDatabase, ms)
				r.put(peak, isDatabase, mb)
			}
		}
	}
}

// lists measures the first page and a rare search of many threads, in servers that have read all.
func (r storeRun) lists() {
	h := newBenchHome(r, benchNumbers(r, "APPSERVER_BENCH_THREADS", mostThreads)[0])
	url := r.filledDatabase(h)
	local, remote := r.start(h.path, ""), r.start(r.TempDir(), url)
	apptest.AwaitIndex(local)
	page := storeRow{name: fmt.Sprintf("first page of %d threads", h.count), unit: "ms", rule: "5 + 1 rt",
		limit: func(_, trip float64) float64 { return 5 + trip }}
	search := storeRow{name: fmt.Sprintf("rare search in %d threads", h.count), unit: "ms", rule: "50 + 1 rt",
		limit: func(_, trip float64) float64 { return 50 + trip }}
	rare := h.count / 2
	id, _, _ := benchRollout(rare)
	for range 50 {
		for _, c := range []*apptest.Client{local, remote} {
			began := time.Now()
			found := c.Call("thread/list", apptest.Object{"modelProviders": []string{}})
			r.put(page, c == remote, ms(time.Since(began)))
			require.Len(r, gjson.GetBytes(found, "data").Array(), min(25, h.count))
			began = time.Now()
			found = c.Call("thread/search", apptest.Object{"searchTerm": benchQuestion(rare)})
			r.put(search, c == remote, ms(time.Since(began)))
			require.Equal(r, id, gjson.GetBytes(found, "data.0.thread.id").Str)
			c.Seen = nil
		}
	}
}

// filledDatabase returns the URL of a database with the threads of a home. It does not wait for the disk
// while it is filled.
func (r storeRun) filledDatabase(h *benchHome) string {
	server := pgtest.Start(r)
	url := server.URL("postgres", "postgres")
	r.measureTrip(url)
	server.Exec(r, "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
	began := time.Now()
	r.copyAll(h.path, url, h.count)
	r.Logf("%d threads were copied in %v", h.count, time.Since(began))
	server.Exec(r, "ALTER SYSTEM RESET fsync", "SELECT pg_reload_conf()", "VACUUM ANALYZE", "CHECKPOINT")
	return url
}

// copyAll copies the threads of a home into a database, through several nodes. All of them can be found
// then.
func (r storeRun) copyAll(home, url string, count int) {
	from := files.New(rollout.NewStore(rollout.OS(), home), nil, func(err error) { r.Error(err) })
	page, err := from.List(rollout.Query{})
	require.NoError(r, err)
	require.Len(r, page.Heads, count)
	heads := make(chan rollout.Head)
	var all sync.WaitGroup
	for range min(4, count) {
		to := r.openDatabase(url)
		for range 8 {
			all.Go(func() {
				for head := range heads {
					if _, err := store.Copy(from, to, head, false); err != nil {
						r.Error(err)
					}
				}
			})
		}
	}
	for _, head := range page.Heads {
		heads <- head
	}
	close(heads)
	all.Wait()
}
