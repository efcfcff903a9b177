package core_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
)

// said returns the messages of an output by name: the method of a notification or a request, "reply"
// for a response.
func said(out core.Output) map[string]string {
	m := map[string]string{}
	for _, message := range out.Messages {
		switch message := message.(type) {
		case core.Reply:
			m["reply"] = encode(message.Result)
		case core.Notice:
			m[message.NotificationMethod()] = encode(message.Notification)
		case core.Request:
			m[message.Method] = encode(message.Params)
		}
	}
	return m
}

// TestWireOfATurn checks whole messages, because scripts print abbreviations only. The clock starts at
// 3:04:05 UTC and advances by a second per input.
func TestWireOfATurn(t *testing.T) {
	m := newMachine(t.Errorf)
	m.settings.ApprovalPolicy.Mode = protocol.ApprovalUntrusted
	m.take(m.start(protocol.HistoryPaginated))
	out := said(m.take(core.TurnStart{
		To: m.caller(), Env: m.world,
		Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn, ClientUserMessageID: new("mine")},
	}))
	require.JSONEq(t, `{"turn":{"id":"id-1","rootTurnId":"id-1","items":[],"itemsView":"notLoaded","status":"inProgress","error":null,"startedAt":null,"completedAt":null,"durationMs":null}}`, out["reply"])
	require.JSONEq(t, `{"threadId":"t-1","turn":{"id":"id-1","rootTurnId":"id-1","items":[],"itemsView":"notLoaded","status":"inProgress","error":null,"startedAt":1767323047,"completedAt":null,"durationMs":null}}`, out["turn/started"])
	require.JSONEq(t, `{"threadId":"t-1","status":{"type":"active","activeFlags":[]}}`, out["thread/status/changed"])
	require.JSONEq(t, `{"threadId":"t-1","turnId":"id-1","contentTokenCount":null,"completedAtMs":1767323047000,"item":{"type":"userMessage","id":"id-3","clientId":"mine","content":[{"type":"text","text":"go on","text_elements":[]}],"startedAtMs":1767323047000,"completedAtMs":1767323047000}}`, out["item/completed"])

	m.take(core.ModelPiece{Effect: 1, Piece: core.Piece{Text: "I make."}})
	out = said(m.take(core.ModelDone{Effect: 1, Answer: core.Answer{
		Calls: []core.ToolCall{{ID: "c", Name: "shell", Arguments: `{"command":"make","justification":"to see"}`}},
		Usage: &protocol.TokenUsageBreakdown{TotalTokens: 9, InputTokens: 5, CachedInputTokens: 2, OutputTokens: 4,
			ReasoningOutputTokens: 1},
	}}))
	require.JSONEq(t, `{"kind":"command","threadId":"t-1","turnId":"id-1","itemId":"c","startedAtMs":1767323049000,"environmentId":null,"reason":"to see","command":"/bin/bash -lc make","cwd":"/repo","commandActions":[{"type":"unknown","command":"make"}],"proposedExecpolicyAmendment":null,"availableDecisions":["accept","acceptForSession","decline","cancel"]}`, out["item/commandExecution/requestApproval"])
	require.JSONEq(t, `{"threadId":"t-1","turnId":"id-1","startedAtMs":1767323049000,"item":{"type":"commandExecution","id":"c","pluginId":null,"scriptPath":null,"command":"/bin/bash -lc make","cwd":"/repo","processId":null,"source":"agent","status":"inProgress","commandActions":[{"type":"unknown","command":"make"}],"aggregatedOutput":null,"exitCode":null,"durationMs":null,"startedAtMs":1767323049000,"completedAtMs":null}}`, out["item/started"])
	require.JSONEq(t, `{"threadId":"t-1","turnId":"id-1","tokenUsage":{"modelContextWindow":100000,
		"total":{"totalTokens":9,"inputTokens":5,"cachedInputTokens":2,"cacheWriteInputTokens":0,"outputTokens":4,"reasoningOutputTokens":1},
		"last":{"totalTokens":9,"inputTokens":5,"cachedInputTokens":2,"cacheWriteInputTokens":0,"outputTokens":4,"reasoningOutputTokens":1}}}`, out["thread/tokenUsage/updated"])

	m.take(core.ClientAnswer{Request: 0, Result: json.RawMessage(`{"decision":"accept"}`)})
	m.take(core.ToolStarted{Effect: 2, ProcessID: "77"})
	require.Empty(t, m.take(core.ToolOutput{Effect: 2}).Messages, "no output is no delta")
	out = said(m.take(core.ToolDone{Effect: 2,
		Result: core.ToolResult{ExitCode: new(2), Output: "no rule", Duration: 1500 * time.Millisecond}}))
	require.JSONEq(t, `{"type":"commandExecution","id":"c","pluginId":null,"scriptPath":null,"command":"/bin/bash -lc make","cwd":"/repo","processId":"77","source":"unifiedExecStartup","status":"failed","commandActions":[{"type":"unknown","command":"make"}],"aggregatedOutput":"no rule","exitCode":2,"durationMs":1500,"startedAtMs":1767323049000,"completedAtMs":1767323053000}`,
		gjson.Get(out["item/completed"], "item").Raw)

	out = said(m.take(core.ModelDone{Effect: 3}))
	require.JSONEq(t, `{"threadId":"t-1","turn":{"id":"id-1","rootTurnId":"id-1","itemsView":"summary","status":"completed","error":null,"startedAt":1767323047,"completedAt":1767323054,"durationMs":7000,
		"items":[{"type":"agentMessage","moderation":null,"id":"msg_id-4","text":"I make.","phase":null,"memoryCitation":null,"delivery":null,"questions":null,"startedAtMs":1767323048000,"completedAtMs":1767323049000}]}}`, out["turn/completed"])
}

