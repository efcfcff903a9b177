package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// editor edits the context of a thread while servers are killed. It knows the expected list of each
// revision.
type editor struct {
	*apptest.Client
	t      *testing.T
	rand   *rand.Rand
	home   string
	thread string
	path   string
	ids    []string
	// states are the expected lists by revision.
	states []editState
	// acked is the greatest revision in a response.
	acked int64
	// torn is set if a kill cut off a line of the rollout.
	torn bool
}

// editState has the state of each item: included, excluded or deleted.
type editState map[string]string

func (s editState) with(id, state string) editState {
	next := editState{id: state}
	for other, was := range s {
		if other != id {
			next[other] = was
		}
	}
	return next
}

// TestCrashKeepsContextEdits kills the server at random moments: between edits, and while it
// rewrites the rollout on shutdown. Afterwards the list has the revision of the last acknowledged
// edit or of a later one, and every item has the state of that revision.
func TestCrashKeepsContextEdits(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	e := &editor{t: t, rand: rand.New(rand.NewPCG(seed, 0)), home: t.TempDir()}
	e.prepare()
	for range sampled(*crashes) {
		e.start()
		sent := e.sendEdits()
		if e.rand.IntN(3) == 0 {
			require.NoError(t, e.In.Close())
		}
		time.Sleep(time.Duration(e.rand.IntN(12_000)) * time.Microsecond)
		_ = e.Cmd.Process.Kill() // it may have exited
		e.readResponses(sent)
		e.checkTail()
	}
	e.start()
	e.Close()
	e.start()
	e.Close()
}

// prepare creates a thread with four turns.
func (e *editor) prepare() {
	e.Client = apptest.StartOffline(e.t, e.home)
	e.thread = e.StartTrusted()
	for i := range 4 {
		e.Turn(e.thread, fmt.Sprintf("run: echo output %d", i))
	}
	e.path = e.ReadThread(e.thread).Path
	state := editState{}
	for _, item := range e.ContextList(e.thread).Items {
		e.ids = append(e.ids, item.ID)
		state[item.ID] = "included"
	}
	e.states = []editState{state}
	e.Close()
}

// start starts a server and checks the context list.
func (e *editor) start() {
	e.t.Helper()
	e.Client = apptest.StartOffline(e.t, e.home)
	e.Call("thread/resume", apptest.Object{"threadId": e.thread})
	list := e.ContextList(e.thread)
	require.GreaterOrEqual(e.t, list.Revision, e.acked, "acknowledged edits are lost")
	require.Less(e.t, list.Revision, int64(len(e.states)), "unknown edits")
	require.Equal(e.t, e.states[list.Revision], stateOf(e.ids, list), "revision %d", list.Revision)
	e.states, e.acked = e.states[:list.Revision+1], list.Revision
	require.True(e.t, e.torn || len(e.Warnings()) == 0, "%v", e.Warnings())
}

// stateOf returns the state of each item in a list.
func stateOf(ids []string, list protocol.ContextGetItemsResponse) editState {
	state := editState{}
	for _, id := range ids {
		state[id] = "deleted"
	}
	for _, item := range list.Items {
		switch {
		case state[item.ID] == "":
		case item.Included:
			state[item.ID] = "included"
		default:
			state[item.ID] = "excluded"
		}
	}
	return state
}

// sendEdits sends random edits of one item each without waiting. It returns the expected revisions
// by request id. A deleted call would delete its output, so only the first item, the environment,
// is deleted.
func (e *editor) sendEdits() map[string]int64 {
	e.t.Helper()
	sent := map[string]int64{}
	for range 1 + e.rand.IntN(40) {
		now := e.states[len(e.states)-1]
		id := e.ids[e.rand.IntN(len(e.ids))]
		var request string
		switch {
		case now[id] == "deleted":
			continue
		case id == e.ids[0] && e.rand.IntN(4) == 0:
			request = e.SendRequest("context/pruneByIndices", apptest.Object{"threadId": e.thread, "ids": []string{id}})
			e.states = append(e.states, now.with(id, "deleted"))
		case now[id] == "excluded":
			request = e.SendRequest("context/setInclusion",
				apptest.Object{"threadId": e.thread, "ids": []string{id}, "included": true})
			e.states = append(e.states, now.with(id, "included"))
		default:
			request = e.SendRequest("context/setInclusion",
				apptest.Object{"threadId": e.thread, "ids": []string{id}, "included": false})
			e.states = append(e.states, now.with(id, "excluded"))
		}
		sent[request] = int64(len(e.states) - 1)
	}
	return sent
}

// readResponses reads the remaining messages of a killed server and records the acknowledged edits.
func (e *editor) readResponses(sent map[string]int64) {
	e.t.Helper()
	unread := len(e.Seen)
	e.Drain()
	for _, m := range e.Seen[unread:] {
		revision, known := sent[string(m.ID)]
		if m.Method != "" || !known {
			continue
		}
		var answer struct{ Revision int64 }
		require.Nil(e.t, m.Error)
		require.NoError(e.t, json.Unmarshal(m.Result, &answer))
		require.Equal(e.t, revision, answer.Revision)
		e.acked = max(e.acked, revision)
	}
}

// checkTail notes whether the kill cut off the last line of the rollout.
func (e *editor) checkTail() {
	e.t.Helper()
	text, err := os.ReadFile(e.path)
	require.NoError(e.t, err)
	e.torn = e.torn || !bytes.HasSuffix(text, []byte("\n"))
}
