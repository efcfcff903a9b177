package core

import (
	"time"

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
	// Answered is set if another input replies to the caller.
	Answered bool
}

func (in Fork) apply(s *step) { s.fork(in) }

func (s *step) fork(in Fork) {
	s.setOptions(in.Options)
	s.applyEnv(in.Env)
	s.closeDanglingTurn()
	s.changeSettings(in.Settings, "")
	if in.Name != s.name {
		s.event(protocol.NameUpdated{Type: protocol.EventNameUpdated, ThreadID: s.id, ThreadName: in.Name})
	}
	if !in.Answered {
		s.reply(in.To,
			protocol.ThreadForkResponse{Thread: s.View(!in.ExcludeTurns), ThreadSettingsView: s.settingsView(in.Env)})
	}
	if s.usage.Total.TotalTokens > 0 {
		s.notifyUsage(s.currentTurn())
	}
	s.notify(protocol.ThreadStartedNotification{Thread: s.View(false)})
	s.warn(in.Warnings)
	if s.options.Ephemeral {
		return
	}
	if s.name != "" {
		s.effect(RecordName{Name: s.name})
	}
	if len(s.points) > 0 {
		s.effect(CopyCheckpoints{s.allPoints(), s.changesSinceFirstPoint()})
	}
}

// ForkMeta returns the first line of a fork: the same environment, and items in the same form.
func (t *Thread) ForkMeta(id string, at time.Time) protocol.SessionMeta {
	m := t.Successor(id, at)
	m.ForkedFromID, m.HistoryMode = new(t.id), t.meta.HistoryMode
	return m
}

// Name returns the name of the thread, or "".
func (t *Thread) Name() string { return t.name }

// ForkAt returns the ordinal of the first line that a fork up to or before a turn does not have.
func (t *Thread) ForkAt(last, before *string) (int64, *protocol.Error) {
	switch {
	case last != nil && before != nil:
		return 0, protocol.Refuse(protocol.KindInvalidRequest, "`beforeTurnId` cannot be combined with `lastTurnId`")
	case last != nil:
		return t.ordinalAfter(*last)
	case before != nil:
		turn, err := t.findTurn(*before)
		return t.startOf(turn), err
	}
	return t.next, nil
}

func (t *Thread) ordinalAfter(id string) (int64, *protocol.Error) {
	turn, err := t.findTurn(id)
	switch {
	case err == nil && t.ActiveTurn() == id:
		err = protocol.Refuse(protocol.KindTurnActive, "lastTurnId '%s' identifies an in-progress turn", id)
		err.Data.TurnID = id
	case err == nil && turn+1 < len(t.transcript.Turns()):
		return t.startOf(turn + 1), nil
	}
	return t.next, err
}

// ForkLines returns the lines of a fork: those before an ordinal, with their ordinals, since edits
// name items by them.
func ForkLines(lines []protocol.RolloutLine, before int64, meta protocol.SessionMeta) ([]protocol.RolloutLine, error) {
	raw, err := protocol.Marshal(meta)
	if err != nil {
		return nil, err
	}
	forked := make([]protocol.RolloutLine, 1, len(lines)+1)
	forked[0] = protocol.RolloutLine{
		Timestamp: meta.Timestamp,
		Ordinal:   new(int64(0)),
		Type:      protocol.LineSessionMeta,
		Payload:   raw,
	}
	for _, line := range lines {
		switch {
		case *line.Ordinal >= before:
			return forked, nil
		case line.Type == protocol.LineSessionMeta, line.Type == protocol.LineContextBackup:
		default:
			forked = append(forked, line)
		}
	}
	return forked, nil
}
