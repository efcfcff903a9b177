package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/protocol"
)

// refilling returns a turn whose context is compacted without a model, above 3,100 of 3,400 tokens.
func refilling(t *testing.T, input string) *machine {
	m := newMachine(t.Errorf)
	m.world.Provider.ContextWindow = new(int64(3400))
	m.world.Compaction.Limit, m.world.Compaction.Target = 3100, 2500
	m.world.Compaction.Strategy = protocol.CompactLocal
	for _, line := range []string{"tokens 4", "start", "turn-start `" + input + "`"} {
		require.NoError(t, runCommand(m, line, new(strings.Builder)))
	}
	return m
}

// runCalls answers with a call and its output, until the turn has ended or the calls are used up. It returns the number
// of compactions, and the error of the turn or nil.
func runCalls(m *machine, n int, call func(i int) core.ToolCall) (compactions int, failure *protocol.TurnError) {
	for i := range n {
		for _, in := range []func() core.Input{
			func() core.Input {
				c := call(i)
				c.ID = fmt.Sprintf("c%d", i)
				return core.ModelDone{Effect: last[core.ModelRequest](m), Answer: core.Answer{Calls: []core.ToolCall{c}}}
			},
			func() core.Input {
				return core.ToolDone{Effect: first[core.RunTool](m),
					Result: exited(strings.Repeat(fmt.Sprintf("line of output %d\n", i), 400))}
			},
		} {
			for _, message := range m.take(in()).Messages {
				notice, _ := message.(core.Notice)
				switch v := notice.Notification.(type) {
				case protocol.ContextCompactedNotification:
					compactions++
				case protocol.TurnCompletedNotification:
					return compactions, v.Turn.Error
				}
			}
		}
	}
	return compactions, nil
}

func shellCall(script string) core.ToolCall {
	return core.ToolCall{Name: "shell", Arguments: encode(map[string]string{"command": script})}
}

// TestTurnEndsIfItsContextRefills: a model that repeats a call whose output fills the window does not go on forever.
func TestTurnEndsIfItsContextRefills(t *testing.T) {
	m := refilling(t, "go")
	compactions, failure := runCalls(m, 100, func(int) core.ToolCall { return shellCall("cat big") })
	require.NotNil(t, failure)
	require.LessOrEqual(t, compactions, 4)
	require.Equal(t, protocol.ErrorContextWindowExceeded, failure.CodexErrorInfo.Kind)
	require.Regexp(t, `full again after each of 3 compactions of this turn: .* item r\d+ \(toolOutput\) alone has`,
		failure.Message)
}

// TestTurnEndsIfNoAnswerFits: the largest item stays in every compaction.
func TestTurnEndsIfNoAnswerFits(t *testing.T) {
	m := refilling(t, strings.Repeat("rule ", 1000))
	compactions, failure := runCalls(m, 100, func(i int) core.ToolCall { return shellCall(fmt.Sprintf("cat %d", i)) })
	require.NotNil(t, failure)
	require.LessOrEqual(t, compactions, 4)
	require.Regexp(t, `item r6 \(userMessage\) alone has`, failure.Message)
}

// TestProgressKeepsTheTurn: a long turn with new calls is compacted as often as it needs.
func TestProgressKeepsTheTurn(t *testing.T) {
	m := refilling(t, "go")
	compactions, failure := runCalls(m, 60, func(i int) core.ToolCall { return shellCall(fmt.Sprintf("cat %d", i)) })
	require.Nil(t, failure)
	require.Greater(t, compactions, 10)
}
