package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// rulesHome returns a home whose rules forbid touch, and have the user decide on mkdir.
func rulesHome(t *testing.T) string {
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "rules", "default.rules"), `# the rules of the user
tools = ["touch", "truncate"]
prefix_rule(pattern = [tools, "forbidden"], decision = "forbidden", justification = "Use the editor.",
            match = ["touch forbidden"])
prefix_rule(pattern=["mkdir"], decision="prompt")
prefix_rule(pattern=["cp"])
`)
	return home
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// runsOf runs a command of the model, and returns the status of its item and the questions that were asked.
func runsOf(c *apptest.Client, thread, script string) (status string, asked int) {
	c.OnRequest = func(apptest.Message) any {
		asked++
		return apptest.Object{"decision": "decline"}
	}
	c.BeginTurn(thread, "run: "+script)
	status = c.UntilCommand().Status
	c.AwaitTurn()
	return status, asked
}

func configWarnings(c *apptest.Client) (texts []string) {
	for _, m := range c.Notifications("configWarning") {
		texts = append(texts, gjson.GetBytes(m.Params, "summary").Str)
	}
	return texts
}

// TestForbiddenRuleRefusesCommands runs commands that a rule forbids, in the forms in which a shell reads them, with
// full access and no approvals. None of them runs.
func TestForbiddenRuleRefusesCommands(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, rulesHome(t))
	dir := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	for _, script := range []string{
		"touch forbidden", "touch forbidden other", "/usr/bin/touch forbidden", `\touch 'forb'"idden"`, "X=1 touch forbidden",
		"true && touch forbidden", "(cd . ; touch forbidden)", "if true; then touch forbidden; fi", "echo $(touch forbidden)",
		"bash -lc 'touch forbidden'", "sh -c \"bash -c 'touch forbidden'\"", "env A=b touch forbidden", "f() { touch forbidden; }; f",
		"timeout 5 touch forbidden", "eval touch forbidden", "touch forbidden &", "truncate forbidden -s 0", "nohup touch forbidden",
		"find . -exec touch forbidden +", "exec touch forbidden",
		// These are uncertain: the user would decide, and the policy does not permit to ask.
		"T=touch; $T forbidden", "tou?h forbidden", "touch $'forbidden'", "echo forbidden | xargs touch", "echo 'touch forbidden' | sh",
		"touch f*", "$(echo touch) forbidden", "eval $X", "touch forbidden (", "touch {forbidden,x}",
	} {
		status, asked := runsOf(c, id, script)
		require.Equal(t, "declined", status, script)
		require.Zero(t, asked, script)
		require.NoFileExists(t, filepath.Join(dir, "forbidden"), script)
	}
	for _, script := range []string{"touch allowed", "echo touch forbidden", "for i in a b; do touch made-$i; done", "[ -f x ] || true"} {
		status, asked := runsOf(c, id, script)
		require.Equal(t, "completed", status, script)
		require.Zero(t, asked, script)
	}
	require.FileExists(t, filepath.Join(dir, "made-a"))
}

// TestForbiddenRuleStatesItsReason checks the text that the model gets, for both tools that run commands.
func TestForbiddenRuleStatesItsReason(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t,
		apptest.ShellAnswerWith("a", apptest.Object{"command": "touch forbidden"}), apptest.TextAnswer("Refused."),
		callAnswer("b", "exec_command", apptest.Object{"cmd": "touch forbidden"}), apptest.TextAnswer("Refused."),
		callAnswer("c", "exec_command", apptest.Object{"cmd": "forbidden", "shell": "/usr/bin/touch"}), apptest.TextAnswer("Refused."))
	home := p.Home(t)
	require.NoError(t, os.CopyFS(filepath.Join(home, "rules"), os.DirFS(filepath.Join(rulesHome(t), "rules"))))
	c := apptest.StartServer(t, home)
	c.Initialize()
	dir := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	for range 3 {
		c.Turn(id, "go")
	}
	require.NoFileExists(t, filepath.Join(dir, "forbidden"))
	c.Close()
	for _, i := range []int{1, 3} {
		body := p.Requests()[i].Body
		require.Contains(t, body, "default.rules:3 forbids `touch|truncate forbidden`. Use the editor.")
	}
}

