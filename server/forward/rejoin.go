package forward

import (
	"fmt"
	"slices"
	"time"

	"appserver/protocol"
)

// rejoinPause is the pause between two attempts to resume a thread.
const rejoinPause = 200 * time.Millisecond

// leave removes a link that has ended. The threads that the client follows through it are resumed before the
// waiting requests.
func (s *session) leave(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.links, l.owner.Address)
	for thread, f := range s.followed {
		if f.link == l {
			s.rejoinLocked(thread, f, l.left)
		}
	}
}

// rejoin resumes a thread for the client at its next owner, not before after is closed. The requests of the thread
// wait for it.
func (s *session) rejoin(thread string, f *followed, after <-chan struct{}) {
	if after != nil {
		<-after // the lost requests have their responses
	}
	until := time.Now().Add(2 * s.Patience)
	for {
		err := s.resume(thread, f)
		if err == nil || s.ctx.Err() != nil {
			return
		}
		if time.Now().After(until) || !isTemporary(err) {
			s.giveUp(thread, f, err)
			return
		}
		s.sleep(rejoinPause)
	}
}

// giveUp tells the client that a thread could not be resumed.
func (s *session) giveUp(thread string, f *followed, err error) {
	s.Report(fmt.Errorf("thread %s is not resumed after the end of its owner: %w", thread, err))
	s.unfollow(thread)
	if f.turn != "" {
		s.completeTurn(thread, f, protocol.Turn{ID: f.turn, Status: protocol.TurnInterrupted})
	}
	s.Server.Notify(s.conn, protocol.ThreadClosedNotification{ThreadID: thread})
}

// isTemporary reports whether a later attempt to resume a thread may succeed.
func isTemporary(err *protocol.Error) bool {
	return slices.ContainsFunc([]protocol.Kind{protocol.KindStaleOwner, protocol.KindOwnerLost, protocol.KindShuttingDown,
		protocol.KindStorage, protocol.KindOverloaded}, func(k protocol.Kind) bool { return isKind(err, k) })
}

// resume resumes a thread, and tells the client what has happened to the turn that it saw.
func (s *session) resume(thread string, f *followed) *protocol.Error {
	params := f.params
	if params == nil {
		params, _ = protocol.Marshal(protocol.ThreadResumeParams{ThreadID: thread}) // strings always encode
	}
	answered := make(chan *protocol.Error, 1)
	s.place(&request{thread: thread, method: "thread/resume", params: params, done: func(o outcome) {
		if o.err == nil { // before the next notification of the thread
			s.rejoined(thread, f, o)
		}
		answered <- o.err
	}})
	select {
	case err := <-answered:
		return err
	case <-s.ctx.Done():
		return nil
	}
}

// rejoined notes that a thread was resumed for the client, through a link or here.
func (s *session) rejoined(thread string, f *followed, o outcome) {
	s.catchUp(thread, f, o.result)
	if o.link == nil {
		s.unfollow(thread)
	}
}

// catchUp compares the turn that the client saw with the resumed thread.
func (s *session) catchUp(thread string, f *followed, result any) {
	if f.turn == "" && !f.isActive {
		return
	}
	var resumed struct {
		Thread struct {
			Turns []protocol.Turn `json:"turns"`
		} `json:"thread"`
	}
	text, err := protocol.Marshal(result)
	if err == nil {
		err = protocol.Unmarshal(text, &resumed)
	}
	if err != nil {
		s.Report(fmt.Errorf("the response to thread/resume cannot be read: %w", err))
		return
	}
	turns := resumed.Thread.Turns
	for i, t := range turns {
		if t.ID == f.turn || f.turn == "" && i == len(turns)-1 {
			s.completeTurn(thread, f, t)
		}
	}
}

// completeTurn notifies the client of the items and of the end of a turn that it saw.
func (s *session) completeTurn(thread string, f *followed, t protocol.Turn) {
	for _, item := range t.Items {
		at := item.CompletedAtMs
		if at == nil && t.Status == protocol.TurnInProgress {
			continue
		}
		if at == nil {
			at = new(time.Now().UnixMilli())
		}
		if id := item.ItemID(); !f.completed[id] {
			s.Server.Notify(s.conn, protocol.ItemCompletedNotification{
				ThreadID: thread, TurnID: t.ID, Item: item, CompletedAtMs: *at})
		}
	}
	if t.Status == protocol.TurnInProgress {
		return
	}
	t.Items, t.ItemsView = []protocol.ThreadItem{}, protocol.ItemsNotLoaded
	s.Server.Notify(s.conn, protocol.TurnCompletedNotification{ThreadID: thread, Turn: t})
}
