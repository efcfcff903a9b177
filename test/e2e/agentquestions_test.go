package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestQuestionsOfAgentsComeToAClientThatOpensTheParent asks a second client, which resumes the parent thread only.
func TestQuestionsOfAgentsComeToAClientThatOpensTheParent(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	script := filepath.Join(home, "script.json")
	require.NoError(t, os.WriteFile(script, []byte(`{"steps": [
		{"match": "Tidy up", "toolCalls": [{"name": "spawn_agent", "arguments": {"message": "Remove the cache."}}]},
		{"match": "Remove the cache.", "toolCalls": [{"name": "shell", "arguments": {"command": "rm -rf cache"}}]},
		{"match": "Remove the cache.", "text": "It is gone."}, {"match": "Tidy up", "text": "An agent works on it."}]}`), 0o600))
	d := apptest.StartDaemon(t, home, "unix://", "-c", "model=any", "-c", "model_provider=offline", "-c",
		"model_providers.offline.script="+script)
	first := d.ConnectInitialized()
	thread := first.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access"})
	first.BeginTurn(thread, "Tidy up.")
	asked := first.UntilMethod("item/commandExecution/requestApproval")
	agent := gjson.GetBytes(asked.Params, "threadId").Str
	require.NotEqual(t, thread, agent)

	second := d.ConnectInitialized()
	second.Call("thread/resume", apptest.Object{"threadId": thread})
	again := second.UntilMethod("item/commandExecution/requestApproval")
	require.Equal(t, agent, gjson.GetBytes(again.Params, "threadId").Str)
	second.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "accept"}})
	second.Until(func(m apptest.Message) bool {
		var p struct{ ThreadID string }
		return m.Method == "turn/completed" && json.Unmarshal(m.Params, &p) == nil && p.ThreadID == agent
	})
}
