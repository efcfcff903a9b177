package transcript

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// FuzzDecodeItem decodes any item of a rollout. The item can be shown, has a type if the stored one
// has, and is the same after it is encoded again.
func FuzzDecodeItem(f *testing.F) {
	for _, item := range []string{
		`{"type":"UserMessage","id":"i","content":[{"type":"text","text":"go","text_elements":[]},{"type":"image","url":"x"}]}`,
		`{"type":"AgentMessage","id":"i","content":[{"type":"Text","text":"do"},{"type":"Text","text":"ne"}],"phase":"final_answer"}`,
		`{"type":"Reasoning","id":"i","summary_text":["s"],"raw_content":["r"]}`,
		`{"type":"CommandExecution","id":"i","process_id":"7","command":["/bin/bash","-lc","sed -n 1p a"],"cwd":"file:///a%20b","parsed_cmd":[{"type":"read","cmd":"sed","name":"a","path":"a"},{"type":"search","cmd":"rg","query":"q","path":null},{"type":"list_files","cmd":"ls"}],"source":"unified_exec_startup","status":"failed","aggregated_output":"x","exit_code":1,"duration":{"secs":4,"nanos":997144286}}`,
		`{"type":"FileChange","id":"i","changes":{"/b":{"type":"add","content":"hi\n"}},"status":"completed"}`,
		`{"type":"ContextCompaction","id":"i"}`, `{"type":"WebSearch","id":"i","query":"q"}`, `{"type":"ünknown"}`,
		`{"type":""}`, `{"type":7}`,
		`{}`, `null`, `[]`, `7`, `{"type":"UserMessage","content":[{"type":"hologram"}]}`,
		`{"type":"CommandExecution","exit_code":"one"}`,
		`{"type":"CommandExecution","duration":{"secs":9223372036854775807,"nanos":9223372036854775807}}`,
	} {
		f.Add([]byte(item))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return // such a line is not loaded
		}
		item := DecodeItem(completedEvent(t, raw))
		shown, err := protocol.Marshal(item)
		require.NoError(t, err)
		if typeOf(raw) != "" {
			require.NotEmpty(t, typeOf(shown), "shown as %s", shown)
		}
		argv := argvOf(raw)
		switch item.ThreadItemVariant.(type) {
		case *protocol.Unknown:
			return
		case *protocol.CommandExecutionItem:
			if argv == nil {
				return // it is not in the stored form
			}
		}
		stored, err := protocol.Marshal(EncodeItem(item, argv))
		require.NoError(t, err)
		again, err := protocol.Marshal(DecodeItem(completedEvent(t, stored)))
		require.NoError(t, err)
		require.JSONEq(t, string(shown), string(again), "stored as %s", stored)
	})
}

func completedEvent(t *testing.T, item []byte) json.RawMessage {
	t.Helper()
	payload, err := protocol.Marshal(map[string]json.RawMessage{"type": json.RawMessage(`"item_completed"`), "item": item})
	require.NoError(t, err)
	return payload
}

// typeOf returns the type of an object, or "".
func typeOf(raw []byte) string {
	var members struct{ Type string }
	_ = json.Unmarshal(raw, &members) // then it has none
	return members.Type
}

// argvOf returns the command line of a stored item, or nil.
func argvOf(raw []byte) []string {
	var stored struct{ Command []string }
	_ = json.Unmarshal(raw, &stored) // there is none in most items
	return stored.Command
}

// TestDamagedEventsDecodeToItemsThatEncode decodes events without an item. A thread whose items cannot
// be encoded can be neither read nor resumed.
func TestDamagedEventsDecodeToItemsThatEncode(t *testing.T) {
	for _, payload := range []string{``, `null`, `7`, `{}`, `{"item":null}`, `{"turn_id":7}`,
		`{"item":{"type":"AgentMessage"},"started_at_ms":"now"}`} {
		_, err := protocol.Marshal(DecodeItem(json.RawMessage(payload)))
		require.NoError(t, err, "%q", payload)
	}
}
