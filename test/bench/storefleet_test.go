package bench

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

const (
	// takeoverKills is the number of kills, and takeoverThreads that of the threads of each killed server.
	takeoverKills   = 20
	takeoverThreads = 5
	// benchLease is the default of fleet.lease_ms, in milliseconds.
	benchLease = 5000
)

// takeovers measures the time from SIGKILL of a server until another one has a thread of it. All threads
// have a turn under way.
func (r storeRun) takeovers() {
	row := storeRow{name: "takeover after SIGKILL, 99th percentile", unit: "ms", rule: "the lease + 1 s", part: 0.99,
		limit: func(_, _ float64) float64 { return benchLease + 1000 }}
	url := r.database()
	next := r.start(r.TempDir(), url)
	for range takeoverKills {
		killed := r.start(r.TempDir(), url)
		var left []string
		for range takeoverThreads {
			id := killed.StartTrusted()
			killed.BeginTurn(id, "run: sleep 100")
			left = append(left, id)
		}
		killed.UntilMethod("item/started")
		began := time.Now()
		killed.KillGroup()
		for len(left) > 0 {
			if next.Request("thread/resume", apptest.Object{"threadId": left[0]}).Error == nil {
				r.put(row, true, ms(time.Since(began)))
				next.Call("thread/unsubscribe", apptest.Object{"threadId": left[0]})
				left = left[1:]
			} else {
				<-time.After(5 * time.Millisecond) // the end of a lease is no event
			}
			next.Seen = nil
		}
	}
}

// edges measures requests and deltas through a server that does not own the thread, beside those through
// the owner. The column of files has the owner.
func (r storeRun) edges() {
	const deltas = 50_000
	request := storeRow{name: "`context/getItems` through another edge (files: through the owner)", unit: "ms",
		rule: "the owner + 1 + 1 rt", limit: func(owner, trip float64) float64 { return owner + 1 + trip }}
	stream := storeRow{name: "deltas a second through another edge (files: through the owner)", rule: "0.5 ×", higher: true,
		limit: func(owner, _ float64) float64 { return owner / 2 }}
	model := newBenchModel(1, 0)
	defer model.Close()
	url := r.database()
	owner, edge := r.linked(model, url), r.linked(model, url)
	direct, forwarded := r.startThread(owner), r.startThread(owner)
	of := func(id, rest string) string { return fmt.Sprintf(`{"threadId":%q%s}`, id, rest) }
	turn := func(c *lineClient, id string) time.Duration {
		began := time.Now()
		r.answered(c, "turn/start", of(id, `,"input":[{"type":"text","text":"hi"}]`))
		c.await(turnCompleted)
		return time.Since(began)
	}
	turn(owner, direct)
	turn(owner, forwarded)
	r.answered(edge, "thread/resume", of(forwarded, ""))
	r.answered(owner, "thread/unsubscribe", of(forwarded, ""))
	for range 200 {
		r.put(request, false, r.answered(owner, "context/getItems", of(direct, "")))
		r.put(request, true, r.answered(edge, "context/getItems", of(forwarded, "")))
	}
	model.deltas = deltas
	for range 5 {
		r.put(stream, false, deltas/turn(owner, direct).Seconds())
		r.put(stream, true, deltas/turn(edge, forwarded).Seconds())
	}
}

// startThread starts a thread and returns its id.
func (r storeRun) startThread(c *lineClient) string {
	r.answered(c, "thread/start", "{}")
	return gjson.GetBytes(c.head, "result.thread.id").Str
}

// answered returns the time of a call in milliseconds.
func (r storeRun) answered(c *lineClient, method, params string) float64 {
	began := time.Now()
	c.call(method, params)
	took := ms(time.Since(began))
	require.False(r, gjson.GetBytes(c.head, "error").Exists(), "%s: %.300s", method, c.head)
	return took
}

// linked starts a server that forwards requests, with a model.
func (r storeRun) linked(model *benchModel, url string) *lineClient {
	cmd := r.command(providerHome(r, model.URL), url, "-c", "model_provider=bench", "-c", `fleet.listen="ws://127.0.0.1:0"`)
	return dialLines(r, cmd)
}
