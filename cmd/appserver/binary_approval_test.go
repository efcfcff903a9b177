package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestBinaryLetsTheModelAskToRunOutside of the sandbox: what the user accepts runs there,
// and what is declined, or not asked for, does not.
func TestBinaryLetsTheModelAskToRunOutside(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "made")
	escalated := object{"command": "touch " + outside, "sandbox_permissions": "require_escalated", "justification": "May I make it?"}
	p := newProvider(t,
		callsShellWith("a", escalated), says("Declined."),
		callsShellWith("b", escalated), says("Made."),
		callsShellWith("c", escalated), says("Made again."),
		callsShellWith("d", escalated), says("Made a last time."),
		callsShellWith("e", object{"command": "touch -a " + outside, "sandbox_permissions": "require_escalated"}), says("Refused."))
	c := startServer(t, p.home(t), "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true")
	c.initialize()
	id := c.startThread(object{"cwd": t.TempDir(), "sandbox": "workspace-write"})
	var reasons []string
	run := func(decision string) string {
		require.NoError(t, os.RemoveAll(outside))
		c.onAsk = func(m message) any {
			reasons = append(reasons, gjson.GetBytes(m.Params, "reason").Str)
			require.NoFileExists(t, outside)
			return object{"decision": decision}
		}
		c.beginTurn(id, "go")
		status := c.untilCommand().Status
		c.awaitTurn()
		return status
	}
	require.Equal(t, "declined", run("decline"))
	require.NoFileExists(t, outside)
	for _, decision := range []string{"accept", "acceptForSession", "cancel"} {
		require.Equal(t, "completed", run(decision))
		require.FileExists(t, outside)
	}
	require.Equal(t, []string{"May I make it?", "May I make it?", "May I make it?"}, reasons, "what was accepted for the session is not asked for")

	c.call("turn/start", object{"threadId": id, "input": textInput("go"), "approvalPolicy": "never"})
	require.Equal(t, "declined", c.untilCommand().Status)
	c.awaitTurn()
	require.Len(t, reasons, 3)
	c.close()
	asked := p.asked()
	require.Contains(t, asked[0].Body, "sandbox_permissions", "the model is offered to ask")
	require.NotContains(t, gjson.Get(asked[8].Body, "tools").Raw, "sandbox_permissions", "and is not where it would be refused")
}

// TestBinaryTakesOneAnswer to a question, from whoever was asked: all others are a line in
// the log, and end nothing.
func TestBinaryTakesOneAnswer(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	cmd := offlineCommand(t, t.TempDir())
	log := cmd.Stderr.(*os.File)
	c := dial(t, cmd)
	c.initialize()
	id := c.startThread(object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.beginTurn(id, "run: touch made")
	question := c.untilMethod("item/commandExecution/requestApproval")
	shown := c.readThread(id)
	require.Equal(t, "inProgress", gjson.GetBytes(shown.Turns[0].Items[1], "status").Str)
	require.Equal(t, "touch made", gjson.GetBytes(shown.Turns[0].Items[1], "commandActions.0.command").Str)

	require.Equal(t, "0", string(question.ID))
	c.write(`{"id":7,"result":{"decision":"accept"}}`)
	c.write(`{"id":"0","result":{"decision":"accept"}}`)
	c.call("thread/unsubscribe", object{"threadId": id})
	c.call("thread/resume", object{"threadId": id})
	again := c.untilMethod("item/commandExecution/requestApproval")
	require.JSONEq(t, string(question.Params), string(again.Params))
	c.write(`{"id":0,"result":{"decision":"decline"}}`)
	c.write(`{"id":0,"result":{"decision":"accept"}}`)
	require.Equal(t, "completed", c.awaitTurn().Status)

	interrupted := c.beginTurn(id, "run: touch made")
	c.untilMethod("item/commandExecution/requestApproval")
	c.call("turn/interrupt", object{"threadId": id, "turnId": interrupted})
	require.Equal(t, "interrupted", c.awaitTurn().Status)
	c.write(`{"id":1,"result":{"decision":"accept"}}`)
	c.onAsk = func(message) any { return object{"decision": "nonsense"} }
	c.beginTurn(id, "run: touch made")
	require.Contains(t, string(c.untilMethod("warning").Params), "counts as decline: unknown variant `nonsense`")
	require.Equal(t, "completed", c.awaitTurn().Status)
	require.NoFileExists(t, filepath.Join(project, "made"))
	c.close()

	text, err := os.ReadFile(log.Name())
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(text), "dropped")+strings.Count(string(text), "ignoring response"), "%s", text)
}

