package transcript

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/lineref"
	"appserver/protocol"
)

// eventsToCopy are payloads whose items are copied. Each has characters that JSON escapes.
var eventsToCopy = []string{
	`{"type":"item_completed","item":{"type":"UserMessage","id":"i","client_id":"c","content":[{"type":"text","text":"a\n\u00e9\"\\","text_elements":[]},{"type":"text","text":""}]},"started_at_ms":1,"completed_at_ms":0}`,
	`{"type":"item_completed","item":{"type":"UserMessage","id":"i","content":[]}}`,
	`{"type":"item_completed","item":{"type":"AgentMessage","id":"i","content":[{"type":"Text","text":"<a>&\ud83d\ude00 \ud800"}],"phase":"final_answer","delivery":null}}`,
	`{"type":"item_completed","item":{"type":"AgentMessage","id":"i","content":[{"type":"Text","text":"t"}],"phase":""},"started_at_ms":null}`,
	`{"item":{"summary_text":["a","b\t"],"raw_content":[],"id":"i","type":"Reasoning"},"type":"item_completed"}`,
	`{"type":"item_completed","item":{"type":"CommandExecution","id":"i","process_id":"7","command":["/bin/bash","-lc","sed -n '1p' \"a\""],"cwd":"file:///a%20b","parsed_cmd":[{"type":"read","cmd":"sed","name":"a","path":"a"},{"type":"search","cmd":"rg","query":"q","path":null},{"type":"list_files","cmd":"ls"}],"source":"unified_exec_startup","status":"failed","aggregated_output":"x\r\n","exit_code":1,"duration":{"secs":4,"nanos":997144286}}}`,
	`{"type":"item_completed","item":{"type":"CommandExecution","id":"i","command":[],"cwd":"file:///a/b","parsed_cmd":[],"source":"agent","status":"declined","aggregated_output":"","exit_code":null,"duration":null}}`,
}

// TestItemsAreCopiedAsTheyAreDecoded compares both ways from a rollout to the wire.
func TestItemsAreCopiedAsTheyAreDecoded(t *testing.T) {
	for _, payload := range eventsToCopy {
		var w itemWriter
		got, ok := w.appendItem([]byte("before "), json.RawMessage(payload))
		require.True(t, ok, payload)
		requireSameItem(t, payload, got[len("before "):])
	}
}

// TestUnexpectedItemsAreNotCopied has values for which decoding has rules of its own.
func TestUnexpectedItemsAreNotCopied(t *testing.T) {
	for _, item := range []string{
		`{"type":"AgentMessage","id":7,"content":[{"type":"Text","text":"t"}]}`,
		`{"type":"AgentMessage","id":"i","id":"j","content":[{"type":"Text","text":"t"}]}`,
		`{"type":"AgentMessage","id":"i","content":[{"text":"a"},{"text":"b"}]}`,
		`{"type":"AgentMessage","id":"i","content":[{"text":"a"}],"memory_citation":{}}`,
		`{"type":"UserMessage","id":"i","content":[{"type":"image","url":"x"}]}`,
		`{"type":"UserMessage","id":"i","content":null}`,
		`{"type":"Reasoning","id":"i","summary_text":[1],"raw_content":[]}`,
		`{"type":"CommandExecution","id":"i","command":[null],"cwd":"/","parsed_cmd":[],"source":"agent","status":"completed"}`,
		`{"type":"CommandExecution","id":"i","command":[],"cwd":"/","parsed_cmd":[],"source":"agent","status":"completed","exit_code":1e2}`,
		`{"type":"FileChange","id":"i","changes":{},"status":"completed"}`, `{}`, `null`, `[]`,
	} {
		var w itemWriter
		before := []byte("before")
		out, ok := w.appendItem(before, completedEvent(t, []byte(item)))
		require.False(t, ok, item)
		require.Equal(t, "before", string(out[:len(before)]))
	}
}

func requireSameItem(t *testing.T, payload string, got []byte) {
	t.Helper()
	want, err := protocol.Marshal(DecodeItem(json.RawMessage(payload)))
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got), payload)
	require.Equal(t, string(protocol.ToWellFormed(got)), string(got))
}

func FuzzAppendItem(f *testing.F) {
	for _, payload := range eventsToCopy {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if !json.Valid(payload) || !utf8.Valid(payload) {
			return // such a line is not loaded, and each byte that is not UTF-8 is replaced
		}
		var w itemWriter
		if got, ok := w.appendItem(nil, payload); ok {
			requireSameItem(t, string(payload), got)
		}
	})
}

// keptLines are lines in memory that can be detached.
type keptLines []string

// Payload returns a line.
func (l *keptLines) Payload(n int) json.RawMessage { return json.RawMessage((*l)[n]) }

// Detach returns a reader of the same lines.
func (l *keptLines) Detach() (read func(n int) (json.RawMessage, error), release func(), err error) {
	return func(n int) (json.RawMessage, error) { return l.Payload(n), nil }, func() {}, nil
}

// TestItemsOfAResponseAreThoseOfTheTranscript has an item that is copied, one that is decoded, one with a
// number instead of an id and further lines, and one in memory.
func TestItemsOfAResponseAreThoseOfTheTranscript(t *testing.T) {
	lines := &keptLines{
		`{"type":"item_completed","turn_id":"t","item":{"type":"AgentMessage","id":"a","content":[{"type":"Text","text":"hi"}]}}`,
		`{"type":"item_completed","turn_id":"t","item":{"type":"FileChange","id":"f","changes":{},"status":"completed"}}`,
		`{"type":"agent_reasoning","text":"one"}`, `{"type":"agent_reasoning","text":"two"}`,
	}
	source := lineref.NewSource(lines)
	at := func(n int32) lineref.Ref { return lineref.Ref{Source: source, Line: n, Part: lineref.Whole} }
	items := []Item{
		{Ref: at(0), number: None}, {Ref: at(1), number: None},
		{Ref: at(2), number: 4, more: []lineref.Ref{at(3)}, speaker: reasoning},
		{Ref: lineref.Ref{Raw: json.RawMessage((*lines)[0]), Part: lineref.Whole}, number: None},
	}
	forResponse := ForResponse()
	for i := range items {
		item := forResponse(&items[i])
		_, stored := item.ThreadItemVariant.(protocol.StoredItem)
		require.Equal(t, i < 3, stored)
		got, err := protocol.Marshal(item)
		require.NoError(t, err)
		want, err := protocol.Marshal(items[i].ThreadItem())
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got))
		require.Equal(t, items[i].ThreadItem().ItemID(), item.ItemID())
	}
}
