package core

import (
	"appserver/core/history"
	"appserver/core/state"
	"appserver/core/transcript"
	"appserver/protocol"
)

func (in Start) apply(s *step)  { s.start(in) }
func (in Resume) apply(s *step) { s.resume(in) }

func (in Read) apply(s *step) {
	s.reply(in.To, protocol.ThreadReadResponse{Thread: s.View(in.IncludeTurns)})
}

func (in SetName) apply(s *step) { s.setName(in) }

// Thread is one conversation: its durable state and the active turn.
type Thread struct {
	state *state.State
	// context and transcript are the parts of state.
	context    *history.History
	transcript *transcript.Transcript
	options    Options
	active     *turn
	// waiting has the inputs that arrived while a turn was ending.
	waiting []waiter
	// failed is set if the last turn failed.
	failed bool
	draft  *draft
	// terminals are the background commands of the thread, ended ones included.
	terminals []*terminal
	// allowed has the commands that the client accepted for the session.
	allowed map[string]bool
	// warned is set after a warning that commands are not confined, untracked after a warning that
	// changes of files are not known.
	warned, untracked bool
	// captures are the pending checkpoints. The first one is being made.
	captures []capture
	// base and developer are the instructions from the client's thread/resume. If they are nil, the
	// instructions from its thread/start apply.
	base, developer *string
	// announcedEnd is the turn that clients know to have failed because its lines could not be appended.
	// The next line records that in the rollout.
	announcedEnd *announcedFailure
	// capabilities are the capabilities of the last turn's environment.
	capabilities Capabilities
	// overhead is the last count of the request's parts that are not items.
	overhead   overhead
	lastEffect EffectID
	// serverTools are the tools of MCP servers, questions the open questions of those servers.
	serverTools []ServerTool
	questions   []*openQuestion
	// memory has the rules of the last environment. remembering are the effects that store removed items.
	// memoryWarned is set after a warning about the memory.
	memory       MemoryRules
	remembering  []EffectID
	memoryWarned bool
}

// waiter is a caller whose input waits for the end of a turn.
type waiter struct {
	to protocol.Caller
	in Input
}

type announcedFailure struct {
	turnID string
	err    protocol.TurnError
}

// applyEnv applies the parts of an environment that hold beyond the turn. A thread without a rollout
// has no memory.
func (t *Thread) applyEnv(w TurnEnv) {
	t.capabilities, t.memory = w.Capabilities, w.Memory
	t.state.SetModel()
	t.context.SetResponses(w.Capabilities.Responses)
	t.context.ChooseForms()
	if t.options.Ephemeral {
		t.memory = MemoryRules{}
	}
}

// ID returns the thread's id.
func (t *Thread) ID() string { return t.state.ID }

// Settings returns the settings of the next turn.
func (t *Thread) Settings() Settings { return t.state.Settings }

// ProviderRecorded reports whether the rollout names the provider of the model.
func (t *Thread) ProviderRecorded() bool { return t.state.ProviderRecorded }

// ActiveTurn returns the id of the active turn, or "".
func (t *Thread) ActiveTurn() string {
	if t.active == nil {
		return ""
	}
	return t.active.id
}

// OpenCallers returns the callers whose requests are open: those whose turn/start waits for the end of
// the active turn, and the one that waits for the draft of a compaction.
func (t *Thread) OpenCallers() []protocol.Caller {
	var callers []protocol.Caller
	if t.draft.waits() {
		callers = append(callers, t.draft.to)
	}
	for _, w := range t.waiting {
		callers = append(callers, w.to)
	}
	return callers
}

// Step applies an input. The package documentation says in which order to use the output.
func (t *Thread) Step(stamp Stamp, in Input) Output {
	s := &step{Thread: t, Stamp: stamp}
	in.apply(s)
	s.finishStep()
	return s.out
}

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

