package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// endings end a server while a turn waits for an answer.
var endings = map[string]func(c *apptest.Client){
	"kill":         func(c *apptest.Client) { c.Kill() },
	"end of input": func(c *apptest.Client) { c.Close() },
	"SIGTERM": func(c *apptest.Client) {
		c.Signal(syscall.SIGTERM)
		c.UntilMethod("serverRequest/resolved")
		c.AwaitExit()
	},
}

// TestApprovalsSurviveTheirServer ends a server while it asks for a command. The next server asks again, the
// command runs once, and the turn completes.
func TestApprovalsSurviveTheirServer(t *testing.T) {
	t.Parallel()
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, project := t.TempDir(), t.TempDir()
			c := apptest.StartOffline(t, home)
			id := c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
			turn := c.BeginTurn(id, "run: echo ran >> log")
			asked := c.UntilMethod("item/commandExecution/requestApproval")
			end(c)

			c = apptest.StartOffline(t, home)
			require.Equal(t, "inProgress", c.ReadThread(id).Turns[0].Status)
			resumed := c.CallThread("thread/resume", apptest.Object{"threadId": id})
			require.Equal(t, turn, resumed.Turns[0].ID)
			require.Equal(t, "inProgress", resumed.Turns[0].Status)
			again := c.UntilMethod("item/commandExecution/requestApproval")
			for _, member := range []string{"turnId", "itemId", "command", "cwd"} {
				require.Equal(t, gjson.GetBytes(asked.Params, member).Str, gjson.GetBytes(again.Params, member).Str)
			}
			require.NoFileExists(t, filepath.Join(project, "log"))
			listed := c.Call("serverRequest/list", apptest.Object{"threadId": id})
			require.Equal(t, string(again.ID), gjson.GetBytes(listed, "data.0.requestId").Raw)
			c.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "accept"}})
			ended := c.AwaitTurn()
			require.Equal(t, "completed", ended.Status)
			require.Equal(t, turn, ended.ID)
			log, err := os.ReadFile(filepath.Join(project, "log"))
			require.NoError(t, err)
			require.Equal(t, "ran\n", string(log))
			c.Close()
		})
	}
}

// TestPatchesThatWaitSurviveTheirServer checks that a patch is shown and written as the files are now.
func TestPatchesThatWaitSurviveTheirServer(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "apply_patch",
		`{"input":"*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch"}`), apptest.TextAnswer("Done."))
	home, project := p.Home(t), t.TempDir()
	file := filepath.Join(project, "f")
	require.NoError(t, os.WriteFile(file, []byte("a\n"), 0o600))
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.BeginTurn(id, "change it")
	c.UntilMethod("item/fileChange/requestApproval")
	c.Kill()
	require.NoError(t, os.WriteFile(file, []byte("a\nmore\n"), 0o600))

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.OnRequest = func(apptest.Message) any { return apptest.Object{"decision": "accept"} }
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "Done.", c.AwaitTurn().Items[0].Text)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "b\nmore\n", string(text))
	c.Close()
}

// TestAWaitingTurnContinuesWithAnotherModel resumes a turn that waits, with another model. The thread keeps it.
func TestAWaitingTurnContinuesWithAnotherModel(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "apply_patch",
		`{"input":"*** Begin Patch\n*** Add File: f\n+a\n*** End Patch"}`), apptest.TextAnswer("Done."))
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.BeginTurn(id, "change it")
	c.UntilMethod("item/fileChange/requestApproval")
	c.Kill()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.OnRequest = func(apptest.Message) any { return apptest.Object{"decision": "accept"} }
	c.Call("thread/resume", apptest.Object{"threadId": id, "model": "another"})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	require.Equal(t, "another", gjson.Get(p.Requests()[1].Body, "model").Str)
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	resumed := c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "another", gjson.GetBytes(resumed, "model").Str)
	c.Close()
}

// TestAcceptedCommandsDoNotSurviveTheirServer kills a server after an accepted command has begun. The command
// does not run again.
func TestAcceptedCommandsDoNotSurviveTheirServer(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.BeginTurn(id, "run: echo ran >> log; echo began; sleep 600")
	asked := c.UntilMethod("item/commandExecution/requestApproval")
	c.Send(apptest.Object{"id": asked.ID, "result": apptest.Object{"decision": "accept"}})
	c.UntilOutput("began\n")
	c.KillGroup()

	c = apptest.StartOffline(t, home)
	resumed := c.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "interrupted", resumed.Turns[0].Status)
	require.Equal(t, "completed", c.Turn(id, "say hello").Status)
	log, err := os.ReadFile(filepath.Join(project, "log"))
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(log))
	c.Close()
}

// TestACommandOfTheUserEndsAWaitingTurn kills a server while it asks for a command and runs one of the user.
func TestACommandOfTheUserEndsAWaitingTurn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{"approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.BeginTurn(id, "run: touch made")
	c.UntilMethod("item/commandExecution/requestApproval")
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "echo began; sleep 600"})
	c.UntilOutput("began\n")
	c.KillGroup()

	c = apptest.StartOffline(t, home)
	resumed := c.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "interrupted", resumed.Turns[0].Status)
	c.Close()
}
