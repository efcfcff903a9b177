package core

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"appserver/core/history"
	"appserver/core/lineref"
	"appserver/core/transcript"
	"appserver/protocol"
)

// log is the durable state of a thread. Only apply changes it.
type log struct {
	id       string
	meta     protocol.SessionMeta
	settings Settings
	applied  string // the last thread_settings_applied event
	name     string
	namedAt  string // the time of the line
	next     int64  // the ordinal of the next line
	session  string // the provider session, "" for the first one
	// disordered is set if the ordinals of lines differ from their count.
	disordered bool
	context    history.History
	transcript transcript.Transcript
	// providerRecorded is set after a line has named the provider of the model.
	providerRecorded bool
	usage            protocol.ThreadTokenUsage
	// memoryOff is set while the memory of the thread is off.
	memoryOff bool
	// modelRecorded is set after a line has named the model.
	modelRecorded bool
	written       string // the timestamp of the last line that has one
	worktreeLog
	// from reads the lines again while they are applied, or is nil. line counts the lines.
	from *lineref.Source
	line int32
	// appended reads the lines that were appended after the load.
	appended *lineref.Source
}

// maxOrdinal bounds ordinals to integers that every reader of JSON knows exactly.
const maxOrdinal = 1 << 53

// apply changes the state by a line. An unreadable line only counts.
func (l *log) apply(line *protocol.RolloutLine) {
	defer l.evictLine(l.context.Len())
	if line.Ordinal != nil && *line.Ordinal >= l.next && *line.Ordinal < maxOrdinal {
		l.next = *line.Ordinal
	}
	l.disordered = l.disordered || line.Ordinal != nil && *line.Ordinal != l.next
	ordinal := l.next
	l.next++
	if line.Timestamp != "" {
		l.written = line.Timestamp
	}
	if len(line.Payload) == 0 || line.Payload[0] != '{' {
		return
	}
	switch line.Type {
	case protocol.LineSessionMeta:
		l.applyMeta(line.Payload)
	case protocol.LineThreadMetadata:
		l.applyMetadata(line.Payload)
	case protocol.LineTurnContext:
		l.applyTurnContext(line.Payload)
	case protocol.LineResponseItem, protocol.LineCompacted, protocol.LineTrimPoint, protocol.LineContextEdit:
		l.applyToContext(ordinal, line)
	case protocol.LineProviderSession:
		l.session = peek(line.Payload, "id")
	case protocol.LineEventMsg:
		l.applyEvent(ordinal, line)
	case protocol.LineCheckpoint:
		l.applyCheckpoint(line)
	case protocol.LineWorktreeChanges:
		l.applyChanges(line.Payload)
	case protocol.LineMemoryMode:
		l.memoryOff = peek(line.Payload, "mode") == protocol.MemoryDisabled
	}
}

// applyToContext applies a line that changes the model's history.
func (l *log) applyToContext(ordinal int64, line *protocol.RolloutLine) {
	l.setModel()
	at := l.historyLine(ordinal, line)
	switch line.Type {
	case protocol.LineResponseItem:
		l.context.Add(&at)
	case protocol.LineCompacted:
		l.context.ApplyCompacted(&at)
	case protocol.LineTrimPoint:
		l.context.ApplyTrimPoint(&at)
	case protocol.LineContextEdit:
		l.context.ApplyEdit(&at)
	}
}

// setModel informs the history of the model for which the next request is.
func (l *log) setModel() {
	l.context.SetModel(history.Model{Provider: l.settings.Provider, Name: l.settings.Model})
}

func (l *log) historyLine(ordinal int64, line *protocol.RolloutLine) history.Line {
	return history.Line{RolloutLine: *line, Ordinal: ordinal, TurnID: l.currentTurn(), Source: l.from, Number: l.line}
}

// applyMeta keeps the first session_meta line. Forks also have those of their parents.
func (l *log) applyMeta(payload json.RawMessage) {
	var meta protocol.SessionMeta
	if l.meta.ID != "" || protocol.Unmarshal(payload, &meta) != nil {
		return
	}
	meta.Git = meta.Git.Public()
	l.meta = meta
	l.settings.Cwd = meta.Cwd
	if meta.ModelProvider != "" {
		l.settings.Provider, l.providerRecorded = meta.ModelProvider, true
	}
	if l.id == "" {
		l.id = meta.ID
	}
}

// peek returns a text of valid JSON, or "".
func peek(payload json.RawMessage, path string) string { return gjson.GetBytes(payload, path).Str }

