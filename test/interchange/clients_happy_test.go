//go:build reference

package interchange

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// happy is the part of Happy that talks to the server, without its app and its relay.
type happy struct {
	*apptest.Client
	approvals int
}

// happyEvent is an event that this part sends to Happy.
type happyEvent struct {
	Type, Message, Output, Status string
	Error                         struct{ Message string }
}

// happy runs the recipe of docs/clients.md, whose command happy starts that part alone.
func (w *workshop) happy() *happy {
	w.t.Helper()
	command := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = codex ] && exec node %s\n", w.harness("happy.mjs"))
	require.NoError(w.t, os.WriteFile(filepath.Join(w.bin, "happy"), []byte(command), 0o700))
	return &happy{Client: w.connect(w.command("bash", "-ec", w.recipe("script: happy")))}
}

// decide answers each approval request with a decision.
func (h *happy) decide(decision string) {
	h.OnRequest = func(m apptest.Message) any {
		require.Equal(h.T, "approval", m.Method)
		h.approvals++
		return decision
	}
}

// opened calls a method that returns the id of a thread.
func (h *happy) opened(method string, options apptest.Object) string {
	h.T.Helper()
	var r struct{ ThreadID string }
	require.NoError(h.T, json.Unmarshal(h.Call(method, []any{options}), &r))
	require.NotEmpty(h.T, r.ThreadID)
	return r.ThreadID
}

// turn runs a turn, and returns its events by type. Of several, the last one stays.
func (h *happy) turn(prompt string) map[string]happyEvent {
	h.T.Helper()
	begin := len(h.Seen)
	require.JSONEq(h.T, `{"aborted":false}`, string(h.Call("sendTurnAndWait", []any{prompt})))
	return h.events(h.Seen[begin:])
}

func (h *happy) events(messages []apptest.Message) map[string]happyEvent {
	h.T.Helper()
	events := map[string]happyEvent{}
	for _, m := range messages {
		var e happyEvent
		if m.Method == "event" && json.Unmarshal(m.Params, &e) == nil {
			events[e.Type] = e
		}
	}
	return events
}

// TestReferenceClientHappy runs turns with commands and patches that Happy accepts and refuses, an
// interrupt, a failure, a fork, and a resume by another process.
func TestReferenceClientHappy(t *testing.T) {
	w := scriptedWorkshop(t, `{"steps":[
		{"match":"greet","deltas":["Hello, ","world."]},
		`+outsideStep("allow it", "allowed")+`,{"match":"allow it","text":"It is there."},
		`+outsideStep("reject it", "rejected")+`,{"match":"reject it","text":"Then not."},
		{"match":"patch it","toolCalls":[{"name":"apply_patch","arguments":{"input":"*** Begin Patch\n*** Add File: patched\n+one\n*** End Patch"}}]},{"match":"patch it","text":"Patched."},
		{"match":"wait","toolCalls":[{"name":"shell","arguments":{"command":"sleep 600","timeout_ms":700000}}]},
		{"match":"fail","error":{"status":400,"message":"no such model here"}}]}`)
	h := w.happy()
	h.Call("connect", []any{})
	thread := h.opened("startThread", apptest.Object{"cwd": w.project, "approvalPolicy": "on-request", "sandbox": "read-only"})
	require.Equal(t, "Hello, world.", h.turn("greet")["agent_message"].Message)
	happyDecides(h, w)
	happyInterrupts(h)
	failed := h.turn("fail")["task_complete"]
	require.Equal(t, "failed", failed.Status)
	require.Equal(t, "no such model here", failed.Error.Message)
	require.Contains(t, string(h.Call("readThread", []any{apptest.Object{"threadId": thread}})), "It is there.")
	require.NotEqual(t, thread, h.opened("forkThread", apptest.Object{"threadId": thread}))
	require.Contains(t, h.turn("in the fork")["agent_message"].Message, "in the fork")
	h.Close()

	h = w.happy()
	h.Call("connect", []any{})
	require.Equal(t, thread, h.opened("resumeThread", apptest.Object{"threadId": thread}))
	require.Greater(t, messagesHeld(t, h.turn("and more")["agent_message"].Message), 9, "the history is kept")
	h.Close()
	w.conforms("happy 1.2.5")
}

// happyDecides runs commands and patches with and without approval.
func happyDecides(h *happy, w *workshop) {
	h.decide("approved")
	shown := h.turn("allow it")
	require.Equal(h.T, "made\n", shown["exec_command_end"].Output)
	require.Equal(h.T, "It is there.", shown["agent_message"].Message)
	require.Contains(h.T, h.turn("patch it"), "patch_apply_end")
	require.FileExists(h.T, filepath.Join(w.project, "patched"))
	h.decide("denied")
	require.Equal(h.T, "declined", h.turn("reject it")["exec_command_end"].Status)
	require.NoFileExists(h.T, filepath.Join(w.project, "rejected"))
	require.Equal(h.T, 3, h.approvals)
}

// happyInterrupts interrupts a command. Happy takes such a turn for completed, as it does with the
// reference implementation, which reports an idle thread first.
func happyInterrupts(h *happy) {
	waits := h.SendRequest("sendTurnAndWait", []any{"wait"})
	h.Until(func(m apptest.Message) bool {
		var e happyEvent
		return m.Method == "event" && json.Unmarshal(m.Params, &e) == nil && e.Type == "exec_command_begin"
	})
	h.Call("interruptTurn", []any{})
	require.JSONEq(h.T, `{"aborted":false}`, string(h.UntilResponse(waits).Result))
}
