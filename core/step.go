package core

import (
	"slices"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// step is the state of one call of Step.
type step struct {
	*Thread
	Stamp
	out Output
	// contextChanges is set if clients are to be notified of the context. changes has the changes of the
	// step's edits.
	contextChanges bool
	changes        []history.Change
	// discards is set if the removed items are not to be stored in the memory.
	discards bool
}

// none is the index of no element.
const none = -1

// orEmpty returns an empty list for nil, which JSON would write as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// record appends a line and applies it.
func (s *step) record(kind string, payload any) {
	raw, err := protocol.Marshal(payload)
	if err != nil {
		return // payloads are types of protocol, which always encode
	}
	ordinal := s.state.Next
	line := protocol.RolloutLine{Timestamp: protocol.Timestamp(s.Now), Ordinal: &ordinal, Type: kind, Payload: raw}
	s.out.Lines = append(s.out.Lines, line)
	s.state.Apply(&line)
	s.state.SetModel()
	s.context.ChooseForms()
}

func (s *step) event(payload any) { s.record(protocol.LineEventMsg, payload) }

// itemOfThread adds an item to the history of the thread, even during a review.
func (s *step) itemOfThread(v protocol.ResponseItemVariant) {
	s.record(protocol.LineResponseItem, protocol.ResponseItem{ResponseItemVariant: v})
}

// item adds an item to the model's history, or to the history of the active review.
func (s *step) item(v protocol.ResponseItemVariant) {
	if r := s.reviewing(); r != nil {
		r.items = append(r.items, protocol.ResponseItem{ResponseItemVariant: v})
		return
	}
	s.itemOfThread(v)
}

// reviewing returns the active review, or nil.
func (s *step) reviewing() *review {
	if s.isIdle() || s.active.review == nil || s.active.review.done {
		return nil
	}
	return s.active.review
}

func (s *step) send(m Message) { s.out.Messages = append(s.out.Messages, m) }

func (s *step) reply(to protocol.Caller, result any) { s.send(Reply{to, result}) }

func (s *step) reject(to protocol.Caller, err *protocol.Error) { s.send(Refusal{to, err}) }

func (s *step) notify(n protocol.Notification) { s.send(Notice{n}) }

func (s *step) warn(warnings []string) {
	for _, w := range warnings {
		s.notify(protocol.WarningNotification{ThreadID: &s.state.ID, Message: w})
	}
}

// maxWarned bounds the warnings of which a thread knows that the client has them.
const maxWarned = 100

// warnOnce sends the warnings that the thread has not sent since it was loaded.
func (s *step) warnOnce(warnings []string) {
	for _, w := range warnings {
		if !slices.Contains(s.warnedOf, w) && len(s.warnedOf) < maxWarned {
			s.warnedOf = append(s.warnedOf, w)
			s.warn([]string{w})
		}
	}
}

func (s *step) effect(e Effect) { s.out.Effects = append(s.out.Effects, e) }

func (s *step) newEffect() EffectID {
	s.lastEffect++
	return s.lastEffect
}

// removeEffect removes an effect that ended. It returns false for an unknown effect.
func removeEffect(effects *[]EffectID, id EffectID) bool {
	i := slices.Index(*effects, id)
	if i < 0 {
		return false
	}
	*effects = slices.Delete(*effects, i, i+1)
	return true
}

// ActiveTurn returns the id of the active turn, or "".
func (t *Thread) ActiveTurn() string {
	if t.isIdle() {
		return ""
	}
	return t.active.id
}

// findTurn returns the position of a turn.
func (t *Thread) findTurn(id string) (int, *protocol.Error) {
	turn, found := t.transcript.IndexOf(id)
	if !found {
		return 0, protocol.Refuse(protocol.KindTurnNotFound, "turn not found: %s", id)
	}
	return turn, nil
}

// applyEnv applies the parts of an environment that hold beyond the turn. A thread without a rollout
// has no memory.
func (t *Thread) applyEnv(env TurnEnv) {
	t.capabilities, t.memory, t.economizes = env.Capabilities, env.Memory, env.Economy.Mode == protocol.EconomyAuto
	t.state.SetModel()
	t.context.SetResponses(env.Capabilities.Responses)
	t.context.ChooseForms()
	if t.options.Ephemeral {
		t.memory = MemoryRules{}
	}
}

// stopDelay cancels the timer of turn/completed.
func (s *step) stopDelay() {
	if s.active.timer != 0 {
		s.effect(Cancel{s.active.timer})
		s.active.timer = 0
	}
}
