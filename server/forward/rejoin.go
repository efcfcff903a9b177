package forward

import (
	"encoding/json"
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
// wait for it. It ends early if the former owner notifies the client that the thread is closed.
func (s *session) rejoin(thread string, f *followed, after <-chan struct{}) {
	if after != nil {
		<-after // the lost requests have their responses
	}
	begun := time.Now()
	for s.isFollowed(thread, f) {
		err := s.resume(thread, f, time.Since(begun) < s.Patience)
		if err == nil {
			s.refreshContext(thread)
			return
		}
		if time.Since(begun) > 2*s.Patience || !isTemporary(err) {
			s.giveUp(thread, f, err)
			return
		}
		s.sleep(rejoinPause)
	}
}

// isFollowed returns false after the disconnect.
func (s *session) isFollowed(thread string, f *followed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followed[thread] == f && s.ctx.Err() == nil
}

// giveUp notifies the client that a thread could not be resumed.
func (s *session) giveUp(thread string, f *followed, err error) {
	s.Report(fmt.Errorf("thread %s is not resumed after the end of its owner: %w", thread, err))
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.followed, thread)
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

// resume resumes a thread, and notifies the client of the changes of the turns that it does not
// know. After the disconnect it returns nil.
func (s *session) resume(thread string, f *followed, awaitsFolder bool) *protocol.Error {
	params := f.params
	if params == nil {
		params, _ = protocol.Marshal(protocol.ThreadResumeParams{ThreadID: thread}) // strings always encode
	}
	answered := make(chan *protocol.Error, 1)
	r := &request{thread: thread, method: protocol.MethodFor[protocol.ThreadResumeParams](), params: params,
		isRejoin: true, awaitsFolder: awaitsFolder}
	r.done = func(o outcome) {
		if o.err == nil { // before the next notification of the thread
			s.rejoined(thread, f, o)
		}
		answered <- o.err
	}
	s.place(r)
	select {
	case err := <-answered:
		return err
	case <-s.ctx.Done():
		return nil
	}
}

// rejoined records that a thread was resumed for the client, through a link or here. A former owner that still passes
// notifications on waits for it.
func (s *session) rejoined(thread string, f *followed, o outcome) {
	var resumed struct {
		Thread struct {
			Turns []protocol.Turn `json:"turns"`
		} `json:"thread"`
	}
	text, err := protocol.Marshal(o.result)
	if err == nil {
		err = protocol.Unmarshal(text, &resumed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.Report(fmt.Errorf("the response to thread/resume cannot be read: %w", err))
	} else {
		s.catchUp(thread, f, resumed.Thread.Turns)
	}
	if o.link == nil {
		delete(s.followed, thread)
		return
	}
	s.followed[thread], f.link, f.rejoining = f, o.link, false
}

// catchUp notifies the client of the turns of a resumed thread that it does not know, or of which it does not know
// the end.
func (s *session) catchUp(thread string, f *followed, turns []protocol.Turn) {
	seen, last := f.turn, len(turns)-1
	if seen != "" && indexOf(turns, seen) < 0 {
		s.completeTurn(thread, f, protocol.Turn{ID: seen, Status: protocol.TurnInterrupted}) // it is in no log
	}
	known := last // no ended turn counts as new, unless the client knows which was the last one
	if at := indexOf(turns, f.last); f.knowsLast && (at >= 0 || f.last == "") {
		known = at
	}
	isActive, knowsLast := f.isActive, f.knowsLast
	for i, t := range turns {
		switch {
		case t.ID == seen:
			s.completeTurn(thread, f, t)
		case i == known && isActive && seen == "":
			f.last = t.ID // its completed items are noted
			s.completeTurn(thread, f, t)
		case i > known, i == last && t.Status == protocol.TurnInProgress && !knowsLast:
			s.Server.Notify(s.conn, protocol.TurnStartedNotification{ThreadID: thread, Turn: protocol.Turn{
				ID: t.ID, RootTurnID: t.RootTurnID, Status: protocol.TurnInProgress, StartedAt: t.StartedAt,
				Items: []protocol.ThreadItem{}, ItemsView: protocol.ItemsNotLoaded}})
			s.completeTurn(thread, f, t)
		}
	}
	if f.knowsLast = true; last >= 0 {
		f.last = turns[last].ID
	}
}

func indexOf(turns []protocol.Turn, id string) int {
	return slices.IndexFunc(turns, func(t protocol.Turn) bool { return t.ID == id })
}

// completeTurn notifies the client of the completed items and of the end of a turn.
func (s *session) completeTurn(thread string, f *followed, t protocol.Turn) {
	f.begin(t.ID)
	for _, item := range t.Items {
		at := item.CompletedAtMs
		if at == nil && t.Status == protocol.TurnInProgress {
			continue
		}
		if at == nil {
			at = new(time.Now().UnixMilli())
		}
		if id := item.ItemID(); !f.completed[id] {
			f.completed[id] = true
			s.Server.Notify(s.conn, protocol.ItemCompletedNotification{
				ThreadID: thread, TurnID: t.ID, Item: item, CompletedAtMs: *at})
		}
	}
	if t.Status == protocol.TurnInProgress {
		return
	}
	f.end(t.ID)
	t.Items, t.ItemsView = []protocol.ThreadItem{}, protocol.ItemsNotLoaded
	s.Server.Notify(s.conn, protocol.TurnCompletedNotification{ThreadID: thread, Turn: t})
}

// contextItems is a protocol.ContextItemsNotification whose items stay encoded.
type contextItems struct {
	ThreadID   string          `json:"threadId"`
	Revision   int64           `json:"revision"`
	Total      int             `json:"total"`
	Items      json.RawMessage `json:"items"`
	RemovedIDs []string        `json:"removedIds"`
	Full       bool            `json:"full"`
	Usage      json.RawMessage `json:"usage"`
}

// refreshContext sends the context items of a resumed thread to the client. Their changes since the end of the former
// owner were announced to nobody or to other subscribers, and a thread/resume returns none.
func (s *session) refreshContext(thread string) {
	params, _ := protocol.Marshal(protocol.ContextGetItemsParams{ThreadID: thread}) // strings always encode
	method := protocol.MethodFor[protocol.ContextGetItemsParams]()
	s.place(&request{thread: thread, method: method, params: params, done: func(o outcome) {
		if o.err != nil {
			s.Report(fmt.Errorf("the context of thread %s is not sent to its client: %w", thread, o.err))
			return
		}
		name := protocol.ContextItemsNotification{}.NotificationMethod()
		n := contextItems{ThreadID: thread, RemovedIDs: []string{}, Full: true}
		text, err := protocol.Marshal(o.result)
		if err == nil {
			err = protocol.Unmarshal(text, &n)
		}
		if err == nil {
			text, err = protocol.Marshal(n)
		}
		if err == nil {
			text, err = protocol.Marshal(relayed{"2.0", name, text, time.Now().UnixMilli()})
		}
		if err != nil {
			s.Report(fmt.Errorf("the context of thread %s cannot be read: %w", thread, err))
			return
		}
		s.Server.Relay(s.conn, name, text)
	}})
}
