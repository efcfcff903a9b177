package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// ticketTool returns a tool of the client.
func ticketTool() apptest.Object {
	return apptest.Object{"dynamicTools": []apptest.Object{{"type": "function", "name": "ticket",
		"description": "Fetches a ticket", "inputSchema": apptest.Object{"type": "object"}}}}
}

func isAsk(method string) func(apptest.Message) bool {
	return func(m apptest.Message) bool { return m.Method == method && len(m.ID) > 0 }
}

// TestInterruptEndsClientToolCall interrupts a turn while the client does not answer a call. The
// turn ends, and a late response has no effect.
func TestInterruptEndsClientToolCall(t *testing.T) {
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "ticket", `{}`), apptest.TextAnswer("Well."))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	thread := c.StartThread(ticketTool())
	turn := c.BeginTurn(thread, "look it up")
	request := c.Until(isAsk("item/tool/call"))
	c.Call("turn/interrupt", apptest.Object{"threadId": thread, "turnId": turn})
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	c.Send(apptest.Object{"id": request.ID, "result": apptest.Object{"contentItems": []apptest.Object{}, "success": true}})

	c.Turn(thread, "go on")
	requests := p.Requests()
	require.Len(t, requests, 2)
	require.Contains(t, requests[1].Body, "aborted by user")
	c.Close()
}

// TestShutdownDuringClientToolCall closes the input while a call of the client's tool is pending.
// The turn and the server end in time.
func TestShutdownDuringClientToolCall(t *testing.T) {
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "ticket", `{}`))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	c.BeginTurn(c.StartThread(ticketTool()), "look it up")
	c.Until(isAsk("item/tool/call"))
	start := time.Now()
	c.Close()
	require.Less(t, time.Since(start), apptest.CleanupLimit)
}

// TestCrashDuringClientToolCall kills the server while a call of the client's tool is pending. The
// next server asks the client again, and the turn continues.
func TestCrashDuringClientToolCall(t *testing.T) {
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "ticket", `{}`), apptest.TextAnswer("It is open."))
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(ticketTool())
	c.BeginTurn(thread, "look it up")
	c.Until(isAsk("item/tool/call"))
	c.Kill()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.OnRequest = func(apptest.Message) any {
		return apptest.Object{"contentItems": []apptest.Object{{"type": "inputText", "text": "open"}}, "success": true}
	}
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	require.Equal(t, "It is open.", c.AwaitTurn().Items[0].Text)
	requests := p.Requests()
	require.Len(t, requests, 2)
	require.Equal(t, "open", requests[1].LastMessage(t).Content)
	c.Close()
}

// TestRequestUserInputReturnsChoice lets the model ask the user. The feature enables it in all
// modes; plan mode has it without the feature.
func TestRequestUserInputReturnsChoice(t *testing.T) {
	const questions = `{"questions":[{"id":"db","header":"Store","question":"Which?","options":[{"label":"A","description":"a"}]}]}`
	p := apptest.NewProvider(t, apptest.ToolAnswer("q1", "request_user_input", questions), apptest.TextAnswer("A."),
		apptest.TextAnswer("No questions."), apptest.TextAnswer("A plan."), apptest.TextAnswer("Still one."))
	home := p.Home(t)
	c := apptest.StartServer(t, home, "-c", "features.default_mode_request_user_input=true")
	c.Initialize()
	c.OnRequest = func(m apptest.Message) any {
		require.Equal(t, "item/tool/requestUserInput", m.Method)
		require.JSONEq(t, `false`, string(memberOf(t, m.Params, "isBlocking")))
		return apptest.Object{"answers": apptest.Object{"db": apptest.Object{"answers": []string{"A"}}}}
	}
	thread := c.StartThread(apptest.Object{})
	c.Turn(thread, "ask me")
	require.JSONEq(t, `{"answers":{"db":{"answers":["A"]}}}`, p.Requests()[1].LastMessage(t).Content)
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	c.Turn(thread, "no questions")
	require.Contains(t, p.Requests()[2].Body, "Asks the user one to three short questions", "tools are part of the prefix")
	require.NotContains(t, p.Requests()[2].Body, "Plan mode")
	c.Call("turn/start",
		apptest.Object{"threadId": thread, "input": apptest.TextInput("plan it"),
			"collaborationMode": apptest.Object{"mode": "plan", "settings": apptest.Object{"model": "test"}}})
	c.AwaitTurn()
	require.Contains(t, p.Requests()[3].Body, "Asks the user one to three short questions")
	require.Contains(t, p.Requests()[3].Body, "Plan mode")
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	c.Turn(thread, "go on planning")
	require.Contains(t, p.Requests()[4].Body, "Asks the user one to three short questions", "the thread keeps its mode")
	c.Close()
}

// TestCollaborationModesNeedExperimentalAPI rejects collaboration modes for clients without the
// capability, as the reference implementation does.
func TestCollaborationModesNeedExperimentalAPI(t *testing.T) {
	c := apptest.StartProcess(t, apptest.OfflineCommand(t, t.TempDir()))
	c.Call("initialize", apptest.Object{"clientInfo": apptest.Object{"name": "test", "version": "1"}})
	require.Equal(t, "thread/start.dynamicTools requires experimentalApi capability",
		c.CallRejected("thread/start", ticketTool()).Message)
	var started struct{ Thread struct{ ID string } }
	require.NoError(t, json.Unmarshal(c.Call("thread/start", apptest.Object{"dynamicTools": nil}), &started))
	require.Equal(t, "turn/start.collaborationMode requires experimentalApi capability",
		c.CallRejected("turn/start", apptest.Object{
			"threadId": started.Thread.ID, "input": apptest.TextInput("x"),
			"collaborationMode": apptest.Object{"mode": "plan", "settings": apptest.Object{"model": "m"}},
		}).Message)
	c.Close()
}
