package core

import (
	"time"

	"appserver/core/pure/lineref"
	"appserver/protocol"
)

// Fork begins a thread from lines of another one. The other members have the meaning of Resume.
type Fork struct {
	To       protocol.Caller
	Env      TurnEnv
	Settings Settings
	Options  Options
	// Name is the name of the other thread.
	Name         string
	ExcludeTurns bool
	Warnings     []string
	// AtRequest is set if the fork ends before a model request of its last turn. The model is not told of the end of
	// the turn, so that its next request can repeat that one.
	AtRequest bool
	// Turns bounds the turns of which the fork keeps the items, or is 0 without a bound.
	Turns int
	// Answered is set if another input replies to the caller. Unasked has the meaning of Start.
	Answered, Unasked bool
}

func (in Fork) apply(s *step) { s.fork(in) }

func (s *step) fork(in Fork) {
	s.setOptions(in.Options)
	s.applyEnv(in.Env)
	if in.AtRequest {
		s.cutTurn()
	}
	s.closeDanglingTurn()
	if in.Turns > 0 && len(s.context.ActiveTurns()) > in.Turns {
		c := s.beginTrim()
		s.trimTo(in.Turns, protocol.TrimHistoryLimit, "", nil)
		s.endTrim(c, nil)
	}
	s.changeSettings(in.Settings, "")
	if in.Name != s.state.Name {
		s.event(protocol.NameUpdated{Type: protocol.EventNameUpdated, ThreadID: s.state.ID, ThreadName: in.Name})
	}
	if !in.Answered && !in.Unasked {
		s.reply(in.To,
			protocol.ThreadForkResponse{Thread: s.responseView(!in.ExcludeTurns), ThreadSettingsView: s.settingsView(in.Env)})
	}
	if s.state.Usage.Total.TotalTokens > 0 {
		s.notifyUsage(s.state.CurrentTurn())
	}
	if in.Unasked {
		s.out.Sync = true // as in start
		s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
	} else {
		s.notify(protocol.ThreadStartedNotification{Thread: s.View(false)})
	}
	s.warn(in.Warnings)
	if s.options.Ephemeral {
		return
	}
	if s.state.Name != "" {
		s.effect(RecordName{Name: s.state.Name})
	}
	if len(s.state.Checkpoints) > 0 {
		points, changes := s.state.CheckpointsForFork()
		s.effect(CopyCheckpoints{points, changes})
	}
}

// ForkMeta returns the first line of a fork: the same environment, and items in the same form.
func (t *Thread) ForkMeta(id string, at time.Time) protocol.SessionMeta {
	m := t.Successor(id, at)
	m.ForkedFromID, m.HistoryMode = new(t.state.ID), t.state.Meta.HistoryMode
	return m
}

// Name returns the name of the thread, or "".
func (t *Thread) Name() string { return t.state.Name }

// cutTurn records the end of the turn whose model request the fork does not have.
func (s *step) cutTurn() {
	if last := s.transcript.Last(); last != nil && last.Status == protocol.TurnInProgress {
		s.event(protocol.TurnAborted{Type: protocol.EventTurnAborted, TurnID: last.ID, Reason: "interrupted",
			StartedAt: last.StartedAt})
		s.out.Sync = true
	}
}

// ForkAt returns the ordinal of the first line that a fork up to or before a turn, or before a request, does not have.
func (t *Thread) ForkAt(last, before, request *string) (int64, *protocol.Error) {
	switch {
	case last != nil && before != nil:
		return 0, protocol.Refuse(protocol.KindInvalidRequest, "`beforeTurnId` cannot be combined with `lastTurnId`")
	case request != nil && (last != nil || before != nil):
		return 0, protocol.Refuse(protocol.KindInvalidRequest,
			"`beforeRequestId` cannot be combined with `lastTurnId` or `beforeTurnId`")
	case request != nil:
		return t.beforeRequest(*request)
	case last != nil:
		return t.ordinalAfter(*last)
	case before != nil:
		turn, err := t.findTurn(*before)
		return t.state.StartOf(turn), err
	}
	return t.state.Next, nil
}

// beforeRequest returns the ordinal of the first line that was not there when a request of a turn was sent.
func (t *Thread) beforeRequest(id string) (int64, *protocol.Error) {
	i := t.state.FindRequest(id)
	if i < 0 {
		return 0, protocol.Refuse(protocol.KindRequestNotFound,
			"there is no request %s: name the requestId of an entry of thread/usage/list", id)
	}
	r := t.state.Request(i)
	if r.Kind != protocol.RequestTurn {
		return 0, protocol.Refuse(protocol.KindInvalidRequest,
			"request %s belongs to a %s: fork before a request of the kind turn, or before a turn", id, r.Kind)
	}
	return r.From, nil
}

func (t *Thread) ordinalAfter(id string) (int64, *protocol.Error) {
	turn, err := t.findTurn(id)
	switch {
	case err == nil && t.openTurn() == id:
		err = protocol.Refuse(protocol.KindTurnActive, "lastTurnId '%s' identifies an in-progress turn", id)
		err.Data.TurnID = id
	case err == nil && turn+1 < t.transcript.TurnCount():
		return t.state.StartOf(turn + 1), nil
	}
	return t.state.Next, err
}

// ForkFirst returns the first line of a fork.
func ForkFirst(meta protocol.SessionMeta) (protocol.RolloutLine, error) {
	raw, err := protocol.Marshal(meta)
	return protocol.RolloutLine{
		Timestamp: meta.Timestamp, Ordinal: new(int64(0)), Type: protocol.LineSessionMeta, Payload: raw,
	}, err
}

// BeginFork starts the load of a fork from the lines of its origin. Lines that the fork does not have count, so
// that the numbers of lines are those of the origin.
func BeginFork(first *protocol.RolloutLine, id string, defaults Settings, lines lineref.Lines) *Loading {
	l := BeginLoad(id, defaults, lines)
	l.isFork = true
	l.state.ApplyMeta(first)
	return l
}

// ContinueFork starts the load of a fork from a snapshot of its origin. The fork must have all of the origin's
// turns. It returns false if the snapshot cannot be used, or if the ordinals of the lines are not their numbers.
func ContinueFork(
	meta protocol.SessionMeta, defaults Settings, lines lineref.Lines, from []byte,
) (*Loading, bool) {
	l, ok := ContinueLoad(defaults, lines, from)
	if !ok || !l.state.IsNumbered() {
		return nil, false
	}
	l.isFork = true
	l.state.Fork(meta)
	return l, true
}
