//go:build reference

package interchange

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

const acpProgram = "@agentclientprotocol/codex-acp/dist/index.js"

// acp is an editor that uses codex-acp by the Agent Client Protocol, as Zed and the JetBrains IDEs
// do.
type acp struct {
	*apptest.Client
	session string
}

// acpOpened is the response to the editor's request for a session.
type acpOpened struct {
	SessionID string
	Models    struct {
		CurrentModelID  string
		AvailableModels []struct{ ModelID string }
	}
	Modes struct {
		CurrentModeID  string
		AvailableModes []struct{ Name string }
	}
}

// acpUpdate is a session update for the editor.
type acpUpdate struct {
	SessionUpdate string
	ToolCallID    string
	Status        string
	CurrentModeID string
	Content       json.RawMessage
}

func (w *workshop) acp() *acp {
	w.t.Helper()
	return w.acpBy(w.start(installed(w.t, acpProgram)))
}

// acpBy initializes codex-acp as an editor does.
func (w *workshop) acpBy(c *apptest.Client) *acp {
	w.t.Helper()
	a := &acp{Client: c}
	a.Call("initialize", apptest.Object{"protocolVersion": 1, "clientCapabilities": apptest.Object{}})
	return a
}

func (a *acp) open(cwd string) acpOpened {
	a.T.Helper()
	return a.openWith(apptest.Object{"cwd": cwd, "mcpServers": []apptest.Object{}})
}

func (a *acp) openWith(params apptest.Object) (o acpOpened) {
	a.T.Helper()
	require.NoError(a.T, json.Unmarshal(a.Call("session/new", params), &o))
	a.session = o.SessionID
	return o
}

// prompt starts a turn and returns the id of its request.
func (a *acp) prompt(text string) string {
	a.T.Helper()
	return a.SendRequest("session/prompt",
		apptest.Object{"sessionId": a.session, "prompt": []apptest.Object{{"type": "text", "text": text}}})
}

// stopped waits for the end of a turn and returns its stop reason.
func (a *acp) stopped(prompt string) string {
	a.T.Helper()
	m := a.UntilResponse(prompt)
	require.Nil(a.T, m.Error, m.Line)
	var r struct{ StopReason string }
	require.NoError(a.T, json.Unmarshal(m.Result, &r))
	return r.StopReason
}

// turn runs a turn and returns its updates. It must end by itself.
func (a *acp) turn(text string) []acpUpdate {
	a.T.Helper()
	begin := len(a.Seen)
	require.Equal(a.T, "end_turn", a.stopped(a.prompt(text)))
	return a.updates(a.Seen[begin:])
}

func (a *acp) updates(messages []apptest.Message) (updates []acpUpdate) {
	a.T.Helper()
	for _, m := range messages {
		var p struct {
			SessionID string
			Update    acpUpdate
		}
		if m.Method != "session/update" {
			continue
		}
		require.NoError(a.T, json.Unmarshal(m.Params, &p))
		require.Equal(a.T, a.session, p.SessionID)
		updates = append(updates, p.Update)
	}
	return updates
}

// shownText returns the joined texts of one kind of update.
func shownText(updates []acpUpdate, kind string) string {
	var b strings.Builder
	for _, u := range updates {
		var content struct{ Text string }
		if u.SessionUpdate == kind && json.Unmarshal(u.Content, &content) == nil {
			b.WriteString(content.Text)
		}
	}
	return b.String()
}

// callStates returns the last status of each tool call.
func callStates(updates []acpUpdate) (statuses []string) {
	places := map[string]int{}
	for _, u := range updates {
		if u.ToolCallID == "" {
			continue
		}
		at, known := places[u.ToolCallID]
		if !known {
			at = len(statuses)
			places[u.ToolCallID], statuses = at, append(statuses, "")
		}
		if u.Status != "" {
			statuses[at] = u.Status
		}
	}
	return statuses
}

// permit answers permission requests with the option of a kind, and counts them.
func (a *acp) permit(kind string) (permissions *int) {
	permissions = new(int)
	a.OnRequest = func(m apptest.Message) any {
		*permissions++
		var p struct {
			Options []struct{ OptionID, Kind string }
		}
		require.NoError(a.T, json.Unmarshal(m.Params, &p), m.Line)
		for _, o := range p.Options {
			if o.Kind == kind {
				return apptest.Object{"outcome": apptest.Object{"outcome": "selected", "optionId": o.OptionID}}
			}
		}
		require.Fail(a.T, "no such option", "%s in %s", kind, m.Line)
		return nil
	}
	return permissions
}

// outsideStep returns a step that creates a file outside of the sandbox, which needs a permission.
func outsideStep(match, path string) string {
	return fmt.Sprintf(`{"match":%q,"toolCalls":[{"name":"shell","arguments":{"command":"touch %s && echo made","sandbox_permissions":"require_escalated","justification":"May I?"}}]}`, match, path)
}

