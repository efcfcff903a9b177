package core_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
)

// FuzzLoad loads any lines. The thread can then be shown, resumed, and run a turn.
func FuzzLoad(f *testing.F) {
	for _, file := range storedLines(f) {
		f.Add([]byte(file))
		head, _, _ := strings.Cut(file, "\n")
		for line := range strings.Lines(file) {
			f.Add([]byte(head + "\n" + line))
		}
	}
	for _, tt := range damaged {
		f.Add([]byte(tt.file))
	}
	for _, file := range hostileEdits() {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		m := newMachine(t.Errorf)
		m.lines = linesOf(file)
		goOnFrom(t, m)
	})
}

// goOnFrom loads the machine's lines, resumes the thread and runs a turn in it.
func goOnFrom(t *testing.T, m *machine) {
	t.Helper()
	m.load()
	checkShown(t, m)
	m.take(core.EditContext{To: m.caller(),
		Operation: &protocol.SetInclusion{ContextTargets: protocol.ContextTargets{Indices: []int64{0, 1}}}})
	m.take(core.UndoContext{To: m.caller()})
	m.take(core.RestoreContext{To: m.caller()})
	m.take(core.Resume{To: m.caller(), Params: &protocol.ThreadResumeParams{ThreadID: threadID}, Env: m.world,
		Settings: m.thread.Settings(), Fresh: true})
	m.take(core.TurnStart{To: m.caller(),
		Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn, Model: new("model-9")}, Env: m.world})
	for m.thread.ActiveTurn() != "" && len(m.running)+len(m.thread.OpenRequests()) > 0 {
		for _, id := range m.thread.OpenRequests() { // of a turn that waited for an answer
			m.take(core.ClientAnswer{Request: id, Result: json.RawMessage(`{"decision":"decline"}`)})
		}
		if len(m.running) > 0 {
			m.take(calmEnd(m.running[0]))
		}
	}
	require.Empty(t, m.thread.ActiveTurn())
	require.Equal(t, "model-9", m.thread.Settings().Model)
	m.load()
	checkShown(t, m)
}

var goOn = []protocol.UserInput{{UserInputVariant: &protocol.TextInput{Text: "go on",
	TextElements: []protocol.TextElement{}}}}

// storedLines returns files as the scripts have them.
func storedLines(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	var stored []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var b strings.Builder
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "{") {
				b.WriteString(line)
			}
		}
		if b.Len() > 0 {
			stored = append(stored, b.String())
		}
	}
	require.NotEmpty(t, stored)
	return stored
}

// linesOf returns the lines of a file that can be read at all.
func linesOf(file []byte) []protocol.RolloutLine {
	var lines []protocol.RolloutLine
	for raw := range bytes.Lines(file) {
		var line protocol.RolloutLine
		if json.Unmarshal(raw, &line) == nil {
			lines = append(lines, line)
		}
	}
	return lines
}

// checkShown checks the views against the schemas.
func checkShown(t *testing.T, m *machine) {
	t.Helper()
	body, err := protocol.Marshal(m.thread.View(true))
	require.NoError(t, err, "the view cannot be encoded")
	seen := map[string]bool{}
	for _, turn := range gjson.GetBytes(body, "turns").Array() {
		id := turn.Get("id").Str
		require.NotEmpty(t, id, "a turn has no id: %s", turn.Raw)
		require.False(t, seen[id], "two turns have the id %s", id)
		seen[id] = true
		for _, item := range turn.Get("items").Array() {
			require.NotEmpty(t, item.Get("type").Str, "an item has no type: %s", item.Raw)
		}
	}
	checkTimeline(t, m)
	settings, err := protocol.Marshal(m.thread.Settings().ApprovalPolicy)
	require.NoError(t, err)
	require.NoError(t, new(protocol.AskForApproval).UnmarshalJSON(settings), "no client knows the approval policy %s",
		settings)
	_, err = protocol.Marshal(m.thread.Prompt().Items)
	require.NoError(t, err, "the prompt cannot be encoded")
	m.checker.checkPrompt(m.thread.Prompt().Items)
}
