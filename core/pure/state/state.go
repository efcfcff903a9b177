package state

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"appserver/core/pure/history"
	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// State is the durable state of one thread: all that follows from the lines of its rollout.
type State struct {
	Values
	// Context has the items that the model receives, Transcript the turns that clients see. Their methods that
	// change durable parts are called by Apply only.
	Context    history.History
	Transcript transcript.Transcript
	requests   snapshot.List[request]
	// from reads the lines again while they are applied, or is nil. line counts the lines.
	from *lineref.Source
	line int32
	// appended reads the lines that were appended after the load.
	appended *lineref.Source
	// reverts are the reverts that can be undone, the last one first to undo.
	reverts []reverted
}

// Values are the parts of a State that are not lists of items. Only lines change them, except for Settings
// after a failed append: package core sets those that the lost lines had not changed.
type Values struct {
	ID       string
	Meta     protocol.SessionMeta
	Settings Settings
	// Applied is the payload of the last thread_settings_applied event, or "".
	Applied string
	// Name is the name of the thread, or "". NamedAt is the timestamp of its line.
	Name, NamedAt string
	// Next is the ordinal of the next line.
	Next int64
	// Session is the id of the provider session, or "" for the first one.
	Session string
	// Disordered is set if the ordinals of lines differ from their count.
	Disordered bool
	// ProviderRecorded is set after a line has named the provider of the model, ModelRecorded after a
	// line has named the model.
	ProviderRecorded, ModelRecorded bool
	Usage                           protocol.ThreadTokenUsage
	// MemoryOff is set while the memory of the thread is off.
	MemoryOff bool
	// Written is the timestamp of the last line that has one.
	Written string
	// Requested is the sum of the tokens of all model requests. Texts are the indices of the requests whose
	// lines have the system prompt or the tools of a hash.
	Requested protocol.TokenUsageBreakdown
	Sent      Sent
	Texts     map[string]int
	// Spent has the same sum by model. Saved is the sum of what edits kept out of these requests, in tokens.
	Spent []ModelTokens
	Saved int64
	// Checkpoints are the states of the worktree that one can revert to. FileChanges are the changes of
	// tool calls and reverts. Both are in the order of their lines.
	Checkpoints []Checkpoint
	FileChanges []protocol.WorktreeChanges
	// Waiting is the wait of the last turn_waiting line, or nil if the turn does not wait any more.
	Waiting *protocol.StoredWait
	// Agents are the open agents that the thread has started, in the order of their starts.
	Agents []Agent
}

// maxOrdinal bounds ordinals to integers that every reader of JSON knows exactly.
const maxOrdinal = 1 << 53

// New returns the state of a thread without lines. The defaults apply to settings that no line has. If
// lines is not nil, payloads can be read again from it, and the state keeps no more in memory than it
// needs. FinishLoad ends the use of lines.
func New(id string, defaults Settings, lines lineref.Lines) *State {
	s := &State{Values: Values{ID: id, Settings: defaults}}
	if lines != nil {
		s.from = lineref.NewSource(lines)
	}
	return s
}

// FinishLoad ends the load after the last line that the rollout has. next is the lowest ordinal of the
// next line, since damaged lines have ordinals as well. name is a name that other programs have stored at
// a time, or "". The newer of it and the rollout's name counts.
func (s *State) FinishLoad(next int64, name string, at time.Time) {
	s.from = nil
	s.Written, s.NamedAt = strings.Clone(s.Written), strings.Clone(s.NamedAt)
	s.Next = max(s.Next, next)
	if name != "" && at.After(protocol.ParseTimestamp(s.NamedAt)) {
		s.Name = name
	}
}

// Apply changes the state by a line. An unreadable line only counts.
func (s *State) Apply(line *protocol.RolloutLine) {
	defer s.evictLine(s.Context.Len())
	if line.Ordinal != nil && *line.Ordinal >= s.Next && *line.Ordinal < maxOrdinal {
		s.Next = *line.Ordinal
	}
	s.Disordered = s.Disordered || line.Ordinal != nil && *line.Ordinal != s.Next
	ordinal := s.Next
	s.Next++
	if line.Timestamp != "" {
		s.Written = line.Timestamp
	}
	if len(line.Payload) == 0 || line.Payload[0] != '{' {
		return
	}
	s.forgetReverts(line)
	switch line.Type {
	case protocol.LineSessionMeta:
		s.applyMeta(line.Payload)
	case protocol.LineThreadMetadata:
		s.applyMetadata(line.Payload)
	case protocol.LineTurnContext:
		s.applyTurnContext(line.Payload)
	case protocol.LineResponseItem:
		s.applyAgentNotice(line.Payload)
		s.applyToContext(ordinal, line)
	case protocol.LineCompacted, protocol.LineTrimPoint, protocol.LineContextEdit:
		s.applyToContext(ordinal, line)
	case protocol.LineProviderSession:
		s.Session = peek(line.Payload, "id")
	case protocol.LineEventMsg:
		s.applyEvent(ordinal, line)
	case protocol.LineCheckpoint:
		s.applyCheckpoint(line)
	case protocol.LineWorktreeChanges:
		s.applyChanges(line.Payload)
	case protocol.LineTurnWaiting:
		s.applyWait(line.Payload)
	case protocol.LineEncryptedRefused:
		s.SetModel()
		s.Context.RefuseEncrypted(ordinal, peek(line.Payload, "provider"))
	case protocol.LineMemoryMode:
		s.MemoryOff = peek(line.Payload, "mode") == protocol.MemoryDisabled
	}
}

// applyToContext applies a line that changes the model's history.
func (s *State) applyToContext(ordinal int64, line *protocol.RolloutLine) {
	s.SetModel()
	at := s.historyLine(ordinal, line)
	switch line.Type {
	case protocol.LineResponseItem:
		s.endWait(line.Payload)
		s.Context.Add(&at)
	case protocol.LineCompacted:
		s.Context.ApplyCompacted(&at)
	case protocol.LineTrimPoint:
		s.Context.ApplyTrimPoint(&at)
	case protocol.LineContextEdit:
		s.Context.ApplyEdit(&at)
		s.applyUndoOfRevert(line.Payload)
	}
}

// SetModel informs the context of the model for which the next request is.
func (s *State) SetModel() {
	s.Context.SetModel(history.Model{Provider: s.Settings.Provider, Name: s.Settings.Model})
}

func (s *State) historyLine(ordinal int64, line *protocol.RolloutLine) history.Line {
	return history.Line{RolloutLine: *line, Ordinal: ordinal, TurnID: s.CurrentTurn(), Source: s.from, Number: s.line}
}

// applyMeta keeps the first session_meta line. Forks also have those of their parents.
func (s *State) applyMeta(payload json.RawMessage) {
	var meta protocol.SessionMeta
	if s.Meta.ID != "" || protocol.Unmarshal(payload, &meta) != nil {
		return
	}
	meta.Git = meta.Git.Public()
	s.Meta = meta
	s.Settings.Cwd = meta.Cwd
	if meta.ModelProvider != "" {
		s.Settings.Provider, s.ProviderRecorded = meta.ModelProvider, true
	}
	if s.ID == "" {
		s.ID = meta.ID
	}
}

func (s *State) applyMetadata(payload json.RawMessage) {
	var m protocol.ThreadMetadata
	if protocol.Unmarshal(payload, &m) == nil {
		s.Meta.Git = m.Git.Public()
	}
}

// peek returns a text of valid JSON, or "".
func peek(payload json.RawMessage, path string) string { return gjson.GetBytes(payload, path).Str }
