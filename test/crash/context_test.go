package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// editor makes edits of a thread's context while its servers are killed, and knows what
// the list must be after each revision.
type editor struct {
	*apptest.Client
	t      *testing.T
	rand   *rand.Rand
	home   string
	thread string
	ids    []string
	// states are the lists by revision: what is excluded and what is deleted.
	states []editState
	// told is the greatest revision that an answer told.
	told int64
}

// editState is what a list is after an edit: per item, included, excluded or gone.
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

// TestCrashKeepsEdits kills the server at random moments: while edits pour in, and while
// it ends and rewrites the rollout. Every edit that was answered is in force afterwards,
// no other but those that were sent behind it, in their order; and the list has every
// item.
func TestCrashKeepsEdits(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	e := &editor{t: t, rand: rand.New(rand.NewPCG(seed, 0)), home: t.TempDir()}
	e.prepare()
	for range sampled(*crashes) {
		e.start()
		sent := e.pour()
		if e.rand.IntN(3) == 0 {
			require.NoError(t, e.In.Close())
		}
		time.Sleep(time.Duration(e.rand.IntN(12_000)) * time.Microsecond)
		_ = e.Cmd.Process.Kill() // it may have ended
		e.listen(sent)
	}
	e.start()
	e.Close()
	e.start()
	e.Close()
}

// prepare makes a thread of a few turns.
func (e *editor) prepare() {
	e.Client = apptest.StartOffline(e.t, e.home)
	e.thread = e.StartTrusted()
	for i := range 4 {
		e.Turn(e.thread, fmt.Sprintf("run: echo output %d", i))
	}
	state := editState{}
	for _, item := range e.ContextList(e.thread).Items {
		e.ids = append(e.ids, item.ID)
		state[item.ID] = "included"
	}
	e.states = []editState{state}
	e.Close()
}

// start starts a server and checks what it has.
func (e *editor) start() {
	e.t.Helper()
	e.Client = apptest.StartOffline(e.t, e.home)
	e.Call("thread/resume", apptest.Object{"threadId": e.thread})
	list := e.ContextList(e.thread)
	require.GreaterOrEqual(e.t, list.Revision, e.told, "answered edits are lost")
	require.Less(e.t, list.Revision, int64(len(e.states)), "edits that nobody made")
	require.Equal(e.t, e.states[list.Revision], stateOf(e.ids, list), "revision %d", list.Revision)
	e.states, e.told = e.states[:list.Revision+1], list.Revision
	require.Empty(e.t, e.Warnings())
}

// stateOf is what a list says of the items.
func stateOf(ids []string, list protocol.ContextGetItemsResponse) editState {
	state := editState{}
	for _, id := range ids {
		state[id] = "gone"
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

// pour sends edits that each change one item, without waiting for answers, and gives the
// revisions that they make, by request. Deleting a call would take its output along, so
// only the first item, the surroundings, is ever deleted.
func (e *editor) pour() map[string]int64 {
	e.t.Helper()
	sent := map[string]int64{}
	for range 1 + e.rand.IntN(40) {
		now := e.states[len(e.states)-1]
		id := e.ids[e.rand.IntN(len(e.ids))]
		var request string
		switch {
		case now[id] == "gone":
			continue
		case id == e.ids[0] && e.rand.IntN(4) == 0:
			request = e.SendRequest("context/pruneByIndices", apptest.Object{"threadId": e.thread, "ids": []string{id}})
			e.states = append(e.states, now.with(id, "gone"))
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

// listen reads what a killed server has said: which edits were answered.
func (e *editor) listen(sent map[string]int64) {
	e.t.Helper()
	unread := len(e.Seen)
	e.Drain()
	for _, m := range e.Seen[unread:] {
		revision, ours := sent[string(m.ID)]
		if m.Method != "" || !ours {
			continue
		}
		var answer struct{ Revision int64 }
		require.Nil(e.t, m.Error)
		require.NoError(e.t, json.Unmarshal(m.Result, &answer))
		require.Equal(e.t, revision, answer.Revision)
		e.told = max(e.told, revision)
	}
}