func (s *step) start(in Start) {
	s.setOptions(in.Options)
	s.applyEnv(in.Env)
	s.record(protocol.LineSessionMeta, in.Meta)
	s.changeSettings(in.Settings, "")
	if in.Resumes != nil {
		s.startFromHistory(in)
		return
	}
	s.replyToStart(in)
	s.notify(protocol.ThreadStartedNotification{Thread: s.View(false)})
	s.warn(in.Warnings)
}

func (s *step) replyToStart(in Start) {
	if in.Replaces != "" {
		s.reply(in.To, protocol.ThreadArchiveAndNewResponse{ArchivedThreadID: in.Replaces, Thread: s.View(false)})
		return
	}
	s.reply(in.To, protocol.ThreadStartResponse{Thread: s.View(false), ThreadSettingsView: s.settingsView(in.Env)})
}

func (s *step) resume(in Resume) {
	if in.Fresh {
		s.applyEnv(in.Env)
		s.closeDanglingTurn()
		s.adjustSettings(in.Settings, "")
		s.base, s.developer = in.BaseInstructions, in.DeveloperInstructions
		s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
	}
	s.reply(in.To, s.resumeResponse(in.Params, in.Env))
	if in.Fresh && s.state.Usage.Total.TotalTokens > 0 {
		s.notifyUsage(s.state.CurrentTurn())
	}
	s.warn(in.Warnings)
	if in.Fresh {
		s.expandEncrypted(&in.Env)
	}
	s.resendRequests(in.To.Conn)
}

func (s *step) resumeResponse(p *protocol.ThreadResumeParams, w TurnEnv) protocol.ThreadResumeResponse {
	answer := protocol.ThreadResumeResponse{
		Thread:             s.View(!p.ExcludeTurns),
		ThreadSettingsView: s.settingsView(w),
		CollaborationMode:  protocol.ActiveMode(s.state.Settings.StoredMode()),
		InitialTurnsPage:   s.initialPage(p.InitialTurnsPage),
	}
	answer.TurnsBackwardsCursor, answer.ItemsBackwardsCursor = s.lists().LastCursors()
	return answer
}

// startFromHistory replies to a thread/resume that starts the thread with items.
func (s *step) startFromHistory(in Start) {
	s.addItems(in.History)
	s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
	s.reply(in.To, s.resumeResponse(in.Resumes, in.Env))
	s.warn(in.Warnings)
}

func (s *step) setName(in SetName) {
	if s.rejectEphemeral(in.To) {
		return
	}
	s.closeDanglingTurn()
	s.event(protocol.NameUpdated{Type: protocol.EventNameUpdated, ThreadID: s.state.ID, ThreadName: in.Name})
	s.out.Sync = true
	s.reply(in.To, protocol.Empty{})
	s.notify(protocol.ThreadNameUpdatedNotification{ThreadID: s.state.ID, ThreadName: in.Name})
	s.effect(RecordName{Name: in.Name})
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

// item adds an item to the model's history, or to the history of the active review.
func (s *step) item(v protocol.ResponseItemVariant) {
	if r := s.reviewing(); r != nil {
		r.items = append(r.items, protocol.ResponseItem{ResponseItemVariant: v})
		return
	}
	s.itemOfThread(v)
}

// itemOfThread adds an item to the history of the thread, even during a review.
func (s *step) itemOfThread(v protocol.ResponseItemVariant) {
	s.record(protocol.LineResponseItem, protocol.ResponseItem{ResponseItemVariant: v})
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

func (s *step) effect(e Effect) { s.out.Effects = append(s.out.Effects, e) }

func (s *step) newEffect() EffectID {
	s.lastEffect++
	return s.lastEffect
}

// Input is one event for a thread.
type Input interface {
	// apply changes the thread, and adds lines, messages and effects to the step.
	apply(s *step)
}

// findTurn returns the position of a turn.
func (t *Thread) findTurn(id string) (int, *protocol.Error) {
	turn, found := t.transcript.IndexOf(id)
	if !found {
		return 0, protocol.Refuse(protocol.KindTurnNotFound, "turn not found: %s", id)
	}
	return turn, nil
}
