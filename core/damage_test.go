package core_test

import (
	"testing"

	"appserver/core"
	"appserver/protocol"
)

const (
	metaLine  = `{"timestamp":"2026-01-01T00:00:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"t-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/repo","originator":"x","cli_version":"0.169.0","history_mode":"paginated"}}` + "\n"
	beganLine = `{"timestamp":"2026-01-01T00:00:01.000Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"u-1","started_at":1,"model_context_window":null}}` + "\n"
)

// damaged are files with one line that makes no sense.
var damaged = []struct{ name, file string }{
	{"no lines", ""},
	{"no meta", beganLine},
	{"meta without an id", `{"type":"session_meta","payload":{"history_mode":"paginated"}}` + "\n" + metaLine + beganLine},
	{"meta of another form", `{"type":"session_meta","payload":{"id":"t-1","cwd":7}}` + "\n"},
	{"payload absent", metaLine + `{"type":"response_item"}`},
	{"payload null", metaLine + `{"type":"response_item","payload":null}`},
	{"payload not an object", metaLine + `{"type":"response_item","payload":[7]}`},
	{"event absent", metaLine + `{"type":"event_msg"}`},
	{"item absent", metaLine + beganLine + `{"type":"event_msg","payload":{"type":"item_completed","turn_id":"u-1"}}`},
	{"item null", metaLine + beganLine +
		`{"type":"event_msg","payload":{"type":"item_completed","turn_id":"u-1","item":null}}`},
	{"item not an object", metaLine + beganLine +
		`{"type":"event_msg","payload":{"type":"item_completed","turn_id":"u-1","item":7}}`},
	{"item without a type", metaLine + beganLine +
		`{"type":"event_msg","payload":{"type":"item_completed","turn_id":"u-1","item":{"id":"i"}}}`},
	{"item of no turn", metaLine +
		`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"Plan","id":"i","text":"x"}}}`},
	{"item of a turn without a name", metaLine + beganLine +
		`{"type":"event_msg","payload":{"type":"item_completed","turn_id":7,"item":{"type":"Plan","id":"i","text":"x"}}}`},
	{"turn without an id", metaLine + `{"type":"event_msg","payload":{"type":"task_started"}}`},
	{"turn begun twice", metaLine + beganLine + beganLine},
	{"turn ended twice", metaLine + beganLine + `{"type":"event_msg","payload":{"type":"task_complete","turn_id":"u-1"}}` +
		"\n" + `{"type":"event_msg","payload":{"type":"turn_aborted","turn_id":"u-1"}}`},
	{"turn ended that never began", metaLine + `{"type":"event_msg","payload":{"type":"task_complete","turn_id":"u-9"}}`},
	{"turn of another form", metaLine + `{"type":"event_msg","payload":{"type":"task_started","turn_id":7}}`},
	{"policy absent", metaLine +
		`{"type":"turn_context","payload":{"cwd":"/repo","model":"m","sandbox_policy":{"type":"read-only"},"summary":"auto"}}`},
	{"sandbox absent", metaLine +
		`{"type":"turn_context","payload":{"cwd":"/repo","model":"m","approval_policy":"never","summary":"auto"}}`},
	{"sandbox unknown", metaLine +
		`{"type":"turn_context","payload":{"cwd":"/repo","model":"m","approval_policy":"never","sandbox_policy":{"type":"aquarium","network_access":7},"summary":"auto"}}`},
	{"ordinal too great", metaLine + `{"ordinal":9223372036854775807,"type":"world_state","payload":{}}`},
	{"ordinal negative", metaLine + `{"ordinal":-7,"type":"world_state","payload":{}}`},
	{"ordinals fall", metaLine + `{"ordinal":40,"type":"world_state","payload":{}}` + "\n" + beganLine},
	{"output without a call id", metaLine +
		`{"type":"response_item","payload":{"type":"function_call_output","output":"x"}}`},
	{"output without its call", metaLine +
		`{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c","output":"x"}}`},
	{"call without an id", metaLine +
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}`},
	{"call twice", metaLine +
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}}` + "\n" +
		`{"type":"response_item","payload":{"type":"custom_tool_call","name":"patch","input":"","call_id":"c"}}`},
	{"compacted of another form", metaLine + `{"type":"compacted","payload":{"message":7}}`},
	{"compacted to nonsense", metaLine +
		`{"type":"compacted","payload":{"message":"x","replacement_history":[7,null,"x",{},{"type":"message"},{"type":7}]}}`},
	{"usage of another form", metaLine + `{"type":"event_msg","payload":{"type":"token_count","info":7}}`},
	{"usage without info", metaLine + `{"type":"event_msg","payload":{"type":"token_count","info":null}}`},
	{"time of another form", metaLine +
		`{"timestamp":"yesterday","type":"event_msg","payload":{"type":"thread_name_updated","thread_name":7}}`},
	{"types of another form", `{"type":"","payload":{}}` + "\n" + metaLine +
		`{"type":"event_msg","payload":{"type":{"type":"task_started"}}}`},
}

// TestDamagedFiles loads each of them: a line that makes no sense costs that line, and
// the thread goes on.
func TestDamagedFiles(t *testing.T) {
	for _, tt := range damaged {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t.Errorf)
			m.lines = linesOf([]byte(tt.file))
			goOnFrom(t, m)
		})
	}
}

// TestEndOfAnotherEffect gives effects the terminal input of other kinds. The turn continues, and ends
// when its own effects end.
func TestEndOfAnotherEffect(t *testing.T) {
	for name, wrong := range map[string]core.Input{
		"sample done":   core.ModelDone{Effect: 2},
		"sample failed": core.ModelFailed{Effect: 2, Err: &core.ModelError{Message: "x"}},
		"timer fired":   core.TimerFired{Effect: 2},
		"tool done":     core.ToolDone{Effect: 3, Result: core.ToolResult{Failure: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t.Errorf)
			m.take(m.start(protocol.HistoryPaginated))
			m.take(core.TurnStart{To: m.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn},
				Env: m.world})
			m.take(core.ModelDone{Effect: 1,
				Answer: core.Answer{Calls: []core.ToolCall{{ID: "c", Name: "shell", Arguments: `{"command":"make"}`}}}})
			m.take(wrong) // 2 is the command
			m.take(core.ToolDone{Effect: 2, Result: core.ToolResult{ExitCode: new(0)}})
			m.take(wrong) // 3 is the request after it
			m.take(core.ModelDone{Effect: 3})
			if m.thread.ActiveTurn() != "" {
				t.Error("the turn goes on without an effect")
			}
		})
	}
}