// storedContext is a turn_context line whose values may come from another version.
type storedContext struct {
	protocol.TurnContext
	ApprovalPolicy    json.RawMessage `json:"approval_policy"`
	ApprovalsReviewer json.RawMessage `json:"approvals_reviewer"`
}

// storedSettings is a thread_settings_applied event whose values may come from another version.
type storedSettings struct {
	protocol.StoredSettings
	ApprovalPolicy    json.RawMessage `json:"approval_policy"`
	ApprovalsReviewer json.RawMessage `json:"approvals_reviewer"`
}

// applySettings applies the settings that the reference implementation stores. Absent settings do not
// change.
func (l *log) applySettings(payload json.RawMessage) {
	var e struct {
		ThreadSettings *storedSettings `json:"thread_settings"`
	}
	if protocol.Unmarshal(payload, &e) != nil || e.ThreadSettings == nil {
		return
	}
	s := e.ThreadSettings
	set(&l.settings.Cwd, optional(s.Cwd))
	set(&l.settings.Model, optional(s.Model))
	l.modelRecorded = l.modelRecorded || s.Model != ""
	set(&l.settings.Provider, optional(s.ModelProviderID))
	l.providerRecorded = l.providerRecorded || s.ModelProviderID != ""
	if s.CollaborationMode.Mode != "" {
		l.settings = l.settings.withMode(&protocol.CollaborationMode{Mode: s.CollaborationMode.Mode,
			Settings: protocol.CollaborationModeSettings{
				ReasoningEffort:       s.CollaborationMode.Settings.ReasoningEffort,
				DeveloperInstructions: s.CollaborationMode.Settings.DeveloperInstructions,
			}})
	}
	if s.PermissionProfile.Type != "" {
		l.settings.Sandbox = s.PermissionProfile.Policy(l.settings.Cwd)
	}
	l.applyApprovals(s.ApprovalPolicy, s.ApprovalsReviewer)
	l.applied = string(payload)
}

// applyApprovals applies the approval policy and its reviewer. An unknown policy becomes on-request.
// An absent one does not change.
func (l *log) applyApprovals(policy, reviewer json.RawMessage) {
	if len(policy) > 0 && protocol.Unmarshal(policy, &l.settings.ApprovalPolicy) != nil {
		l.settings.ApprovalPolicy = protocol.AskForApproval{Mode: protocol.ApprovalOnRequest}
	}
	var who protocol.ApprovalsReviewer
	if protocol.Unmarshal(reviewer, &who) == nil {
		l.settings.Reviewer = who
	}
}

// applyTurnContext applies the settings of a turn.
func (l *log) applyTurnContext(payload json.RawMessage) {
	var c storedContext
	if protocol.Unmarshal(payload, &c) != nil {
		return
	}
	set(&l.settings.Cwd, optional(c.Cwd))
	set(&l.settings.Model, optional(c.Model))
	l.modelRecorded = l.modelRecorded || c.Model != ""
	if c.SandboxPolicy.Type != "" {
		l.settings.Sandbox = c.SandboxPolicy.Policy()
	}
	l.applyApprovals(c.ApprovalPolicy, c.ApprovalsReviewer)
	l.settings.Effort, l.settings.Summary, l.settings.ServiceTier = c.Effort, c.Summary, c.ServiceTier
	if c.ModelProvider != "" {
		l.settings.Provider, l.providerRecorded = c.ModelProvider, true
	}
}

func (l *log) currentTurn() string {
	if last := l.transcript.Last(); last != nil {
		return last.ID
	}
	return ""
}

func (l *log) applyMetadata(payload json.RawMessage) {
	var m protocol.ThreadMetadata
	if protocol.Unmarshal(payload, &m) == nil {
		l.meta.Git = m.Git.Public()
	}
}

// startOf returns the ordinal of a turn's first line. If no line begins turns, the user's message
// precedes the line that identifies the turn.
func (l *log) startOf(turn int) int64 {
	if turn >= len(l.transcript.Turns()) {
		return l.next
	}
	begin := l.transcript.BeginOf(turn)
	place := l.context.FindOrdinal(begin)
	items := l.transcript.Turn(turn).Items()
	if place > 0 && len(items) > 0 && items[0].IsNumbered() && l.context.UserItemID(place-1) == items[0].ID() {
		return l.context.Item(place - 1).Ordinal()
	}
	return begin
}
