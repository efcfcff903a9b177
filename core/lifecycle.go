package core

import (
	"fmt"

	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// ID returns the thread's id.
func (t *Thread) ID() string { return t.state.ID }

// Settings returns the settings of the next turn.
func (t *Thread) Settings() Settings { return t.state.Settings }

// ProviderRecorded reports whether the rollout names the provider of the model.
func (t *Thread) ProviderRecorded() bool { return t.state.ProviderRecorded }

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

// Start begins a new thread.
type Start struct {
	To       protocol.Caller
	Meta     protocol.SessionMeta
	Settings Settings
	Options  Options
	Env      TurnEnv
	// Warnings are sent to the client, such as settings that have no effect.
	Warnings []string
	// Replaces is the id of the archived thread that this one succeeds, or "".
	Replaces string
	// History has the context items of a thread that begins with thread/resume or with items of another one. Resumes
	// has the params of thread/resume, or is nil.
	History []protocol.ResponseItem
	Resumes *protocol.ThreadResumeParams
	// Unasked is set for an agent, which no client has requested. Clients get its status instead of a response.
	Unasked bool
}

func (in Start) apply(s *step) { s.start(in) }

// Resume subscribes a client to a thread. Fresh is set if the thread was loaded for this request.
// It takes the Settings and instructions then; a thread that was loaded before keeps its own.
type Resume struct {
	To     protocol.Caller
	Params *protocol.ThreadResumeParams
	Env    TurnEnv
	Fresh  bool
	// NoTurns is set if the thread cannot run turns in Env. A resumable turn stays resumable then.
	NoTurns bool
	// Settings are the current settings with the client's overrides.
	Settings Settings
	// BaseInstructions and DeveloperInstructions are the client's, or nil.
	BaseInstructions, DeveloperInstructions *string
	// Warnings are sent to the client: problems of the rollout.
	Warnings []string
}

func (in Resume) apply(s *step) { s.resume(in) }

// Read requests the thread's view.
type Read struct {
	To           protocol.Caller
	IncludeTurns bool
}

func (in Read) apply(s *step) {
	s.reply(in.To, protocol.ThreadReadResponse{Thread: s.responseView(in.IncludeTurns)})
}

// SetName changes the name of the thread.
type SetName struct {
	To   protocol.Caller
	Name string
}

func (in SetName) apply(s *step) { s.setName(in) }

func (s *step) start(in Start) {
	s.setOptions(in.Options)
	s.applyEnv(in.Env)
	s.record(protocol.LineSessionMeta, in.Meta)
	s.changeSettings(in.Settings, "")
	if in.Resumes != nil {
		s.startFromHistory(in)
		return
	}
	if in.Unasked {
		s.addItems(in.History)
		s.out.Sync = true // the item of the call that started it promises that it exists
		s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
		return
	}
	s.replyToStart(in)
	s.notify(protocol.ThreadStartedNotification{Thread: s.View(false)})
	s.warn(in.Warnings)
	s.warnOnce(in.Env.Warnings)
}

func (s *step) replyToStart(in Start) {
	if in.Replaces != "" {
		s.reply(in.To, protocol.ThreadArchiveAndNewResponse{ArchivedThreadID: in.Replaces, Thread: s.View(false)})
		return
	}
	s.reply(in.To, protocol.ThreadStartResponse{Thread: s.View(false), ThreadSettingsView: s.settingsView(in.Env)})
}

// startFromHistory replies to a thread/resume that starts the thread with items.
func (s *step) startFromHistory(in Start) {
	s.addItems(in.History)
	s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
	s.reply(in.To, s.resumeResponse(in.Resumes, in.Env))
	s.warn(in.Warnings)
}

func (s *step) resume(in Resume) {
	if in.Fresh {
		s.applyEnv(in.Env)
		s.beginFresh(in)
		s.adjustSettings(in.Settings, s.ActiveTurn())
		s.base, s.developer = in.BaseInstructions, in.DeveloperInstructions
		s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
	} else {
		s.adjustSettings(in.Settings, s.ActiveTurn())
	}
	s.reply(in.To, s.resumeResponse(in.Params, in.Env))
	if in.Fresh && s.state.Usage.Total.TotalTokens > 0 {
		s.notifyUsage(s.state.CurrentTurn())
	}
	s.warn(in.Warnings)
	s.warnOnce(in.Env.Warnings)
	if in.Fresh && s.isIdle() {
		s.expandEncrypted(&in.Env)
	}
	s.resendRequests(in.To.Conn)
	if in.Fresh {
		s.askAgain()
	}
}

// beginFresh continues the resumable turn of a thread that was loaded, or ends a turn without an end. A turn
// that cannot continue here stays resumable.
func (s *step) beginFresh(in Resume) {
	if in.NoTurns {
		s.closeDanglingTurn()
		return
	}
	s.restoreTurn(in.Env)
}

func (s *step) resumeResponse(p *protocol.ThreadResumeParams, env TurnEnv) protocol.ThreadResumeResponse {
	answer := protocol.ThreadResumeResponse{
		Thread:             s.responseView(!p.ExcludeTurns),
		ThreadSettingsView: s.settingsView(env),
		CollaborationMode:  protocol.ActiveMode(s.state.Settings.StoredMode()),
		InitialTurnsPage:   s.initialPage(p.InitialTurnsPage),
	}
	answer.TurnsBackwardsCursor, answer.ItemsBackwardsCursor = s.lists().LastCursors()
	return answer
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

// StorageFailed reports a failed append to a thread that was loaded again from its rollout. Requests
// has the requests that the client had not answered.
type StorageFailed struct {
	Err      error
	Requests []uint64
	// Turn is the id of the turn that clients know as active, or "".
	Turn string
	// Waits is set if the turn waited for an answer only before the step.
	Waits bool
	// WaitingEdits is set if edits of the context waited for the end of the turn.
	WaitingEdits bool
	// Settings are the settings before the step whose lines were lost.
	Settings Settings
}

func (in StorageFailed) apply(s *step) { s.storageFailed(in) }

// storageFailed fails the turn whose lines were lost.
func (s *step) storageFailed(in StorageFailed) {
	s.dropTurn()
	s.state.Settings, s.waiting = in.Settings, nil
	s.failed = in.Turn != "" || s.lastTurnFailed()
	for _, id := range in.Requests {
		s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.state.ID, RequestID: id})
	}
	for _, q := range s.questions {
		s.answerServer(q.Question, protocol.ElicitCancel)
	}
	s.questions = nil
	if in.WaitingEdits {
		s.warn([]string{"edits of the context that waited for the end of the turn are lost: make them again"})
	}
	if in.Turn == "" {
		s.notifyStatus()
		return
	}
	s.announcedEnd = &announcedFailure{in.Turn, protocol.TurnError{
		Message:        fmt.Sprintf("the conversation could not be saved: %v", in.Err),
		CodexErrorInfo: &protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
	}}
	s.notifyStatus()
	s.notify(protocol.ErrorNotification{Error: s.announcedEnd.err, ThreadID: s.state.ID, TurnID: in.Turn})
	ended := (&transcript.Turn{ID: in.Turn, Root: in.Turn}).View()
	if i, ok := s.transcript.IndexOf(in.Turn); ok {
		ended = s.transcript.Turn(i).View()
	}
	ended.Status, ended.Error = protocol.TurnFailed, &s.announcedEnd.err
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.state.ID, Turn: ended})
}