// environments are configurations of the file and of a thread, and which of the variables
// commands get then.
var environments = []struct {
	name, file, thread string
	want               []string
}{
	{"by default", "", "{}", []string{"PLAIN=1"}},
	{"core", "inherit = \"core\"", "{}", nil},
	{"secrets that are asked for", "ignore_default_excludes = true", "{}", []string{"DEMO_TOKEN=2", "PLAIN=1"}},
	{"excluded and set", "exclude = [\"pl*\"]\nset = { DEMO_TOKEN = \"mine\" }", "{}", []string{"DEMO_TOKEN=mine"}},
	{"a thread's own", "set = { DEMO_A = \"file\", DEMO_B = \"file\" }", `{"shell_environment_policy.set": {"DEMO_B": "thread"}, "shell_environment_policy.inherit": "core"}`,
		[]string{"DEMO_A=file", "DEMO_B=thread"}},
	{"only some", "", `{"shell_environment_policy": {"include_only": ["demo_*", "PATH", "HOME"], "set": {"DEMO_C": "$HOME", "OTHER": "x"}}}`, []string{"DEMO_C=$HOME"}},
}

// TestBinaryEnvironmentOfCommands runs a real command in each, of a thread that is new and of
// one that is resumed.
func TestBinaryEnvironmentOfCommands(t *testing.T) {
	t.Parallel()
	variable := regexp.MustCompile(`^(PLAIN|DEMO_\w+|OTHER|APPSERVER_PLAIN)=`)
	for _, e := range environments {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			writeConfig(t, home, "[model_providers.paid]\nbase_url = \"http://127.0.0.1:1\"\nenv_key = \"DEMO_PAID\"\n[shell_environment_policy]\n"+e.file+"\n")
			var config object
			require.NoError(t, json.Unmarshal([]byte(e.thread), &config))
			start := func() *client {
				cmd := offlineCommand(t, home)
				cmd.Env = append(cmd.Env, "PLAIN=1", "DEMO_TOKEN=2", "DEMO_PAID=3", "APPSERVER_PLAIN=4")
				c := dial(t, cmd)
				c.initialize()
				return c
			}
			got := func(c *client, id string) (found []string) {
				c.beginTurn(id, "run: env | sort")
				for line := range strings.Lines(c.untilCommand().AggregatedOutput) {
					if variable.MatchString(line) {
						found = append(found, strings.TrimSpace(line))
					}
				}
				c.awaitTurn()
				return found
			}
			c := start()
			id := c.startThread(object{"cwd": t.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never", "config": config})
			require.Equal(t, e.want, got(c, id))
			c.close()
			c = start()
			c.call("thread/resume", object{"threadId": id, "config": config})
			require.Equal(t, e.want, got(c, id))
			c.close()
		})
	}
}

// TestCrashWhileAsking: what was asked for was not run, and is not asked for again; the turn
// has ended, and its answer is to nothing.
func TestCrashWhileAsking(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	c := startOffline(t, home)
	id := c.startThread(object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.beginTurn(id, "run: touch made")
	c.untilMethod("item/commandExecution/requestApproval")
	c.kill()

	c = startOffline(t, home)
	c.onAsk = func(m message) any {
		require.Fail(t, "asked", "%s", m.line)
		return nil
	}
	resumed := c.threadOf("thread/resume", object{"threadId": id})
	require.Equal(t, "interrupted", resumed.Turns[0].Status)
	c.write(`{"id":0,"result":{"decision":"accept"}}`)
	require.Equal(t, "completed", c.turn(id, "go on").Status)
	require.NoFileExists(t, filepath.Join(project, "made"))
	c.close()
}
