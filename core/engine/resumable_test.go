package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/rollout/store"
)

// asks makes a new thread ask whether a command may run. It returns the id of the thread.
func (r *rig) asks(words string) string {
	r.t.Helper()
	r.setup.policy = protocol.ApprovalUntrusted
	id := r.begin(1)
	r.turn(1, id, words)
	require.Len(r.t, r.clients.open(1), 1)
	return id
}

// statusOf returns the status of the first turn of a thread.
func (r *rig) statusOf(thread string) string {
	return r.ask(1, read(thread)).Get("thread.turns.0.status").Str
}

// acceptsAgain resumes a thread with a pending request, accepts the command, and expects that it runs once.
func (r *rig) acceptsAgain(t *testing.T, thread string) {
	t.Helper()
	require.Equal(t, "inProgress", r.statusOf(thread), "a read changes nothing")
	got := r.ask(1, resume(thread))
	require.Equal(t, "inProgress", got.Get("thread.turns.0.status").Str)
	open := r.clients.open(1)
	require.Len(t, open, 1)
	listed := r.ask(1, openRequests(protocol.ServerRequestListParams{ThreadID: &thread}))
	require.Equal(t, open[0].id, listed.Get("data.0.requestId").Uint())
	open[0].answer(decision("accept"), nil)
	synctest.Wait()
	require.Equal(t, []string{"touch a"}, r.agent.ran())
	require.Equal(t, []string{"completed"}, r.ends(1))
	r.requireKept(thread)
}

func TestARequestSurvivesACrash(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.asks("run touch a")
		crashed := r.afterCrash()
		crashed.acceptsAgain(t, id)
		require.NoError(t, crashed.close(grace))
	})
}

// TestARequestSurvivesAShutdown checks that the old server withdraws the request and does not end the turn.
func TestARequestSurvivesAShutdown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.asks("run touch a")
		require.NoError(t, r.close(grace))
		require.Equal(t, 1, r.resolved(1))
		require.Empty(t, r.ends(1))
		r.restart()
		r.clients.forget()
		r.acceptsAgain(t, id)
	})
}

// TestARequestSurvivesARewrite excludes an item, so that the rollout is rewritten for other programs when the
// server ends.
func TestARequestSurvivesARewrite(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.asks("run touch a")
		r.ask(1, exclude(id, r.idOf(id, "run touch a")))
		r.leave()
		_, backup := r.files(id)
		require.NotEmpty(t, backup)
		r.acceptsAgain(t, id)
	})
}

// TestAServerThatCannotRunTurnsSendsNoRequest checks that the turn stays for a server that can, and can be
// interrupted.
func TestAServerThatCannotRunTurnsSendsNoRequest(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.asks("run touch a")
		r.leave()
		r.setup.onWorld(func(string) error { return errors.New("there is no such provider") })
		got := r.ask(1, resume(id))
		require.Equal(t, "inProgress", got.Get("thread.turns.0.status").Str)
		require.Empty(t, r.clients.open(1))
		crashed := r.afterCrash()
		crashed.setup.onWorld(nil)
		crashed.acceptsAgain(t, id)
		require.NoError(t, crashed.close(grace))
		r.ask(1, interrupt(id, got.Get("thread.turns.0.id").Str))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
		require.Equal(t, protocol.KindNoActiveTurn, r.rejected(1, interrupt(id, "")))
		require.Equal(t, "interrupted", r.statusOf(id))
	})
}

// TestAStartedCommandDoesNotSurviveACrash checks that a command that the client accepted never runs again.
func TestAStartedCommandDoesNotSurviveACrash(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.asks("run hang")
		r.clients.open(1)[0].answer(decision("accept"), nil)
		synctest.Wait()
		require.Equal(t, []string{"hang"}, r.agent.ran())
		crashed := r.afterCrash()
		got := crashed.ask(1, resume(id))
		require.Equal(t, "interrupted", got.Get("thread.turns.0.status").Str)
		require.Empty(t, crashed.clients.open(1))
		require.Empty(t, crashed.agent.ran())
		require.NoError(t, crashed.close(grace))
	})
}

