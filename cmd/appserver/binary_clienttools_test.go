package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ticketTool is a tool of the client's.
func ticketTool() object {
	return object{"dynamicTools": []object{{"type": "function", "name": "ticket", "description": "Fetches a ticket", "inputSchema": object{"type": "object"}}}}
}

func isAsk(method string) func(message) bool {
	return func(m message) bool { return m.Method == method && len(m.ID) > 0 }
}

// TestBinaryInterruptEndsAClientsTool: the client never answers, and the turn ends; what it
// says later changes nothing.
func TestBinaryInterruptEndsAClientsTool(t *testing.T) {
	p := newProvider(t, callsTool("c1", "ticket", `{}`), says("Well."))
	c := startServer(t, p.home(t))
	c.initialize()
	thread := c.startThread(ticketTool())
	turn := c.beginTurn(thread, "look it up")
	asked := c.until(isAsk("item/tool/call"))
	c.call("turn/interrupt", object{"threadId": thread, "turnId": turn})
	require.Equal(t, "interrupted", c.awaitTurn().Status)
	c.send(object{"id": asked.ID, "result": object{"contentItems": []object{}, "success": true}})

	c.turn(thread, "go on")
	requests := p.asked()
	require.Len(t, requests, 2)
	require.Contains(t, requests[1].Body, "aborted by user")
	c.close()
}

// TestBinaryEndsWhileTheClientIsAsked: the end of the input ends the turn, in time.
func TestBinaryEndsWhileTheClientIsAsked(t *testing.T) {
	p := newProvider(t, callsTool("c1", "ticket", `{}`))
	c := startServer(t, p.home(t))
	c.initialize()
	c.beginTurn(c.startThread(ticketTool()), "look it up")
	c.until(isAsk("item/tool/call"))
	begun := time.Now()
	c.close()
	require.Less(t, time.Since(begun), 5*time.Second)
}

// TestCrashWhileTheClientIsAsked: after kill -9 the call has ended, the model is told so,
// and the tool is there to be called again.
func TestCrashWhileTheClientIsAsked(t *testing.T) {
	p := newProvider(t, callsTool("c1", "ticket", `{}`), callsTool("c2", "ticket", `{}`), says("It is open."))
	home := p.home(t)
	c := startServer(t, home)
	c.initialize()
	thread := c.startThread(ticketTool())
	c.beginTurn(thread, "look it up")
	c.until(isAsk("item/tool/call"))
	c.kill()

	c = startServer(t, home)
	c.initialize()
	c.onAsk = func(message) any {
		return object{"contentItems": []object{{"type": "inputText", "text": "open"}}, "success": true}
	}
	c.call("thread/resume", object{"threadId": thread})
	c.turn(thread, "once more")
	requests := p.asked()
	require.Len(t, requests, 3)
	require.Contains(t, requests[1].Body, "aborted by user")
	require.Equal(t, "open", requests[2].last(t).Content)
	c.close()
}

// TestBinaryAsksTheUser: where the switch is on the model may ask in any mode, and gets
// what was chosen; it is offered the tool in plan mode without the switch.
func TestBinaryAsksTheUser(t *testing.T) {
	const questions = `{"questions":[{"id":"db","header":"Store","question":"Which?","options":[{"label":"A","description":"a"}]}]}`
	p := newProvider(t, callsTool("q1", "request_user_input", questions), says("A."), says("No questions."), says("A plan."), says("Still one."))
	home := p.home(t)
	c := startServer(t, home, "-c", "features.default_mode_request_user_input=true")
	c.initialize()
	c.onAsk = func(m message) any {
		require.Equal(t, "item/tool/requestUserInput", m.Method)
		require.JSONEq(t, `false`, string(memberOf(t, m.Params, "isBlocking")))
		return object{"answers": object{"db": object{"answers": []string{"A"}}}}
	}
	thread := c.startThread(object{})
	c.turn(thread, "ask me")
	require.JSONEq(t, `{"answers":{"db":{"answers":["A"]}}}`, p.asked()[1].last(t).Content)
	c.close()

	c = startServer(t, home)
	c.initialize()
	c.call("thread/resume", object{"threadId": thread})
	c.turn(thread, "no questions")
	require.NotContains(t, p.asked()[2].Body, "Puts one to three short questions")
	c.call("turn/start", object{"threadId": thread, "input": textInput("plan it"), "collaborationMode": object{"mode": "plan", "settings": object{"model": "test"}}})
	c.awaitTurn()
	require.Contains(t, p.asked()[3].Body, "Puts one to three short questions")
	require.Contains(t, p.asked()[3].texts(t)[0], "Plan mode")
	c.close()

	c = startServer(t, home)
	c.initialize()
	c.call("thread/resume", object{"threadId": thread})
	c.turn(thread, "go on planning")
	require.Contains(t, p.asked()[4].Body, "Puts one to three short questions", "the mode is the thread's")
	c.close()
}

// TestBinaryModesNeedTheCapability: as for the reference implementation, clients ask for
// what is experimental.
func TestBinaryModesNeedTheCapability(t *testing.T) {
	c := dial(t, offlineCommand(t, t.TempDir()))
	c.call("initialize", object{"clientInfo": object{"name": "test", "version": "1"}})
	require.Equal(t, "thread/start.dynamicTools requires experimentalApi capability", c.refused("thread/start", ticketTool()).Message)
	var started struct{ Thread struct{ ID string } }
	require.NoError(t, json.Unmarshal(c.call("thread/start", object{"dynamicTools": nil}), &started))
	require.Equal(t, "turn/start.collaborationMode requires experimentalApi capability", c.refused("turn/start", object{
		"threadId": started.Thread.ID, "input": textInput("x"), "collaborationMode": object{"mode": "plan", "settings": object{"model": "m"}},
	}).Message)
	c.close()
}
