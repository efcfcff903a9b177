package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestSandboxEscalationNeedsApproval runs commands for which the model requests to leave the
// sandbox. An accepted command runs outside; a declined one, or one without a request, does not.
func TestSandboxEscalationNeedsApproval(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "made")
	escalated := apptest.Object{"command": "touch " + outside, "sandbox_permissions": "require_escalated",
		"justification": "May I make it?"}
	p := apptest.NewProvider(t,
		apptest.ShellAnswerWith("a", escalated), apptest.TextAnswer("Declined."),
		apptest.ShellAnswerWith("b", escalated), apptest.TextAnswer("Made."),
		apptest.ShellAnswerWith("c", escalated), apptest.TextAnswer("Made again."),
		apptest.ShellAnswerWith("d", escalated), apptest.TextAnswer("Made a last time."),
		apptest.ShellAnswerWith("e",
			apptest.Object{"command": "touch -a " + outside, "sandbox_permissions": "require_escalated"}),
		apptest.TextAnswer("Refused."))
	c := apptest.StartServer(t, p.Home(t), "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c",
		"sandbox_workspace_write.exclude_tmpdir_env_var=true")
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "workspace-write"})
	var reasons []string
	run := func(decision string) string {
		require.NoError(t, os.RemoveAll(outside))
		c.OnRequest = func(m apptest.Message) any {
			reasons = append(reasons, gjson.GetBytes(m.Params, "reason").Str)
			require.NoFileExists(t, outside)
			return apptest.Object{"decision": decision}
		}
		c.BeginTurn(id, "go")
		status := c.UntilCommand().Status
		c.AwaitTurn()
		return status
	}
	require.Equal(t, "declined", run("decline"))
	require.NoFileExists(t, outside)
	for _, decision := range []string{"accept", "acceptForSession", "cancel"} {
		require.Equal(t, "completed", run(decision))
		require.FileExists(t, outside)
	}
	require.Equal(t, []string{"May I make it?", "May I make it?", "May I make it?"}, reasons,
		"an approval for the session was requested again")

	c.Call("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("go"), "approvalPolicy": "never"})
	require.Equal(t, "declined", c.UntilCommand().Status)
	c.AwaitTurn()
	require.Len(t, reasons, 3)
	c.Close()
	requests := p.Requests()
	require.Contains(t, requests[0].Body, "sandbox_permissions", "the tool has the escalation params")
	require.Equal(t, gjson.Get(requests[0].Body, "tools").Raw, gjson.Get(requests[8].Body, "tools").Raw,
		"the tools are the same under a policy that rejects it")
}

// TestApprovalAcceptsOneResponse sends further responses to an answered approval. They are logged
// and have no effect.
func TestApprovalAcceptsOneResponse(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	cmd := apptest.OfflineCommand(t, t.TempDir())
	log := cmd.Stderr.(*os.File)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.BeginTurn(id, "run: touch made")
	question := c.UntilMethod("item/commandExecution/requestApproval")
	shown := c.ReadThread(id)
	require.Equal(t, "inProgress", gjson.GetBytes(shown.Turns[0].Items[1], "status").Str)
	require.Equal(t, "touch made", gjson.GetBytes(shown.Turns[0].Items[1], "commandActions.0.command").Str)

	require.Equal(t, "0", string(question.ID))
	c.Write(`{"id":7,"result":{"decision":"accept"}}`)
	c.Write(`{"id":"0","result":{"decision":"accept"}}`)
	c.Call("thread/unsubscribe", apptest.Object{"threadId": id})
	c.Call("thread/resume", apptest.Object{"threadId": id})
	again := c.UntilMethod("item/commandExecution/requestApproval")
	require.JSONEq(t, string(question.Params), string(again.Params))
	c.Write(`{"id":0,"result":{"decision":"decline"}}`)
	c.Write(`{"id":0,"result":{"decision":"accept"}}`)
	require.Equal(t, "completed", c.AwaitTurn().Status)

	interrupted := c.BeginTurn(id, "run: touch made")
	c.UntilMethod("item/commandExecution/requestApproval")
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": interrupted})
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	c.Write(`{"id":1,"result":{"decision":"accept"}}`)
	c.OnRequest = func(apptest.Message) any { return apptest.Object{"decision": "nonsense"} }
	c.BeginTurn(id, "run: touch made")
	require.Contains(t, string(c.UntilMethod("warning").Params), "counts as decline: unknown variant `nonsense`")
	require.Equal(t, "completed", c.AwaitTurn().Status)
	require.NoFileExists(t, filepath.Join(project, "made"))
	c.Close()

	text, err := os.ReadFile(log.Name())
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(text), "dropped")+strings.Count(string(text), "ignoring response"), "%s",
		text)
}