// TestSurvivorsLeaveRequests checks that a node that takes over a thread leaves its pending request.
func TestSurvivorsLeaveRequests(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.asks("run touch a")
		crashed := r.afterCrash()
		crashed.TakeOver(id)
		synctest.Wait()
		require.Empty(t, crashed.loaded())
		require.Empty(t, crashed.mem.Held())
		crashed.acceptsAgain(t, id)
		require.NoError(t, crashed.close(grace))
	})
}

// TestChangesOfAStoredThreadLeaveItsRequest checks a change without a load by a client, and that the archive
// ends the turn.
func TestChangesOfAStoredThreadLeaveItsRequest(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.asks("run touch a")
		require.NoError(t, r.close(grace))
		r.restart()
		r.ask(1, setName(id, "builds"))
		require.Equal(t, "inProgress", r.statusOf(id))
		require.Equal(t, protocol.KindTurnActive, r.rejected(1, archiveAndNew(id, nil)))
		r.ask(1, archive(id))
		require.Equal(t, "interrupted", r.statusOf(id))
	})
}

// losing are threads whose journals lose their lease when the channel is closed.
type losing struct {
	store.Threads
	lost chan struct{}
}

// Begin begins such a journal.
func (l losing) Begin(id string, at time.Time, seed *rollout.Seed) (store.Journal, error) {
	j, err := l.Threads.Begin(id, at, seed)
	return losingJournal{j, l.lost}, err
}

type losingJournal struct {
	store.Journal
	lost chan struct{}
}

// Lost returns the channel of the threads.
func (j losingJournal) Lost() <-chan struct{} { return j.lost }

// TestARequestSurvivesALostLease checks that the turn does not fail, since the next owner continues it.
func TestARequestSurvivesALostLease(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		lost := make(chan struct{})
		files := r.threads(nil)
		r.with(func(p *engine.Parts) { p.Threads = losing{files, lost} })
		id := r.asks("run touch a")
		close(lost)
		synctest.Wait()
		require.Equal(t, 1, r.resolved(1))
		require.Empty(t, r.ends(1))
		require.Len(t, r.clients.notices(1, "thread/closed"), 1)
		require.Empty(t, r.loaded())
		r.acceptsAgain(t, id)
	})
}

// TestARequestOfAnotherProgramIsAskedByTheNextWriter checks a loaded thread whose rollout another program
// has continued.
func TestARequestOfAnotherProgramIsAskedByTheNextWriter(t *testing.T) {
	bubbleOn(t, noDescriptors, func(t *testing.T, r *rig, faulty *faultfs.Disk) {
		r.setup.policy = protocol.ApprovalUntrusted
		id := r.suspends(faulty)
		path, err := r.store.Find(id)
		require.NoError(t, err)
		other, contents, err := rollout.NewStore(r.mem, home).Open(path)
		require.NoError(t, err)
		var lines []protocol.RolloutLine
		for i, payload := range []string{
			protocol.LineEventMsg, `{"type":"task_started","turn_id":"` + id + `"}`,
			protocol.LineResponseItem, `{"type":"function_call","name":"shell","arguments":"{\"command\":\"touch a\"}","call_id":"c"}`,
			protocol.LineTurnWaiting, `{"turn_id":"` + id + `","call_id":"c"}`,
		} {
			if i%2 == 0 {
				lines = append(lines, protocol.RolloutLine{Ordinal: new(contents.Next + int64(i/2)), Type: payload})
				continue
			}
			lines[i/2].Payload = []byte(payload)
		}
		require.NoError(t, other.Append(lines, true))
		require.NoError(t, other.Close())
		r.ask(1, setName(id, "n"))
		require.Len(t, r.clients.open(1), 1)
		r.clients.open(1)[0].answer(decision("accept"), nil)
		synctest.Wait()
		require.Equal(t, []string{"touch a"}, r.agent.ran())
		require.Equal(t, "completed", r.ask(1, read(id)).Get("thread.turns.1.status").Str)
	})
}
