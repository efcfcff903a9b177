package forward

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"appserver/protocol"
)

// followed is a thread whose notifications the client gets through a link.
type followed struct {
	link *link
	// params are the params of the thread/resume with which the client subscribed, or nil.
	params json.RawMessage
	// turn is the turn under way as the client knows it, or "". completed are its completed items.
	// isActive is set if a turn was under way at the time of the subscription.
	turn      string
	completed map[string]bool
	isActive  bool
	// rejoining is set while the thread is resumed at its next owner.
	rejoining bool
}

// follow notes which threads the client follows after a response.
func (s *session) follow(l *link, r *request, result json.RawMessage) {
	switch r.method {
	case "thread/resume":
		var resumed struct {
			Thread struct {
				Status struct {
					Type string `json:"type"`
				} `json:"status"`
			} `json:"thread"`
		}
		_ = protocol.Unmarshal(result, &resumed) // without a status, no turn is under way
		s.followThread(r.thread, &followed{link: l, params: paramsToResume(r.params),
			isActive: resumed.Thread.Status.Type == "active"})
	case "thread/start", "thread/fork":
		var made protocol.ThreadForkResponse
		if protocol.Unmarshal(result, &made) == nil {
			s.followThread(made.Thread.ID, &followed{link: l})
		}
	case "review/start":
		var review protocol.ReviewStartResponse
		if protocol.Unmarshal(result, &review) == nil && review.ReviewThreadID != r.thread {
			s.followThread(review.ReviewThreadID, &followed{link: l, turn: review.Turn.ID})
		}
	case "thread/unsubscribe":
		s.unfollow(r.thread)
	}
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

func (s *session) followThread(thread string, f *followed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.completed = map[string]bool{}
	s.followed[thread] = f
}

func (s *session) unfollow(thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.followed, thread)
}

// progress has the members of notifications that say how far a turn is.
type progress struct {
	ThreadID string `json:"threadId"`
	Turn     struct {
		ID string `json:"id"`
	} `json:"turn"`
	Item struct {
		ID string `json:"id"`
	} `json:"item"`
}

// note notes from a notification how much the client knows about a thread.
func (s *session) note(m message) {
	switch m.Method {
	case "turn/started", "turn/completed", "item/completed", "thread/closed":
	default:
		return
	}
	var p progress
	if protocol.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.followed[p.ThreadID]
	if f == nil {
		return
	}
	switch m.Method {
	case "turn/started":
		f.turn, f.completed = p.Turn.ID, map[string]bool{}
	case "turn/completed":
		f.turn, f.isActive = "", false
	case "item/completed":
		f.completed[p.Item.ID] = true
	case "thread/closed":
		delete(s.followed, p.ThreadID)
	}
}