// TestReferenceClientACP runs an editor's session: prompts, permissions, a cancellation, a failure,
// other modes and models, and a resume by another process.
func TestReferenceClientACP(t *testing.T) {
	w := scriptedWorkshop(t, `{"steps":[
		{"match":"greet","deltas":["Hello, ","world."]},
		`+outsideStep("allow it", "allowed")+`,{"match":"allow it","text":"It is there."},
		`+outsideStep("reject it", "rejected")+`,{"match":"reject it","text":"Then not."},
		{"match":"patch it","toolCalls":[{"name":"apply_patch","arguments":{"input":"*** Begin Patch\n*** Add File: patched\n+one\n*** End Patch"}}]},{"match":"patch it","text":"Patched."},
		{"match":"wait","toolCalls":[{"name":"shell","arguments":{"command":"sleep 600","timeout_ms":700000}}]},
		{"match":"go on","text":"Still here."},
		{"match":"fail","error":{"status":400,"message":"no such model here"}},
		{"match":"refuse","error":{"status":401,"message":"the key is wrong"}}]}`)
	a := w.acp()
	opened := a.open(w.project)
	require.Len(t, opened.Models.AvailableModels, 3, "one model with three efforts")
	a.Call("session/set_mode", apptest.Object{"sessionId": a.session, "modeId": "read-only"})

	require.Equal(t, "Hello, world.", shownText(a.turn("greet"), "agent_message_chunk"))
	permitAndReject(a, w)
	cancelAndFail(a)
	chooseAnother(a)
	a.Client.Close()

	resumeSession(w, a.session)
	w.conforms("codex-acp 2.6.0")
}

// permitAndReject runs commands and patches with and without the user's permission.
func permitAndReject(a *acp, w *workshop) {
	permissions := a.permit("allow_once")
	shown := a.turn("allow it")
	require.Equal(a.T, 1, *permissions)
	require.Equal(a.T, []string{"completed"}, callStates(shown))
	require.Equal(a.T, "It is there.", shownText(shown, "agent_message_chunk"))
	require.FileExists(a.T, filepath.Join(w.project, "allowed"))

	permissions = a.permit("reject_once")
	shown = a.turn("reject it")
	require.Equal(a.T, 1, *permissions)
	require.Equal(a.T, []string{"failed"}, callStates(shown))
	require.Equal(a.T, "Then not.", shownText(shown, "agent_message_chunk"))
	require.NoFileExists(a.T, filepath.Join(w.project, "rejected"))

	permissions = a.permit("allow_once")
	shown = a.turn("patch it")
	require.Equal(a.T, 1, *permissions, "a read-only mode requests a permission for patches")
	require.Equal(a.T, []string{"completed"}, callStates(shown))
	require.FileExists(a.T, filepath.Join(w.project, "patched"))
}

// cancelAndFail cancels a turn and lets one fail. The session continues.
func cancelAndFail(a *acp) {
	a.permit("allow_once")
	waits := a.prompt("wait")
	a.Until(func(m apptest.Message) bool { return strings.Contains(m.Line, `"sessionUpdate":"tool_call"`) })
	a.Send(apptest.Object{"method": "session/cancel", "params": apptest.Object{"sessionId": a.session}})
	require.Equal(a.T, "cancelled", a.stopped(waits))
	require.Equal(a.T, "Still here.", shownText(a.turn("go on"), "agent_message_chunk"))

	require.Contains(a.T, shownText(a.turn("fail"), "agent_message_chunk"), "no such model here")
	rejected := a.UntilResponse(a.prompt("refuse"))
	require.NotNil(a.T, rejected.Error, rejected.Line)
	require.Equal(a.T, "Authentication required", rejected.Error.Message)
}

// chooseAnother selects another mode and another effort of the model.
func chooseAnother(a *acp) {
	a.Call("session/set_mode", apptest.Object{"sessionId": a.session, "modeId": "agent-full-access"})
	a.Call("session/set_model", apptest.Object{"sessionId": a.session, "modelId": "offline[high]"})
	require.NotEmpty(a.T, shownText(a.turn("as you are"), "agent_message_chunk"))
}

// resumeSession lists, loads and continues the session in another process.
func resumeSession(w *workshop, session string) {
	a := w.acp()
	listed := a.Call("session/list", apptest.Object{})
	require.Contains(a.T, string(listed), session)
	a.session = session
	begin := len(a.Seen)
	a.Call("session/load", apptest.Object{"sessionId": session, "cwd": w.project, "mcpServers": []apptest.Object{}})
	shown := a.updates(a.Seen[begin:])
	require.Contains(a.T, shownText(shown, "user_message_chunk"), "greet")
	require.Contains(a.T, shownText(shown, "agent_message_chunk"), "Hello, world.It is there.Then not.Patched.Still here.")
	require.Equal(a.T, []string{"completed", "failed", "completed", "failed"}, callStates(shown))
	require.NotEmpty(a.T, shownText(a.turn("once more"), "agent_message_chunk"))
	a.Call("session/close", apptest.Object{"sessionId": session})
	a.Call("session/delete", apptest.Object{"sessionId": session})
	require.NotContains(a.T, string(a.Call("session/list", apptest.Object{})), session)
	a.Client.Close()
}

// TestReferenceClientACPServers configures an MCP server by the editor, and permits its tool
// permanently.
func TestReferenceClientACPServers(t *testing.T) {
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	w := scriptedWorkshop(t, `{"steps":[
		{"match":"use it","toolCalls":[{"name":"mcp__docs__write"}]},{"match":"use it","text":"Written."},
		{"match":"once more","toolCalls":[{"name":"mcp__docs__write"}]},{"match":"once more","text":"Written again."}]}`)
	a := w.acp()
	a.openWith(apptest.Object{"cwd": w.project,
		"mcpServers": []apptest.Object{{"name": "docs", "command": program, "args": []string{}, "env": []apptest.Object{}}}})
	permissions := a.permit("allow_always")
	for _, text := range []string{"use it", "once more"} {
		shown := a.turn(text)
		require.Equal(t, []string{"completed"}, callStates(shown))
		require.Contains(t, shownText(shown, "agent_message_chunk"), "Written")
	}
	require.Equal(t, 1, *permissions)
	a.Client.Close()
	w.conforms("codex-acp 2.6.0 with an MCP server")
}