// TestPromptRuleAsks asks for a command that the policies alone would run. If the policy does not permit to ask, the
// command is refused.
func TestPromptRuleAsks(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, rulesHome(t), "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c",
		"sandbox_workspace_write.exclude_tmpdir_env_var=true")
	dir := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "workspace-write", "approvalPolicy": "on-request"})
	status, asked := runsOf(c, id, "mkdir made")
	require.Equal(t, "declined", status)
	require.Equal(t, 1, asked)
	require.NoDirExists(t, filepath.Join(dir, "made"))

	c.OnRequest = func(m apptest.Message) any {
		require.Contains(t, gjson.GetBytes(m.Params, "reason").Str, "default.rules:5 asks before `mkdir`")
		return apptest.Object{"decision": "accept"}
	}
	c.BeginTurn(id, "run: mkdir made; mkdir "+t.TempDir()+"/outside")
	require.Equal(t, "failed", c.UntilCommand().Status, "an answer about a rule ran the command outside of the sandbox")
	c.AwaitTurn()
	require.DirExists(t, filepath.Join(dir, "made"))

	granular := apptest.Object{"sandbox_approval": true, "rules": false, "mcp_elicitations": true}
	for _, policy := range []any{"never", apptest.Object{"granular": granular}} {
		id = c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": policy})
		status, asked = runsOf(c, id, "mkdir never")
		require.Equal(t, "declined", status)
		require.Zero(t, asked)
	}
}

// TestRulesAndHooksAreNamedAtEachStart checks the warnings about files that do not protect, or in part.
func TestRulesAndHooksAreNamedAtEachStart(t *testing.T) {
	t.Parallel()
	home := rulesHome(t)
	hook := `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"false"}]}]}}`
	writeFile(t, filepath.Join(home, "rules", "broken.rules"), "prefix_rule(pattern=[\"a\"],\n  decision=\n")
	writeFile(t, filepath.Join(home, "rules", "computed.rules"),
		"\nprefix_rule(pattern=[x for x in [\"a\"]], decision=\"forbidden\")\nnetwork_rule(host=\"a\", protocol=\"https\", decision=\"deny\")\n")
	writeFile(t, filepath.Join(home, "hooks.json"), hook)
	writeFile(t, filepath.Join(home, "plugins/cache/market/plugin/1.0/hooks/hooks.json"), hook)
	writeFile(t, filepath.Join(home, "config.toml"), "[[hooks.PreToolUse]]\nmatcher = \"x\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"false\"\n")
	project := t.TempDir()
	writeFile(t, filepath.Join(project, ".codex/rules/team.rules"), "prefix_rule(pattern=[\"make\"], decision=\"forbidden\")\n")
	writeFile(t, filepath.Join(project, ".codex/hooks.json"), hook)
	c := apptest.StartOffline(t, home)
	c.Call("config/read", apptest.Object{})
	for _, text := range []string{
		"default.rules: rules for commands protect in part here: 2 with",
		"broken.rules:3 does not protect: the syntax is not valid",
		"computed.rules:2 does not protect: a prefix_rule is not read",
		"computed.rules:3 does not protect: network_rule has no effect",
		filepath.Join(home, "hooks.json") + ": this server does not run hooks",
		"plugin/1.0/hooks/hooks.json: this server does not run hooks",
		"config.toml:1: hooks: this server does not run hooks",
	} {
		requireOneContains(t, configWarnings(c), text)
	}
	id := c.StartThread(apptest.Object{"cwd": project, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	requireOneContains(t, configWarnings(c), "team.rules: rules for commands protect in part here: 1 with")
	requireOneContains(t, configWarnings(c), filepath.Join(project, ".codex/hooks.json")+": this server does not run hooks")
	status, _ := runsOf(c, id, "make")
	require.Equal(t, "declined", status, "a rule of a trusted project is not obeyed")
	c.Close()
	for _, method := range []string{"thread/resume", "thread/fork"} {
		c = apptest.StartOffline(t, home)
		c.Call(method, apptest.Object{"threadId": id})
		c.Call("config/read", apptest.Object{})
		requireOneContains(t, configWarnings(c), filepath.Join(project, ".codex/hooks.json")+": this server does not run hooks")
		c.Close()
	}
}

// requireOneContains requires that exactly one of the texts contains a text.
func requireOneContains(t *testing.T, texts []string, want string) {
	t.Helper()
	found := 0
	for _, text := range texts {
		if strings.Contains(text, want) {
			found++
		}
	}
	require.Equal(t, 1, found, "%s in %q", want, texts)
}