// environments are settings of the file and of a thread, with the variables that commands get.
var environments = []struct {
	name, file, thread string
	want               []string
}{
	{"by default", "", "{}", []string{"PLAIN=1"}},
	{"core", "inherit = \"core\"", "{}", nil},
	{"secrets that are asked for", "ignore_default_excludes = true", "{}", []string{"DEMO_TOKEN=2", "PLAIN=1"}},
	{"excluded and set", "exclude = [\"pl*\"]\nset = { DEMO_TOKEN = \"mine\" }", "{}", []string{"DEMO_TOKEN=mine"}},
	{"a thread's own", "set = { DEMO_A = \"file\", DEMO_B = \"file\" }",
		`{"shell_environment_policy.set": {"DEMO_B": "thread"}, "shell_environment_policy.inherit": "core"}`,
		[]string{"DEMO_A=file", "DEMO_B=thread"}},
	{"only some", "", `{"shell_environment_policy": {"include_only": ["demo_*", "PATH", "HOME"], "set": {"DEMO_C": "$HOME", "OTHER": "x"}}}`, []string{"DEMO_C=$HOME"}},
}

// TestCommandEnvironmentFollowsSettings runs a command for each configuration, in a new thread and
// in a resumed one.
func TestCommandEnvironmentFollowsSettings(t *testing.T) {
	t.Parallel()
	variable := regexp.MustCompile(`^(PLAIN|DEMO_\w+|OTHER|APPSERVER_PLAIN)=`)
	for _, e := range environments {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			apptest.WriteConfig(t, home,
				"[model_providers.paid]\nbase_url = \"http://127.0.0.1:1\"\nenv_key = \"DEMO_PAID\"\n[shell_environment_policy]\n"+
					e.file+"\n")
			var config apptest.Object
			require.NoError(t, json.Unmarshal([]byte(e.thread), &config))
			start := func() *apptest.Client {
				cmd := apptest.OfflineCommand(t, home)
				cmd.Env = append(cmd.Env, "PLAIN=1", "DEMO_TOKEN=2", "DEMO_PAID=3", "APPSERVER_PLAIN=4")
				c := apptest.StartProcess(t, cmd)
				c.Initialize()
				return c
			}
			got := func(c *apptest.Client, id string) (found []string) {
				c.BeginTurn(id, "run: env | sort")
				for line := range strings.Lines(c.UntilCommand().AggregatedOutput) {
					if variable.MatchString(line) {
						found = append(found, strings.TrimSpace(line))
					}
				}
				c.AwaitTurn()
				return found
			}
			c := start()
			id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never",
				"config": config})
			require.Equal(t, e.want, got(c, id))
			c.Close()
			c = start()
			c.Call("thread/resume", apptest.Object{"threadId": id, "config": config})
			require.Equal(t, e.want, got(c, id))
			c.Close()
		})
	}
}

// TestCrashDuringApprovalRunsNothing kills the server while an approval is pending. The command does not run
// before the next server has asked again. A late response to the first request has no effect.
func TestCrashDuringApprovalRunsNothing(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.BeginTurn(id, "run: touch made")
	c.UntilMethod("item/commandExecution/requestApproval")
	c.Kill()

	c = apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": id})
	again := c.UntilMethod("item/commandExecution/requestApproval")
	c.Write(`{"id":0,"result":{"decision":"accept"}}`)
	listed := c.Call("serverRequest/list", apptest.Object{"threadId": id})
	require.Equal(t, string(again.ID), gjson.GetBytes(listed, "data.0.requestId").Raw)
	c.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "decline"}})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	require.NoFileExists(t, filepath.Join(project, "made"))
	c.Close()
}
