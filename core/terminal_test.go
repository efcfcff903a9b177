package core_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
	"appserver/test/sample"
)

// withTerminals returns a machine whose model may leave commands running.
func withTerminals(t *testing.T) *machine {
	m := newMachine(t.Errorf)
	m.world.Capabilities.Terminals = true
	m.take(m.start(protocol.HistoryPaginated))
	m.ask()
	return m
}

// ask begins a turn.
func (m *machine) ask() {
	m.take(core.TurnStart{To: m.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn},
		Env: m.world})
}

// call lets the model call a tool and returns the output of the step.
func (m *machine) call(id, tool, arguments string) core.Output {
	return m.take(core.ModelDone{Effect: last[core.ModelRequest](m),
		Answer: core.Answer{Calls: []core.ToolCall{{ID: id, Name: tool, Arguments: arguments}}}})
}

// leaveRunning lets a command continue in the background and returns its effect.
func (m *machine) leaveRunning(id string) core.EffectID {
	m.call(id, "exec_command", `{"cmd":"serve"}`)
	effect := last[core.RunTool](m)
	m.take(core.TimerFired{Effect: last[core.Timer](m)})
	return effect
}

// outputIn returns the output of a call from the lines.
func outputIn(t *testing.T, out core.Output, call string) string {
	t.Helper()
	for _, line := range out.Lines {
		if p := gjson.ParseBytes(line.Payload); p.Get("type").Str == "function_call_output" && p.Get("call_id").Str == call {
			return p.Get("output").Str
		}
	}
	require.Fail(t, "no output", "of %s in %v", call, out.Lines)
	return ""
}

// TestTerminalsAreBounded checks that the 65th command is refused, and that at most 64 ended ones
// wait to be read.
func TestTerminalsAreBounded(t *testing.T) {
	sample.Long(t)
	m := withTerminals(t)
	var effects []core.EffectID
	for i := range 64 {
		effects = append(effects, m.leaveRunning(fmt.Sprint("c", i)))
	}
	require.Contains(t, outputIn(t, m.call("more", "exec_command", `{"cmd":"one"}`), "more"),
		"64 commands run in the background")
	for _, effect := range effects {
		m.take(core.ToolDone{Effect: effect, Result: core.ToolResult{ExitCode: new(0)}})
	}
	require.False(t, m.thread.HasTerminals())
	m.take(core.ToolDone{Effect: m.leaveRunning("new"), Result: core.ToolResult{ExitCode: new(0)}})
	sessions := outputIn(t, m.call("which", "write_stdin", `{"session_id":1}`), "which")
	require.Equal(t, 64, strings.Count(sessions[strings.Index(sessions, "The sessions are"):], ",")+1)
}

// TestTerminalOutputIsBounded checks that long output has its head and tail, and obeys the model's
// limit.
func TestTerminalOutputIsBounded(t *testing.T) {
	m := withTerminals(t)
	effect := m.leaveRunning("c")
	for range 100 {
		m.take(core.ToolOutput{Effect: effect, Text: strings.Repeat("x", 10_000)})
	}
	m.call("d", "write_stdin", `{"session_id":10}`)
	much := outputIn(t, m.take(core.TimerFired{Effect: last[core.Timer](m)}), "d")
	require.Contains(t, much, "[... 960000 bytes cut ...]")
	require.Less(t, len(much), 41_000)
	m.take(core.ToolOutput{Effect: effect, Text: strings.Repeat("y", 1000)})
	m.call("e", "write_stdin", `{"session_id":10,"max_output_tokens":10}`)
	little := outputIn(t, m.take(core.TimerFired{Effect: last[core.Timer](m)}), "e")
	require.Contains(t, little, "[... 960 bytes cut ...]")
	require.NotContains(t, little, "x")
}

// TestTerminalsOfRevertedTurns checks that they continue without an item, since their turn was
// removed.
func TestTerminalsOfRevertedTurns(t *testing.T) {
	m := withTerminals(t)
	m.take(core.ModelDone{Effect: last[core.ModelRequest](m)})
	m.ask()
	turn := m.thread.ActiveTurn()
	effect := m.leaveRunning("c")
	m.take(core.ModelDone{Effect: last[core.ModelRequest](m)})
	m.take(core.Revert{To: m.caller(), Before: &turn})
	out := m.take(core.ToolOutput{Effect: effect, Text: "lost"})
	require.Empty(t, out.Messages)
	require.True(t, m.thread.HasTerminals())
	out = m.take(core.ToolDone{Effect: effect, Result: core.ToolResult{ExitCode: new(0)}})
	require.Empty(t, out.Lines)
	require.Empty(t, out.Messages)
	require.Len(t, m.thread.View(true).Turns, 1)
}

