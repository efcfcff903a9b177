package bench

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/store"
)

// writer appends to a thread.
type writer struct {
	journal store.Journal
	next    int64
}

// newWriter begins a thread.
func (r storeRun) newWriter(threads store.Threads, n int) *writer {
	id, _, at := benchRollout(n)
	journal, err := threads.Begin(id, at, nil)
	require.NoError(r, err)
	r.Cleanup(func() { require.NoError(r, journal.Close()) })
	w := &writer{journal: journal}
	require.NoError(r, w.write("session_meta", fmt.Sprintf(
		`{"id":%q,"timestamp":%q,"cwd":"/x","source":"cli","model_provider":"offline"}`, id, protocol.Timestamp(at))))
	require.NoError(r, w.append())
	return w
}

func (w *writer) write(kind, payload string) error {
	ordinal := w.next
	w.next++
	return w.journal.Append([]protocol.RolloutLine{{Timestamp: protocol.Timestamp(time.Now()), Ordinal: &ordinal,
		Type: kind, Payload: []byte(payload)}}, true)
}

// appendText makes a line of about 1 KiB.
var appendText = fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`,
	strings.Repeat("word ", 180))

func (w *writer) append() error { return w.write("response_item", appendText) }

// appends measures one durable append at a time.
func (r storeRun) appends() {
	row := storeRow{name: "durable append of 1 KiB", unit: "ms", rule: "3 × + 1 rt",
		limit: func(files, trip float64) float64 { return 3*files + trip }}
	standby := storeRow{name: "durable append of 1 KiB, with a synchronous standby", unit: "ms", rule: "4 × + 2 rt",
		limit: func(files, trip float64) float64 { return 4*files + 2*trip }}
	local := r.newWriter(r.openFiles(r.TempDir()), 0)
	remote := r.newWriter(r.openDatabase(r.database()), 0)
	paired := r.newWriter(r.openDatabase(r.pairedDatabase()), 0)
	took := func(w *writer) float64 {
		began := time.Now()
		require.NoError(r, w.append())
		return ms(time.Since(began))
	}
	for range 500 {
		of := took(local)
		r.put(row, false, of)
		r.put(standby, false, of)
		r.put(row, true, took(remote))
		r.put(standby, true, took(paired))
	}
}

// writers measures durable appends of 200 threads at once.
func (r storeRun) writers() {
	const (
		threads = 200
		rounds  = 5
	)
	row := storeRow{name: "durable appends of 200 threads, a second", rule: "0.8 ×", higher: true,
		limit: func(files, _ float64) float64 { return 0.8 * files }}
	standby := row
	standby.name += ", with a synchronous standby"
	local, remote, paired := r.openFiles(r.TempDir()), r.openDatabase(r.database()), r.openDatabase(r.pairedDatabase())
	all := map[store.Threads][]*writer{}
	for _, s := range []store.Threads{local, remote, paired} {
		for n := range threads {
			all[s] = append(all[s], r.newWriter(s, n))
		}
	}
	for range rounds {
		of := r.throughput(all[local])
		r.put(row, false, of)
		r.put(standby, false, of)
		r.put(row, true, r.throughput(all[remote]))
		r.put(standby, true, r.throughput(all[paired]))
	}
}

// throughput returns the number of appends a second.
func (r storeRun) throughput(writers []*writer) float64 {
	const duration = time.Second
	var done atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for _, w := range writers {
		all.Go(func() {
			for time.Since(began) < duration {
				if err := w.append(); err != nil {
					r.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}
