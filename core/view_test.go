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

// TestTurnsOverrideNamedSettingsOnly overrides each setting; what is not named stays.
func TestTurnsOverrideNamedSettingsOnly(t *testing.T) {
	before := core.Settings{
		Model: "a", Provider: "p", Cwd: "/a", ApprovalPolicy: protocol.AskForApproval{Mode: protocol.ApprovalNever},
		Reviewer: "user",
		Sandbox:  protocol.SandboxReadOnly.Policy(), Effort: new("low"), Summary: "auto", ServiceTier: new("slow"),
	}
	require.Equal(t, before, before.WithTurn(&protocol.TurnStartParams{}, nil))
	require.Equal(t, before, before.WithResume(&protocol.ThreadResumeParams{}))
	sandbox, reviewer := protocol.SandboxDangerFullAccess, protocol.ApprovalsReviewer("auto_review")
	after := core.Settings{
		Model: "b", Provider: "p", Cwd: "/b", ApprovalPolicy: protocol.AskForApproval{Mode: protocol.ApprovalUntrusted},
		Reviewer: reviewer,
		Sandbox:  sandbox.Policy(), Effort: new("high"), Summary: "none", ServiceTier: new("fast"),
	}
	require.Equal(t, after, before.WithTurn(&protocol.TurnStartParams{
		Cwd: new("/b"), Model: new("b"), ApprovalPolicy: &after.ApprovalPolicy, ApprovalsReviewer: &reviewer,
		SandboxPolicy: &after.Sandbox,
		Effort:        new("high"), Summary: new("none"), ServiceTier: new("fast"),
	}, nil))
	after.Provider, after.Effort, after.Summary = "q", before.Effort, before.Summary
	confined := before.WithPermissions(core.Permissions{Sandbox: sandbox.Policy()})
	require.Equal(t, after, confined.WithResume(&protocol.ThreadResumeParams{
		Cwd: new("/b"), Model: new("b"), ModelProvider: new("q"), ApprovalPolicy: &after.ApprovalPolicy,
		ApprovalsReviewer: &reviewer,
		ServiceTier:       new("fast"),
	}))
	require.Equal(t, "low", *before.Effort, "the settings before are their own")
}

// TestViewOfASummary shows a thread that is not loaded, as a list does: every member
// that clients require is there.
func TestViewOfASummary(t *testing.T) {
	updated := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := core.View(core.Summary{
		ID: "t-2", Name: "Work", Preview: "hello", Path: "/r.jsonl", Updated: updated,
		Meta: protocol.SessionMeta{
			Timestamp: "2026-01-01T00:00:00.000Z", CliVersion: "1", Originator: "ide", Source: json.RawMessage(`"vscode"`),
			ForkedFromID: new("t-1"), ThreadSource: new("user"),
			Git: &protocol.StoredGitInfo{CommitHash: new("abc"), Branch: new("main"),
				RepositoryURL: new("https://example.com/r")},
		},
		Settings: core.Settings{Model: "m", Provider: "p", Cwd: "/repo", Effort: new("high")},
	})
	body := encode(v)
	for path, want := range map[string]string{
		"id": `"t-2"`, "sessionId": `"t-2"`, "forkedFromId": `"t-1"`, "preview": `"hello"`, "name": `"Work"`,
		"path":          `"/r.jsonl"`,
		"modelProvider": `"p"`, "model": `"m"`, "reasoningEffort": `"high"`, "cwd": `"/repo"`, "createdAt": "1767225600",
		"updatedAt": "1767323045", "recencyAt": "1767323045", "status": `{"type":"notLoaded"}`, "cliVersion": `"1"`,
		"originator": `"ide"`,
		"source":     `"vscode"`, "threadSource": `"user"`, "gitInfo.sha": `"abc"`, "gitInfo.branch": `"main"`,
		"gitInfo.originUrl": `"https://example.com/r"`, "turns": "[]", "ephemeral": "false", "projectId": "null",
	} {
		require.Equal(t, want, gjson.Get(body, path).Raw, path)
	}

	v = core.View(core.Summary{ID: "t-3", Updated: updated, Ephemeral: true})
	require.Equal(t, updated.Unix(), v.CreatedAt, "a thread of an unknown begin began with its last line")
	require.True(t, v.Ephemeral)
	require.Nil(t, v.Path)
	require.Nil(t, v.Name)
	require.JSONEq(t, `"vscode"`, string(v.Source), "as the reference implementation reads a missing source")
}

