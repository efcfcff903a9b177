package core

import (
	"bytes"
	"encoding/json"
	"strings"

	"appserver/core/lineref"
	"appserver/protocol"
)

// log is the durable part of a thread: what the lines of its rollout say. It
// changes in apply only.
type log struct {
	id       string
	meta     protocol.SessionMeta
	settings Settings
	applied  string // the last thread_settings_applied event
	name     string
	namedAt  string // when, as the line says
	preview  string
	next     int64  // the ordinal of the next line
	session  string // the provider session, "" for the first one
	// disordered is set where lines have other ordinals than they are counted with.
	disordered bool
	history
	turns  []turnRecord
	turnAt map[string]int // the places of turns, by id
	chronicle
	// providerRecorded is set once a line names the provider of the model.
	providerRecorded bool
	// numbered counts the items of events without ids.
	numbered int64
	usage    protocol.ThreadTokenUsage
	// forgetful is set where the thread's memory is off.
	forgetful bool
	// modelRecorded is set once a line gives the model.
	modelRecorded bool
	written       string // the timestamp of the last line that has one
	surroundings
	worktreeLog
	// from is set while lines are applied that can be read again, line is their count.
	from *lineref.Source
	line int32
	// appended reads the lines that were appended since.
	appended *lineref.Source
}

// maxOrdinal bounds ordinals to integers that every reader of JSON knows exactly.
const maxOrdinal = 1 << 53

// apply changes the state as a line says. Lines that make no sense change nothing
// but the count of lines.
func (l *log) apply(line *protocol.RolloutLine) {
	defer l.evictLine(len(l.items))
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
	case protocol.LineResponseItem:
		l.remember(ordinal, l.ref(none, line.Payload))
	case protocol.LineCompacted:
		l.applyCompacted(ordinal, line)
	case protocol.LineTrimPoint:
		l.applyTrimPoint(ordinal, line)
	case protocol.LineProviderSession:
		l.session = peek(line.Payload, "id")
	case protocol.LineContextEdit:
		l.applyContextEdit(ordinal, line)
	case protocol.LineEventMsg:
		l.applyEvent(ordinal, line)
	case protocol.LineCheckpoint:
		l.applyCheckpoint(line)
	case protocol.LineWorktreeChanges:
		l.applyChanges(line.Payload)
	case protocol.LineMemoryMode:
		l.forgetful = peek(line.Payload, "mode") == protocol.MemoryDisabled
	}
}

// applyMeta keeps the first session_meta: forks carry those of their parents too.
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

// storedContext is a turn_context whose words may be those of other versions.
type storedContext struct {
	protocol.TurnContext
	ApprovalPolicy    json.RawMessage `json:"approval_policy"`
	ApprovalsReviewer json.RawMessage `json:"approvals_reviewer"`
}

// storedSettings is a thread_settings_applied event whose words may be those of
// other versions.
type storedSettings struct {
	protocol.StoredSettings
	ApprovalPolicy    json.RawMessage `json:"approval_policy"`
	ApprovalsReviewer json.RawMessage `json:"approvals_reviewer"`
}

// applySettings takes the settings that the reference implementation keeps. Those that
// are absent stay.
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
		l.settings = l.settings.withMode(&protocol.CollaborationMode{Mode: s.CollaborationMode.Mode, Settings: protocol.CollaborationModeSettings{
			ReasoningEffort: s.CollaborationMode.Settings.ReasoningEffort, DeveloperInstructions: s.CollaborationMode.Settings.DeveloperInstructions,
		}})
	}
	if s.PermissionProfile.Type != "" {
		l.settings.Sandbox = s.PermissionProfile.Policy(l.settings.Cwd)
	}
	l.applyApprovals(s.ApprovalPolicy, s.ApprovalsReviewer)
	l.applied = string(payload)
}

