package core_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/protocol"
)

// TestTurnStatesAreDocumented compares the table in docs/turns.md with the machine.
func TestTurnStatesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/turns.md")
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\|.*\\| (.*) \\|$")
	var states, changes []string
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		states = append(states, m[1])
		for _, to := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(m[2], -1) {
			changes = append(changes, m[1]+" → "+to[1])
		}
	}
	wantStates, wantChanges := core.TurnTransitions()
	require.ElementsMatch(t, wantStates, states)
	require.ElementsMatch(t, wantChanges, changes)
}

// TestTurnStatesOccur runs the scripts: each change of the state that the machine permits occurs. The checker reports
// all others, in tests with random inputs as well.
func TestTurnStatesOccur(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		m := newMachine(t.Errorf)
		runScriptOn(t, m, strings.ReplaceAll(string(text), "\r\n", "\n"))
		maps.Copy(seen, m.checker.states)
	}
	for _, change := range changesWithEncryptedSummary(t) {
		seen[change] = true
	}
	_, changes := core.TurnTransitions()
	require.ElementsMatch(t, changes, slices.Collect(maps.Keys(seen)))
}

// changesWithEncryptedSummary returns the changes of the state of a turn whose provider cannot read its encrypted
// content in the request for a summary.
func changesWithEncryptedSummary(t *testing.T) (changes []string) {
	m := newMachine(t.Errorf)
	m.world.Capabilities.Responses = true
	m.options.Capabilities = func(_, _ string) core.Capabilities { return m.world.Capabilities }
	var lines []protocol.RolloutLine
	for _, line := range []string{
		`{"type":"session_meta","payload":{"id":"t-1","cwd":"/repo","model_provider":"mock"}}`,
		`{"type":"event_msg","payload":{"type":"task_started","turn_id":"u-1"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]}}`,
		`{"type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"c2VhbGVk"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}}`,
		`{"type":"event_msg","payload":{"type":"task_complete","turn_id":"u-1","last_agent_message":"a"}}`,
	} {
		var l protocol.RolloutLine
		require.NoError(t, protocol.Unmarshal([]byte(line), &l))
		l.Ordinal = new(int64(len(lines)))
		lines = append(lines, l)
	}
	thread := core.Load(threadID, m.options, m.settings, lines)
	out := thread.Step(m.stamp(), core.CompactContext{To: m.caller(), Env: m.world, Strategy: protocol.CompactSummary})
	changes = append(changes, out.Transitions()...)
	request, sent := out.Effects[len(out.Effects)-1].(core.ModelRequest)
	require.True(t, sent)
	out = thread.Step(m.stamp(), core.ModelFailed{Effect: request.ID,
		Err: &core.ModelError{Message: "unreadable", Encrypted: true}})
	require.NoError(t, out.Fault)
	return append(changes, out.Transitions()...)
}