// TestWireOfTurnsThatDoNotComplete expects a turn/completed without items, even after a message of the
// agent.
func TestWireOfTurnsThatDoNotComplete(t *testing.T) {
	begin := func() *machine {
		m := newMachine(t.Errorf)
		m.take(m.start(protocol.HistoryPaginated))
		m.take(core.TurnStart{To: m.caller(), Env: m.world,
			Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn}})
		m.take(core.ModelPiece{Effect: 1, Piece: core.Piece{Text: "I plan."}})
		m.take(core.ModelDone{Effect: 1,
			Answer: core.Answer{Calls: []core.ToolCall{{ID: "c", Name: "update_plan", Arguments: `{"plan":[]}`}}}})
		return m
	}
	m := begin()
	m.take(core.TurnInterrupt{To: m.caller()})
	out := said(m.take(core.ModelFailed{Effect: 2, Err: &core.ModelError{Message: "canceled"}}))
	require.JSONEq(t, `{"threadId":"t-1","turn":{"id":"id-1","rootTurnId":"id-1","items":[],"itemsView":"notLoaded","status":"interrupted","error":null,"startedAt":1767323047,"completedAt":1767323051,"durationMs":4000}}`, out["turn/completed"])

	m = begin()
	out = said(m.take(core.ModelFailed{Effect: 2, Err: &core.ModelError{
		Message: "unauthorized", Details: "the key is wrong",
		Info: protocol.CodexErrorInfo{Kind: protocol.ErrorHTTPConnectionFailed, HTTPStatus: new(401)}}}))
	failure := `{"message":"unauthorized","codexErrorInfo":{"httpConnectionFailed":{"httpStatusCode":401}},"additionalDetails":"the key is wrong","misalignment":null}`
	require.JSONEq(t, `{"threadId":"t-1","turn":{"id":"id-1","rootTurnId":"id-1","items":[],"itemsView":"notLoaded","status":"failed","error":`+failure+`,"startedAt":1767323047,"completedAt":1767323050,"durationMs":3000}}`, out["turn/completed"])
	require.JSONEq(t, `{"error":`+failure+`,"willRetry":false,"threadId":"t-1","turnId":"id-1"}`, out["error"])
}
