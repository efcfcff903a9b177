package forward

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"appserver/protocol"
)

// followed is a thread whose notifications the client gets through a link.
type followed struct {
	link *link
	// rejoining is set while the thread is resumed at its next owner. The link can still pass notifications on.
	rejoining bool
	// params are the params of another thread/resume, or nil.
	params json.RawMessage
	// turn is the turn under way as the client knows it, or "". completed are its completed items.
	turn      string
	completed map[string]bool
	// isActive is set if a turn was under way at the time of the subscription.
	isActive bool
	// last is the last turn that the client knows, or "". knowsLast is set if that was the last turn of the thread.
	last      string
	knowsLast bool
}

// begin records that a turn is under way.
func (f *followed) begin(turn string) {
	if f.last != turn {
		f.completed = map[string]bool{}
	}
	f.turn, f.last, f.knowsLast = turn, turn, true
}

// end records that no turn is under way.
func (f *followed) end(turn string) { f.turn, f.isActive, f.last, f.knowsLast = "", false, turn, true }

// follow notes which threads the client follows after a response. The notifications of the link come later.
func (s *session) follow(l *link, r *request, result json.RawMessage) {
	var made struct {
		Thread struct {
			ID     string `json:"id"`
			Status struct {
				Type string `json:"type"`
			} `json:"status"`
			Turns []identified `json:"turns"`
		} `json:"thread"`
		Turn           identified `json:"turn"`
		ReviewThreadID string     `json:"reviewThreadId"`
	}
	if r.isRejoin || protocol.Unmarshal(result, &made) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.method.Subscribes && made.Thread.ID != "" {
		f := s.followLocked(made.Thread.ID, l)
		f.isActive = made.Thread.Status.Type == "active"
		if made.Thread.ID == r.thread {
			f.params = paramsToResume(r.params)
		}
		if !f.knowsLast && !excludesTurns(r.params) {
			f.knowsLast = true
			if n := len(made.Thread.Turns); n > 0 {
				f.last = made.Thread.Turns[n-1].ID
			}
		}
	}
	if r.method.StartsTurn && made.Turn.ID != "" {
		if made.ReviewThreadID != "" && made.ReviewThreadID != r.thread {
			s.followLocked(made.ReviewThreadID, l).begin(made.Turn.ID)
		} else if f := s.followed[r.thread]; f != nil && f.turn == "" {
			f.begin(made.Turn.ID)
		}
	}
	if r.method.Unsubscribes {
		delete(s.followed, r.thread)
	}
}

func excludesTurns(params json.RawMessage) bool {
	var p struct {
		ExcludeTurns bool `json:"excludeTurns"`
	}
	return protocol.Unmarshal(params, &p) != nil || p.ExcludeTurns
}

// threadOfInterrupt returns the thread of a turn/interrupt that names only the turn, if the client follows the thread
// through a link, or "".
func (f *Forwarder) threadOfInterrupt(conn uint64, params json.RawMessage) string {
	var p protocol.TurnInterruptParams
	if protocol.Unmarshal(params, &p) != nil || p.TurnID == "" {
		return ""
	}
	f.mu.Lock()
	s := f.sessions[conn]
	f.mu.Unlock()
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for thread, followed := range s.followed {
		if followed.turn == p.TurnID {
			return thread
		}
	}
	return ""
}

// identified has the id of a turn, an item or a thread.
type identified struct {
	ID string `json:"id"`
}

// followLocked records that the client gets the notifications of a thread through a link. What it knows about the
// thread stays.
func (s *session) followLocked(thread string, l *link) *followed {
	f := s.followed[thread]
	if f == nil {
		f = &followed{completed: map[string]bool{}}
		s.followed[thread] = f
	}
	f.link, f.rejoining = l, false
	return f
}

// unrepeated are the members of thread/resume that another thread/resume must not have. The settings are in the
// log, where later changes of them are as well. The rest selects the response.
var unrepeated = []string{"model", "modelProvider", "serviceTier", "cwd", "approvalPolicy", "approvalsReviewer", "sandbox",
	"excludeTurns", "initialTurnsPage", "history", "path"}

// unrepeatedConfig are the keys of the configuration that select the same settings. The trust of a project selects
// a sandbox.
var unrepeatedConfig = []string{"model", "model_provider", "model_reasoning_effort", "model_reasoning_summary",
	"service_tier", "approval_policy", "approvals_reviewer", "sandbox_mode", "sandbox_workspace_write", "projects"}

// paramsToResume returns the params of a client for another thread/resume, which returns all turns and changes no
// settings.
func paramsToResume(params json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if protocol.Unmarshal(params, &members) != nil {
		return nil
	}
	for _, name := range unrepeated {
		delete(members, name)
	}
	if own, ok := members["config"]; ok {
		delete(members, "config")
		if kept, ok := configToResume(own); ok {
			members["config"] = kept
		}
	}
	again, err := protocol.Marshal(members)
	if err != nil {
		return nil
	}
	return again
}

// configToResume returns the keys of a client's configuration that select no settings.
func configToResume(config json.RawMessage) (kept json.RawMessage, ok bool) {
	var keys map[string]json.RawMessage
	if protocol.Unmarshal(config, &keys) != nil {
		return nil, false
	}
	maps.DeleteFunc(keys, func(key string, _ json.RawMessage) bool {
		root, _, _ := strings.Cut(key, ".")
		return slices.Contains(unrepeatedConfig, strings.Trim(strings.TrimSpace(root), `"'`))
	})
	kept, err := protocol.Marshal(keys)
	return kept, err == nil
}

// progress has the members of notifications that say what a client knows about a thread.
type progress struct {
	ThreadID         string     `json:"threadId"`
	Turn             identified `json:"turn"`
	Item             identified `json:"item"`
	ArchivedThreadID string     `json:"archivedThreadId"`
	NewThreadID      string     `json:"newThreadId"`
	Thread           identified `json:"thread"`
}

// isNoted reports whether an edge records the progress of its client by a notification. The owner sends such a
// notification even if the client has opted out of it, and the edge drops it.
func (f *Forwarder) isNoted(method string) bool {
	return f.kinds[method].Progress != protocol.NoProgress
}

// noteLocked notes from a notification how much the client knows about a thread. It returns false if the notification
// comes from a former owner of the thread, after the client has resumed it at another one.
func (s *session) noteLocked(l *link, m message) bool {
	var p progress
	made := s.kinds[m.Method].Progress
	if made == protocol.NoProgress || protocol.Unmarshal(m.Params, &p) != nil {
		return true
	}
	if made == protocol.ThreadJoined {
		delete(s.followed, p.ArchivedThreadID)
		if thread := cmp.Or(p.Thread.ID, p.NewThreadID); s.followed[thread] == nil {
			s.followLocked(thread, l).knowsLast = true
		}
		return true
	}
	f := s.followed[p.ThreadID]
	switch {
	case f == nil:
		return true
	case f.link != l && !f.rejoining:
		return false
	}
	switch made {
	case protocol.TurnBegun:
		f.begin(p.Turn.ID)
	case protocol.TurnEnded:
		f.end(p.Turn.ID)
	case protocol.ItemEnded:
		f.completed[p.Item.ID] = true
	case protocol.ThreadLeft:
		delete(s.followed, p.ThreadID)
	}
	return true
}