// TestScriptsOfOtherShellsAreUnsafe checks that scripts of another shell count as unsafe, and that approvals hold for
// one shell.
func TestScriptsOfOtherShellsAreUnsafe(t *testing.T) {
	m := withTerminals(t)
	m.take(core.ModelDone{Effect: last[core.ModelRequest](m)})
	m.settings.ApprovalPolicy.Mode = protocol.ApprovalUntrusted
	m.take(core.TurnStart{To: m.caller(),
		Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn, ApprovalPolicy: &m.settings.ApprovalPolicy},
		Env:    m.world})
	for i, c := range []struct {
		arguments string
		asks      bool
	}{
		{`{"cmd":"ls"}`, false},
		{`{"cmd":"ls","shell":"/bin/bash"}`, false},
		{`{"cmd":"ls","shell":"/tmp/ls"}`, true},
		{`{"cmd":"ls","shell":"/tmp/ls"}`, false}, // accepted for the session
		{`{"cmd":"ls","shell":"/tmp/other"}`, true},
		{`{"cmd":"rm a"}`, true},
		{`{"cmd":"rm a","login":false,"tty":true}`, false},
		{`{"cmd":"rm a","shell":"/tmp/ls"}`, true},
	} {
		m.call(fmt.Sprint("c", i), "exec_command", c.arguments)
		open := m.thread.OpenRequests()
		require.Equal(t, c.asks, len(open) > 0, c.arguments)
		if c.asks {
			m.take(core.ClientAnswer{Request: open[0], Result: []byte(`{"decision":"acceptForSession"}`)})
		}
		m.take(core.ToolDone{Effect: last[core.RunTool](m), Result: core.ToolResult{ExitCode: new(0)}})
	}
}

// TestWaitIsBounded checks the bounds of yield_time_ms.
func TestWaitIsBounded(t *testing.T) {
	m := withTerminals(t)
	m.leaveRunning("c")
	wait := func(out core.Output) time.Duration {
		for _, e := range out.Effects {
			if timer, ok := e.(core.Timer); ok {
				return timer.Delay
			}
		}
		return 0
	}
	for i, c := range []struct {
		tool, arguments string
		want            time.Duration
	}{
		{"exec_command", `{"cmd":"a"}`, 10 * time.Second},
		{"exec_command", `{"cmd":"a","yield_time_ms":0}`, 250 * time.Millisecond},
		{"exec_command", `{"cmd":"a","yield_time_ms":99999999}`, 30 * time.Second},
		{"write_stdin", `{"session_id":10}`, 5 * time.Second},
		{"write_stdin", `{"session_id":10,"yield_time_ms":1}`, 5 * time.Second},
		{"write_stdin", `{"session_id":10,"yield_time_ms":99999999}`, 5 * time.Minute},
		{"write_stdin", `{"session_id":10,"chars":"\u0003"}`, 250 * time.Millisecond},
	} {
		require.Equal(t, c.want, wait(m.call(fmt.Sprint("w", i), c.tool, c.arguments)), c.arguments)
		m.take(core.TimerFired{Effect: last[core.Timer](m)})
	}
}

// TestFailedInputLeavesTheCommandRunning checks that the model gets the reason, and that the command continues.
func TestFailedInputLeavesTheCommandRunning(t *testing.T) {
	m := withTerminals(t)
	m.call("c", "exec_command", `{"cmd":"serve","tty":true}`)
	m.take(core.TimerFired{Effect: last[core.Timer](m)})
	m.call("d", "write_stdin", `{"session_id":10,"chars":"x"}`)
	out := m.take(core.StdinWritten{Effect: last[core.WriteStdin](m), Err: errDiskFull})
	require.Contains(t, outputIn(t, out, "d"),
		"Nothing was written: no space left on device. Process running with session ID 10")
	require.True(t, m.thread.HasTerminals())
}
