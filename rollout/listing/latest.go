package listing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/rollout/line"
)

// Latest is the state of a thread that later lines override: settings, repository and time.
// Empty fields were not found.
type Latest struct {
	Model    string `json:"model,omitempty"`
	Provider string `json:"provider,omitempty"`
	Cwd      string `json:"cwd,omitempty"`
	// Effort is valid if EffortKnown is set, because nil is a possible effort.
	Effort      *string `json:"effort,omitempty"`
	EffortKnown bool    `json:"effortKnown,omitempty"`
	// Written is the last timestamp.
	Written string `json:"written,omitempty"`
	// Metadata is the last thread_metadata, or nil.
	Metadata *protocol.ThreadMetadata `json:"metadata,omitempty"`
}

// latestMarks occur in every line that changes a field other than Written.
var latestMarks = [][]byte{
	[]byte(
		`"` + protocol.LineTurnContext + `"`,
	), []byte(`"` + protocol.EventSettings + `"`), []byte(`"` + protocol.LineThreadMetadata + `"`),
}

// Add applies the next line of the rollout. It copies what it keeps, because a Follower reuses
// the memory of its lines.
func (t *Latest) Add(l protocol.RolloutLine) {
	if l.Timestamp != "" {
		t.Written = strings.Clone(l.Timestamp)
	}
	switch l.Type {
	case protocol.LineTurnContext:
		t.addContext(l.Payload)
	case protocol.LineEventMsg:
		if gjson.GetBytes(l.Payload, "type").Str == protocol.EventSettings {
			t.addSettings(l.Payload)
		}
	case protocol.LineThreadMetadata:
		var m protocol.ThreadMetadata
		if protocol.Unmarshal(l.Payload, &m) == nil {
			t.Metadata = &m
		}
	}
}

// addContext applies a turn_context. It ignores a line that cannot be decoded, as loading a
// thread does. Approval members are not decoded, because other versions use other values.
func (t *Latest) addContext(payload []byte) {
	var c struct {
		protocol.TurnContext
		ApprovalPolicy    json.RawMessage `json:"approval_policy"`
		ApprovalsReviewer json.RawMessage `json:"approvals_reviewer"`
	}
	if protocol.Unmarshal(payload, &c) == nil {
		t.Then(Latest{Model: c.Model, Provider: c.ModelProvider, Cwd: c.Cwd, Effort: c.Effort, EffortKnown: true})
	}
}

func (t *Latest) addSettings(payload []byte) {
	var e struct {
		Settings struct {
			protocol.StoredSettings
			ApprovalPolicy    json.RawMessage `json:"approval_policy"`
			ApprovalsReviewer json.RawMessage `json:"approvals_reviewer"`
		} `json:"thread_settings"`
	}
	if protocol.Unmarshal(payload, &e) == nil {
		s := e.Settings
		t.Then(Latest{
			Model: s.Model, Provider: s.ModelProviderID, Cwd: s.Cwd,
			Effort: s.CollaborationMode.Settings.ReasoningEffort, EffortKnown: s.CollaborationMode.Mode != "",
		})
	}
}

// Then applies the state of later lines.
func (t *Latest) Then(later Latest) {
	override(&t.Model, later.Model)
	override(&t.Provider, later.Provider)
	override(&t.Cwd, later.Cwd)
	override(&t.Written, later.Written)
	if later.EffortKnown {
		t.Effort, t.EffortKnown = later.Effort, true
	}
	if later.Metadata != nil {
		t.Metadata = later.Metadata
	}
}

func override(old *string, by string) {
	if by != "" {
		*old = by
	}
}

// Update applies the state to a head that was read from the start of the file. If no line has
// a valid timestamp, UpdatedAt stays the modification time. The timestamp is preferred,
// because a rewrite changes the modification time of the file.
func (t *Latest) Update(h *Head) {
	if t.Metadata != nil {
		h.Meta.Git = t.Metadata.Git
	}
	override(&h.Meta.Cwd, t.Cwd)
	override(&h.Meta.ModelProvider, t.Provider)
	if t.Model != "" || t.Effort != nil || h.Context != nil {
		var context protocol.TurnContext
		if h.Context != nil {
			context = *h.Context
		}
		override(&context.Model, t.Model)
		override(&context.ModelProvider, t.Provider)
		override(&context.Cwd, t.Cwd)
		if t.EffortKnown {
			context.Effort = t.Effort
		}
		h.Context = &context
	}
	if at, ok := writtenTime(t.Written); ok {
		h.UpdatedAt = at
	}
}

// writtenTime returns the time of a timestamp, or false if it is invalid.
func writtenTime(timestamp string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, timestamp)
	return at, err == nil
}

// latestIn returns the state of the lines in data, which ends where the file ends.
func latestIn(data []byte) (t Latest) {
	data = bytes.TrimPrefix(data, []byte(line.ByteOrderMark))
	for text := range bytes.Lines(data) {
		if !hasLatest(text) {
			continue
		}
		text, _ = line.Trim(text)
		for p := range line.Records(text) {
			t.Add(p.RolloutLine)
		}
	}
	t.Written = lastTimestamp(data)
	return t
}

func hasLatest(text []byte) bool {
	for _, mark := range latestMarks {
		if bytes.Contains(text, mark) {
			return true
		}
	}
	return false
}

// lastTimestamp returns the last timestamp, or "".
func lastTimestamp(data []byte) string {
	for len(data) > 0 {
		data = bytes.TrimRight(data, "\n")
		begin := bytes.LastIndexByte(data, '\n') + 1
		text, _ := line.Trim(data[begin:])
		last := ""
		for p := range line.Records(text) {
			last = cmp.Or(p.Timestamp, last)
		}
		if last != "" {
			return last
		}
		data = data[:begin]
	}
	return ""
}