// TestPromptTools checks what the model is offered: tools with a name, a description
// and a schema that providers accept.
func TestPromptTools(t *testing.T) {
	m := newMachine(t.Errorf)
	m.take(m.start(protocol.HistoryPaginated))
	require.Equal(t, threadID, m.thread.ID())
	p := m.thread.Prompt()
	require.Equal(t, threadID, p.ThreadID)
	require.Equal(t, core.BaseInstructions, p.Instructions)
	for _, tool := range p.Tools {
		require.NotEmpty(t, tool.Name)
		require.NotEmpty(t, tool.Description)
		require.True(t, json.Valid(tool.Parameters), "%s: %s", tool.Name, tool.Parameters)
		schema := gjson.ParseBytes(tool.Parameters)
		require.Equal(t, "object", schema.Get("type").Str, tool.Name)
		for _, name := range schema.Get("required").Array() {
			require.True(t, schema.Get("properties."+name.Str).Exists(), "%s requires %s", tool.Name, name.Str)
		}
	}
	require.Len(t, p.Tools, 4)
}

// TestPromptIsASnapshot keeps the request that is under way as it was sent.
func TestPromptIsASnapshot(t *testing.T) {
	m := newMachine(t.Errorf)
	m.take(m.start(protocol.HistoryPaginated))
	out := m.take(core.TurnStart{To: m.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn},
		Env: m.world})
	sent := out.Effects[0].(core.ModelRequest).Prompt
	before := encode(sent.Items)
	m.take(core.ModelDone{Effect: 1,
		Answer: core.Answer{Calls: []core.ToolCall{{ID: "c", Name: "shell", Arguments: `{"command":"make"}`}}}})
	m.take(core.TurnSteer{To: m.caller(),
		Params: &protocol.TurnSteerParams{ThreadID: threadID, Input: goOn, ExpectedTurnID: m.thread.ActiveTurn()}})
	require.Equal(t, before, encode(sent.Items))
	require.NotEqual(t, before, encode(m.thread.Prompt().Items))
}

// TestMessagesAreSnapshots encodes messages late: a slow client receives the state at the time of
// sending.
func TestMessagesAreSnapshots(t *testing.T) {
	m := newMachine(t.Errorf)
	m.settings.ApprovalPolicy.Mode = protocol.ApprovalUntrusted
	var said []core.Message
	var texts []string
	take := func(in core.Input) {
		for _, message := range m.take(in).Messages {
			said, texts = append(said, message), append(texts, encode(message))
		}
	}
	take(m.start(protocol.HistoryPaginated))
	take(core.TurnStart{To: m.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn}, Env: m.world})
	take(core.ModelPiece{Effect: 1, Piece: core.Piece{Text: "I make."}})
	take(core.ModelDone{Effect: 1,
		Answer: core.Answer{Calls: []core.ToolCall{{ID: "c", Name: "shell", Arguments: `{"command":"make"}`}}}})
	take(core.ClientAnswer{Request: 0, Result: json.RawMessage(`{"decision":"accept"}`)})
	take(core.ToolStarted{Effect: 2, ProcessID: "7"})
	take(core.ToolDone{Effect: 2, Result: core.ToolResult{ExitCode: new(0), Output: "made"}})
	take(core.ModelDone{Effect: 3})
	for i, message := range said {
		require.Equal(t, texts[i], encode(message))
	}
}

// TestModelErrorReadsAsItsMessage: an error of a model reads as its message.
func TestModelErrorReadsAsItsMessage(t *testing.T) {
	require.EqualError(t, &core.ModelError{Message: "503", Details: "more"}, "503")
}

// TestTimestampsAreUTCWithMilliseconds is UTC with milliseconds.
func TestTimestampsAreUTCWithMilliseconds(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_700_000, time.FixedZone("", 3600))
	require.Equal(t, "2026-01-02T02:04:05.006Z", protocol.Timestamp(at))
}
