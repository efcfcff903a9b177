package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

const agentID = "0199a213-81c0-7800-8aa1-bbab2a0300aa"

// agentRollout returns the rollout of an agent that LegacyID has started.
func agentRollout() string {
	text := strings.ReplaceAll(apptest.LegacyRollout, apptest.LegacyID, agentID)
	text = strings.ReplaceAll(text, "list \x1b[31mthe files", "count the files")
	head, rest, _ := strings.Cut(text, "\n")
	var line map[string]any
	if json.Unmarshal([]byte(head), &line) != nil {
		return ""
	}
	line["payload"].(map[string]any)["source"] = map[string]any{"subagent": map[string]any{"thread_spawn": map[string]any{
		"parent_thread_id": apptest.LegacyID, "depth": 1, "agent_nickname": "Ada"}}}
	line["payload"].(map[string]any)["agent_nickname"] = "Ada"
	line["payload"].(map[string]any)["parent_thread_id"] = apptest.LegacyID
	raw, err := json.Marshal(line)
	if err != nil {
		return ""
	}
	return string(raw) + "\n" + rest
}

// TestThreadListHasAgentsBelowTheirParentOnDemand lists the agent of a thread with --agents only. --last is no agent.
func TestThreadListHasAgentsBelowTheirParentOnDemand(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	apptest.PutRollout(t, home, agentID, agentRollout())
	list := func(args ...string) string {
		status, out, errs := apptest.Execute(t, home, append([]string{"thread", "list"}, args...)...)
		require.Equal(t, 0, status, errs)
		return out
	}
	out := list()
	require.Contains(t, out, apptest.LegacyID)
	require.NotContains(t, out, agentID)
	lines := strings.Split(strings.TrimSpace(list("--agents")), "\n")
	require.Len(t, lines, 3)
	require.True(t, strings.HasPrefix(lines[0], "THREAD"))
	require.True(t, strings.HasPrefix(lines[1], apptest.LegacyID))
	require.True(t, strings.HasPrefix(lines[2], agentID))
	require.Contains(t, lines[2], "└ Ada: ")
	var listed []struct {
		ID    string `json:"id"`
		Depth int    `json:"depth"`
	}
	require.NoError(t, json.Unmarshal([]byte(list("--agents", "--json")), &listed))
	require.Len(t, listed, 2)
	require.Equal(t, 1, listed[1].Depth)
	require.Contains(t, list("--archived"), "There are no threads.")
	require.Contains(t, list("--limit", "1"), apptest.LegacyID)
	got, _ := apptest.ContextCommand(t, home, 0, "exclude", "--last", "0")
	require.Contains(t, got, "appserver context undo "+apptest.LegacyID+"\n")
	status, _, errs := apptest.Execute(t, home, "thread", "list", "--limit", "-1")
	require.Equal(t, 2, status)
	require.Contains(t, errs, "--limit -1: expected a number of threads")
}
