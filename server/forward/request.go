package forward

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"appserver/protocol"
)

const (
	// pauseStep is the pause before the third attempt of a request. Each further attempt waits longer by it, up to
	// maxPause. The second one waits for nothing, because the owner of the thread may be known already.
	pauseStep = 25 * time.Millisecond
	maxPause  = 400 * time.Millisecond
)

// request is a request of a client, or the resumption of a thread for it.
type request struct {
	// thread is "" for a new thread.
	thread string
	method protocol.Method
	params json.RawMessage
	// number is the position of the request among those of its session.
	number uint64
	// attempts are the attempts that no node has served. The next one begins at due, and not after until.
	attempts   int
	due, until time.Time
	// isRejoin is set for a thread/resume that the client has not sent. awaitsFolder is set if it fails rather than
	// be served by a node without the directory of the thread.
	isRejoin, awaitsFolder bool
	// dir is the directory of a new thread. refused are the nodes that did not start it.
	dir     string
	refused []Node
	// done is called once, after the last attempt.
	done func(outcome)
}

// outcome is the end of an attempt.
type outcome struct {
	result any
	err    *protocol.Error
	// unserved is set if a node rejected the request because it is not the owner of the thread.
	unserved bool
	// link is the link of the attempt, or nil if this node served it.
	link *link
}

// requestOf returns a request of a client. It is tried again until the owner of the thread is found.
func (s *session) requestOf(
	to protocol.Caller, thread string, method protocol.Method, params json.RawMessage,
) *request {
	return &request{thread: thread, method: method, params: bytes.Clone(params), until: time.Now().Add(s.Patience),
		done: func(o outcome) {
			if o.err != nil {
				s.Server.Refuse(to, o.err)
				return
			}
			s.Server.Reply(to, o.result)
		}}
}

// settle ends an attempt. A request that was not served is tried again.
func (s *session) settle(r *request, o outcome) {
	now := time.Now()
	if !o.unserved || now.After(r.until) {
		r.done(o)
		return
	}
	r.due = now.Add(min(maxPause, time.Duration(r.attempts)*pauseStep))
	r.attempts++
	s.retry(r, o.link)
}

// threadOf returns the thread of a request or of a notification, or "". The id of a draft begins with that of its
// thread.
func threadOf(params json.RawMessage) string {
	var p struct {
		ThreadID string `json:"threadId"`
		DraftID  string `json:"draftId"`
	}
	if len(params) == 0 || protocol.Unmarshal(params, &p) != nil {
		return "" // the handler rejects them
	}
	if thread, _, isDraft := strings.Cut(p.DraftID, ":"); p.ThreadID == "" && isDraft {
		return thread
	}
	return p.ThreadID
}

func isKind(err *protocol.Error, kind protocol.Kind) bool {
	return err != nil && err.Data != nil && err.Data.Kind == kind
}