// applyApprovals takes who is asked and when. A policy that is not known asks on
// request; where there is none, the one before stays.
func (l *log) applyApprovals(policy, reviewer json.RawMessage) {
	if len(policy) > 0 && protocol.Unmarshal(policy, &l.settings.ApprovalPolicy) != nil {
		l.settings.ApprovalPolicy = protocol.AskForApproval{Mode: protocol.ApprovalOnRequest}
	}
	var who protocol.ApprovalsReviewer
	if protocol.Unmarshal(reviewer, &who) == nil {
		l.settings.Reviewer = who
	}
}

// applyTurnContext takes the settings of a turn.
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

var (
	environmentMark  = []byte(`"<environment_context>`)
	instructionsMark = []byte(`"<user_instructions>`)
	foreignMark      = []byte(`"` + instructionsHead)
	reminderMark     = []byte(`"` + protocol.ReminderHead)
	idMark           = []byte(`"id":`)
)

// remember adds an item to the history. Items stay undecoded, but for those the
// state depends on. What this server tells of the world carries no id, so that it
// cannot be taken for words of the user that look like it; the reference implementation
// gives AGENTS.md a heading.
func (l *log) remember(ordinal int64, what lineref.Ref) {
	l.join(contextItem{ordinal: ordinal, turnID: l.currentTurn(), Ref: what})
	if added := &l.items[len(l.items)-1]; added.thought || added.native {
		added.maker = l.makerOf(maker{l.settings.Provider, l.settings.Model})
	}
	if added := &l.items[len(l.items)-1]; added.ofUser {
		added.tells = subjectOf(what.Raw[:min(len(what.Raw), 512)])
		if added.tells == theReminder {
			l.remind()
		}
		l.hear(&l.items[len(l.items)-1])
	}
	if !l.conversing {
		l.placeReminder()
	}
}

// subjectOf is what a message in the role of the user tells of, by its first bytes.
func subjectOf(head []byte) subject {
	switch {
	case opens(head, foreignMark):
		return theInstructions
	case bytes.Contains(head[:min(len(head), 64)], idMark):
		return nothing
	case opens(head, environmentMark):
		return theEnvironment
	case opens(head, instructionsMark):
		return theInstructions
	case opens(head, reminderMark):
		return theReminder
	}
	return nothing
}

// opens tells whether a text of the JSON opens with a mark, which begins with a quote.
func opens(head, mark []byte) bool {
	at := bytes.Index(head, mark)
	return at == 0 || at > 0 && head[at-1] != '\\'
}

// hear notes what an item tells the model of its surroundings.
func (l *log) hear(c *contextItem) {
	switch c.tells {
	case theEnvironment:
		l.environment = textOf(c.Item())
	case theInstructions:
		l.instructions = textOf(c.Item())
	case theReminder:
		l.reminder = textOf(c.Item())
	}
}

// hearAgain finds what the model was told last, where compactions hide other items
// than before.
func (l *log) hearAgain() {
	l.surroundings = surroundings{}
	l.remindAgain()
	for i := range l.items {
		if c := &l.items[i]; !c.fate.hidden && c.aside == 0 {
			l.hear(&l.items[i])
		}
	}
}

func (l *log) currentTurn() string {
	if len(l.turns) == 0 {
		return ""
	}
	return l.turns[len(l.turns)-1].id
}

func appendJSON(list []json.RawMessage, v any) []json.RawMessage {
	raw, err := protocol.Marshal(v)
	if err != nil {
		return list
	}
	return append(list, raw)
}

func userText(text string) *protocol.Message {
	return &protocol.Message{Role: protocol.RoleUser,
		Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: text}}}
}

func containsText(item protocol.ResponseItem, text string) bool {
	return strings.Contains(textOf(item), text)
}

// textOf is the text of a message, "" for other items.
func textOf(item protocol.ResponseItem) string {
	m, ok := item.ResponseItemVariant.(*protocol.Message)
	if !ok {
		return ""
	}
	if len(m.Content) == 1 {
		return m.Content[0].Text
	}
	var b strings.Builder
	for _, c := range m.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}
