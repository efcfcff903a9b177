package engine

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// treeWait bounds the time that a thread waits for the threads of its agents.
const treeWait = 10 * time.Second

// below returns the ids of the threads that agents of a thread have started, and of those that these have started. They
// are stored, in the archive or not.
func (e *Engine) below(id string, archived bool) (ids []string) {
	page, err := e.parts.Threads.List(rollout.Query{Ancestor: id, Archived: archived, Unlisted: true})
	if err != nil {
		e.parts.Log.Warn("the threads of agents cannot be listed", zap.String("thread", id), zap.Error(err))
		return nil
	}
	for _, h := range page.Heads {
		if h.ID != id { // hostile rollouts can name each other
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// inEach runs do in the goroutine of each thread, loaded or not, and waits. It joins the errors. The threads must not
// wait for this one.
func (e *Engine) inEach(ids []string, do func(*actor) error) (err error) {
	timer := time.NewTimer(treeWait)
	defer timer.Stop()
	for _, id := range ids {
		result := make(chan error, 1)
		run := func(a *actor) { result <- do(a) }
		_, one := e.post(id, true, request{urgent: true, do: run, absent: run})
		if one == nil {
			select {
			case one = <-result:
			case <-timer.C:
				return errors.Join(err, fmt.Errorf("the thread %s of an agent takes longer than %v", id, treeWait))
			}
		}
		if one != nil {
			err = errors.Join(err, fmt.Errorf("the thread %s of an agent: %w", id, one))
		}
	}
	return err
}

// archiveAgents archives the threads of agents of a thread that was archived. The client gets a warning about those
// that stay.
func (e *Engine) archiveAgents(to protocol.Caller, parent string, ids []string) {
	e.warnOfTree(to, parent, "are not archived", e.inEach(ids, func(a *actor) error { return a.archiveAgent(to.Conn) }))
}

// warnOfTree warns a client about threads of agents that did not follow their parent.
func (e *Engine) warnOfTree(to protocol.Caller, parent, problem string, err error) {
	if err == nil {
		return
	}
	e.parts.Log.Warn("threads of agents "+problem, zap.String("thread", parent), zap.Error(err))
	e.parts.Outbox.Notify(to.Conn, protocol.WarningNotification{ThreadID: &parent,
		Message: fmt.Sprintf("Threads of agents %s: %v", problem, err)})
}

// archiveAgent ends the turn of an agent, unloads its thread and archives it. An archived one stays as it is.
func (a *actor) archiveAgent(conn uint64) error {
	if a.thread != nil {
		if err := a.engine.parts.Threads.Check(a.at, store.OpArchive); err != nil || a.options.Ephemeral {
			return err
		}
		a.endTurn()
	}
	followers := a.endAgent(conn)
	err := a.checkUnarchived()
	var archived *protocol.Error
	if errors.As(err, &archived) {
		return nil
	}
	if err == nil {
		a.endResumable()
		err = a.engine.parts.Threads.Archive(store.Ref{ID: a.id})
	}
	if err != nil {
		a.notifyTo(followers, protocol.ThreadClosedNotification{ThreadID: a.id})
		return err
	}
	a.notifyTo(followers, protocol.ThreadArchivedNotification{ThreadID: a.id})
	return nil
}

// endAgent unloads the thread of an agent, if it is loaded, and returns the clients to notify: its subscribers, and one
// more.
func (a *actor) endAgent(conn uint64) (followers []uint64) {
	if a.thread == nil {
		return []uint64{conn}
	}
	a.subscribe(conn)
	followers = a.subscribers
	a.endTerminals()
	a.unload()
	a.notifyTo(followers, statusNotLoaded(a.id))
	return followers
}

// unarchiveAgents moves the threads of agents out of the archive, after their parent.
func (e *Engine) unarchiveAgents(to protocol.Caller, parent string) {
	err := e.inEach(e.below(parent, true), func(a *actor) error {
		if a.thread != nil {
			return nil
		}
		_, err := a.readAndUnarchive()
		if err == nil {
			a.notifyTo([]uint64{to.Conn}, protocol.ThreadUnarchivedNotification{ThreadID: a.id})
		}
		return err
	})
	e.warnOfTree(to, parent, "stay in the archive", err)
}

// deleteAgents deletes the threads of agents of a thread, before it is deleted itself.
func (e *Engine) deleteAgents(to protocol.Caller, parent string) error {
	ids := append(e.below(parent, false), e.below(parent, true)...)
	return e.inEach(ids, func(a *actor) error { return a.deleteAgent(to.Conn) })
}

// deleteAgent ends the turn of an agent, unloads its thread and deletes it.
func (a *actor) deleteAgent(conn uint64) error {
	if a.thread != nil {
		if err := a.checkDelete(); err != nil {
			return err
		}
		a.endTurn()
	}
	followers := a.endAgent(conn)
	if err := a.engine.parts.Threads.Delete(a.id); err != nil {
		return err
	}
	a.engine.forgetThread(a.id)
	a.engine.team.remove(a.id)
	a.notifyTo(followers, protocol.ThreadDeletedNotification{ThreadID: a.id})
	return nil
}

// followAgents subscribes a client to the loaded agents that the thread has started, and to theirs. It gets their
// status and their open questions.
func (a *actor) followAgents(conn uint64) {
	for _, id := range a.engine.team.children(a.id) {
		a.engine.inThread(id, func(child *actor) {
			if child.thread == nil {
				return
			}
			if !child.subscribed(conn) {
				child.subscribe(conn)
				child.showTo(conn)
			}
			child.followAgents(conn)
		})
	}
}

// showTo sends a new subscriber the status of the thread and the requests that no client has answered.
func (a *actor) showTo(conn uint64) {
	if a.thread.ActiveTurn() == "" || !a.subscribed(conn) {
		return
	}
	out := a.engine.parts.Outbox
	out.Notify(conn, protocol.ThreadStatusChangedNotification{ThreadID: a.id, Status: a.thread.Status()})
	for _, r := range a.openRequests() {
		out.Ask(conn, r.ID, r.Method, r.Params, a.answerTo(r.ID))
	}
}

// leaveAgents ends the subscription of a client to the loaded agents that the thread has started, and to theirs.
func (a *actor) leaveAgents(conn uint64) {
	for _, id := range a.engine.team.children(a.id) {
		a.engine.inThread(id, func(child *actor) {
			child.unsubscribe(conn)
			child.leaveAgents(conn)
		})
	}
}

// followedBy subscribes a client that has resumed the thread to its agents.
func (a *actor) followedBy(to protocol.Caller) {
	if a.thread != nil && to != (protocol.Caller{}) {
		a.followAgents(to.Conn)
	}
}
