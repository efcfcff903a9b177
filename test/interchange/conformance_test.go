//go:build reference

package interchange

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/schema/conform"
	"appserver/test/apptest"
)

// Run with REFERENCE_SCHEMA naming a folder with the stable schema files that the reference
// implementation generated:
//
// REFERENCE_SCHEMA=DIR go test -tags reference -run TestReference ./test/interchange

func referenceSchemas(t *testing.T) *conform.Schemas {
	t.Helper()
	s, err := apptest.LoadReference()
	require.NoError(t, err)
	require.NotNil(t, s, "set REFERENCE_SCHEMA to the folder of the reference's schema files")
	return s
}

// conforms validates the server's messages and returns their number.
func conforms(t *testing.T, reference *conform.Schemas, lines []conform.Line) int {
	t.Helper()
	report := conform.ValidateTranscript(reference, lines)
	require.Positive(t, report.Checked)
	apptest.RequireConform(t, report)
	return report.Checked
}

// TestReferenceSchemaAcceptsDocuments validates the messages in documents that show them completely.
func TestReferenceSchemaAcceptsDocuments(t *testing.T) {
	reference := referenceSchemas(t)
	paths, err := filepath.Glob(apptest.Root("docs/transcripts/*"))
	require.NoError(t, err)
	checked := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := conform.ParseTranscript(string(text))
		if len(lines) == 0 { // its messages are shortened
			continue
		}
		checked++
		t.Run(filepath.Base(path), func(t *testing.T) { conforms(t, reference, lines) })
	}
	require.Positive(t, checked)
}

// TestReferenceSchemaAcceptsSession validates a session with every method and notification.
func TestReferenceSchemaAcceptsSession(t *testing.T) {
	home := t.TempDir()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	apptest.WriteConfig(t, home,
		"model_provider = \"offline\"\nunknown_key = 1\nfeatures.collab = true\n[model_providers.offline]\nscript = \"script.json\"\n"+fmt.Sprintf("[mcp_servers.docs]\ncommand = %q\nrequired = true\n[mcp_servers.broken]\ncommand = %q\nargs = [\"-fail\"]\n", program, program))
	apptest.WriteSkill(t, filepath.Join(home, "more", "greet"), "---\ndescription: How to greet\n---\nSay hello.\n")
	// The id of the background command is the number of its line: 10, or 11 after the line of the checkpoint.
	require.NoError(t, os.WriteFile(filepath.Join(home, "script.json"), []byte(`{"steps":[
		{"match":"use the server","toolCalls":[{"name":"mcp__docs__progress"},{"name":"mcp__docs__ask"},{"name":"mcp__docs__write"},{"name":"mcp__docs__mixed"},{"name":"mcp__docs__structured"},{"name":"mcp__docs__fail"},{"name":"mcp__docs__refuse"}]},
		{"match":"ticket","toolCalls":[{"name":"ticket","arguments":{"id":"7"}}]},
		{"match":"choose","toolCalls":[{"name":"request_user_input","arguments":{"questions":[{"id":"q","header":"h","question":"Which?","options":[{"label":"A","description":"a"}]}]}}]},
		{"match":"plan","toolCalls":[{"name":"update_plan","arguments":{"plan":[{"step":"one","status":"in_progress"}]}},{"name":"no_tool"}]},
		{"match":"background","toolCalls":[{"name":"exec_command","arguments":{"cmd":"sleep 600","tty":true,"yield_time_ms":250}}]},
		{"match":"background","toolCalls":[{"name":"write_stdin","arguments":{"session_id":10,"chars":"x"}},{"name":"write_stdin","arguments":{"session_id":11,"chars":"x"}}]},
		{"match":"background","toolCalls":[{"name":"view_image","arguments":{"path":"a.png"}}]},
		{"match":"repeat","toolCalls":[{"name":"shell","arguments":{"command":"seq 1 400"}}]},
		{"match":"repeat","toolCalls":[{"name":"shell","arguments":{"command":"seq 1 400"}}]},
		{"match":"repeat","text":"Done."},
		{"match":"propose","text":"<proposed_plan>\nOne step.\n</proposed_plan>\n"},
		{"match":"fail","error":{"status":401,"message":"no"}},
		{"match":"fail","error":{"status":429,"message":"slow down","retryAfterMs":1}}]}`), 0o600))
	var lines []conform.Line
	recordLine := func(direction, line string) {
		lines = append(lines, conform.Line{Number: len(lines) + 1, FromServer: direction == "<-", Message: []byte(line)})
	}
	dialRecorded := func() *apptest.Client {
		c := apptest.StartServer(t, home)
		c.OnLine = recordLine
		c.Initialize()
		return c
	}
	c := dialRecorded()
	c.OnRequest = func(apptest.Message) any { return apptest.Object{"decision": "accept"} }
	project := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "a.png"), []byte(apptest.TinyGIF), 0o600))
	id := c.StartThread(apptest.Object{"cwd": project})
	c.Turn(id, "background")
	c.Call("thread/backgroundTerminals/list", apptest.Object{"threadId": id})
	c.Call("thread/backgroundTerminals/clean", apptest.Object{"threadId": id})
	c.UntilCommand()
	c.Turn(id, "think, then run: ls -l; cat /etc/hostname; grep -r x .; touch file; echo done")
	for _, text := range []string{"run: exit 3", "plan", "fail", "fail"} {
		c.Turn(id, text)
	}
	c.Turn(id, apptest.ShellBlock(apptest.PatchCommand))
	c.OnRequest = func(apptest.Message) any { return apptest.Object{"decision": "decline"} }
	c.Turn(id, apptest.ShellBlock(apptest.PatchCommand))
	c.Turn(id, "run: touch other")
	// If declined, the turn would end.
	c.OnRequest = func(apptest.Message) any { return apptest.Object{"decision": "accept"} }
	for _, end := range []string{"turn/interrupt", "turn/steer"} {
		turn := c.BeginTurn(id, "run: echo begun; sleep 600")
		c.UntilOutput("begun\n") // an earlier steer would replace the command
		c.Call("turn/steer", apptest.Object{"threadId": id, "expectedTurnId": turn, "input": apptest.TextInput("wait")})
		c.CallRejected(end, apptest.Object{"threadId": id, "turnId": apptest.UnknownThreadID,
			"expectedTurnId": apptest.UnknownThreadID,
			"input":          []apptest.Object{}})
		c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
		c.AwaitTurn()
	}
	useServer(c, id)
	logIn(t, c)
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "echo mine; exit 3"})
	c.AwaitTurn()
	c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "Named"})
	c.Call("thread/list", apptest.Object{})
	c.Call("thread/loaded/list", apptest.Object{})
	c.Call("thread/turns/list", apptest.Object{"threadId": id, "limit": 2})
	c.Call("thread/items/list", apptest.Object{"threadId": id, "limit": 2})
	readLists(c, home)
	actOnTheMachine(c, project)
	askTheClient(c)
	c.Call("config/read", apptest.Object{"includeLayers": true})
	c.Call("config/value/write", apptest.Object{"keyPath": "tui.theme", "value": "dark", "mergeStrategy": "replace"})
	c.Call("config/batchWrite",
		apptest.Object{"edits": []apptest.Object{{"keyPath": "tui.theme", "value": nil, "mergeStrategy": "upsert"}}})
	c.Call("modelProvider/config/write", apptest.Object{"settings": apptest.Object{"type": "customGateway",
		"name": "Gateway", "baseUrl": "https://gateway.example/v1", "envKey": "GATEWAY_KEY"}})
	proposing := c.StartThread(apptest.Object{"ephemeral": true})
	c.Call("turn/start", apptest.Object{"threadId": proposing, "input": apptest.TextInput("propose"),
		"collaborationMode": apptest.Object{"mode": "plan", "settings": apptest.Object{"model": "offline"}}})
	c.AwaitTurn()
	saving := c.StartThread(apptest.Object{"ephemeral": true, "sandbox": "danger-full-access", "approvalPolicy": "never",
		"config": apptest.Object{"context.economy.mode": "suggest", "context.economy.keep_last_outputs": 1}})
	c.BeginTurn(saving, "repeat")
	c.UntilMethod("ContextSuggestions")
	c.Call("thread/unsubscribe", apptest.Object{"threadId": id})
	c.CallRejected("thread/read", apptest.Object{"threadId": apptest.UnknownThreadID})
	c.CallRejected("no/such", apptest.Object{})
	c.Close()
	if !apptest.UsesDatabase() {
		damageLine(t, home)
	}

	c = dialRecorded()
	c.ReadThread(id)
	c.CallThread("thread/resume", apptest.Object{"threadId": id})
	c.Call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
	c.Turn(id, "hello")
	forkAndRevert(c, id)
	cutAndArchive(c, id)
	c.Close()
	signIn(t, recordLine)
	conforms(t, referenceSchemas(t), lines)
	require.Empty(t, neverWritten(lines), "the session lacks methods")
}

// signIn signs in at the vendor of models in each way, and out.
func signIn(t *testing.T, record func(direction, line string)) {
	s := apptest.StartIssuer(t)
	s.Limits = map[string]string{"X-Codex-Primary-Used-Percent": "12.5"}
	c := apptest.StartProcess(t, s.Env(apptest.ServerCommand(t, s.Home(t))))
	c.OnLine = record
	c.Initialize()
	waiting := gjson.ParseBytes(c.Call("account/login/start", apptest.Object{"type": "chatgpt"}))
	c.Call("account/login/cancel", apptest.Object{"loginId": waiting.Get("loginId").Str})
	c.Call("account/login/start", apptest.Object{"type": "chatgptDeviceCode"})
	c.UntilMethod("account/updated")
	c.Call("account/read", apptest.Object{"refreshToken": true})
	c.Call("account/rateLimits/read", nil)
	c.Turn(c.StartThread(apptest.Object{"ephemeral": true}), "hello")
	c.Call("account/logout", nil)
	c.Call("account/login/start", apptest.Object{"type": "apiKey", "apiKey": "sk-x"})
	c.Call("account/read", apptest.Object{})
	_, first, _ := s.Issue()
	c.Call("account/login/start", apptest.Object{"type": "chatgptAuthTokens", "accessToken": first, "chatgptAccountId": "acct-1"})
	s.Expire()
	_, second, _ := s.Issue()
	c.OnRequest = func(apptest.Message) any {
		return apptest.Object{"accessToken": second, "chatgptAccountId": "acct-1"}
	}
	c.Turn(c.StartThread(apptest.Object{"ephemeral": true}), "hello")
	c.Close()
}

// logIn logs in at an MCP server.
func logIn(t *testing.T, c *apptest.Client) {
	t.Helper()
	s := apptest.StartLoginService(t)
	id := c.StartThread(apptest.Object{"ephemeral": true, "config": apptest.Object{
		"mcp_servers.private.url": s.Address(), "mcp_oauth_credentials_store": "file"}})
	begun := c.Call("mcpServer/oauth/login", apptest.Object{"name": "private", "threadId": id})
	page, err := http.Get(gjson.GetBytes(begun, "authorizationUrl").Str)
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	c.UntilMethod("mcpServer/oauthLogin/completed")
	c.Call("thread/unsubscribe", apptest.Object{"threadId": id})
}

// useServer calls an MCP server by the model and by the client, and answers its request.
func useServer(c *apptest.Client, id string) {
	c.OnRequest = func(apptest.Message) any {
		return apptest.Object{"action": "accept", "content": apptest.Object{"name": "Ada"}, "_meta": nil}
	}
	c.Turn(id, "use the server")
	c.Call("mcpServerStatus/list", apptest.Object{})
	c.Call("mcpServerStatus/list", apptest.Object{"threadId": id, "detail": "toolsAndAuthOnly", "serverName": "docs"})
	c.Call("mcpServer/tool/call", apptest.Object{"threadId": id, "server": "docs", "tool": "mixed"})
	c.Call("mcpServer/tool/call",
		apptest.Object{"threadId": id, "server": "docs", "tool": "structured", "arguments": apptest.Object{}})
	c.CallRejected("mcpServer/tool/call", apptest.Object{"threadId": id, "server": "docs", "tool": "refuse"})
	c.Call("mcpServer/resource/read", apptest.Object{"server": "docs", "uri": "mem://a"})
	c.Call("config/mcpServer/reload", nil)
}

// askTheClient calls a client tool, and asks the user.
func askTheClient(c *apptest.Client) {
	c.OnRequest = func(m apptest.Message) any {
		if m.Method == "item/tool/call" {
			return apptest.Object{"contentItems": []apptest.Object{{"type": "inputText", "text": "It is open."},
				{"type": "inputImage", "imageUrl": "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAUQAOw=="}}, "success": true}
		}
		return apptest.Object{"answers": apptest.Object{"q": apptest.Object{"answers": []string{"A"}}}}
	}
	id := c.StartThread(apptest.Object{"ephemeral": true,
		"dynamicTools": []apptest.Object{{"type": "function", "name": "ticket", "description": "Fetches a ticket",
			"inputSchema": apptest.Object{"type": "object"}}}})
	c.Turn(id, "ticket")
	c.Call("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("choose"),
		"collaborationMode": apptest.Object{"mode": "plan",
			"settings": apptest.Object{"model": "offline", "reasoning_effort": nil, "developer_instructions": nil}}})
	c.AwaitTurn()
}

// readLists requests all lists for clients.
func readLists(c *apptest.Client, home string) {
	for _, method := range []string{
		"model/list", "modelProvider/list", "modelProvider/capabilities/read", "account/read", "getAuthStatus",
		"experimentalFeature/list",
		"collaborationMode/list", "permissionProfile/list", "configRequirements/read", "hooks/list",
	} {
		c.Call(method, apptest.Object{})
	}
	c.Call("skills/extraRoots/set", apptest.Object{"extraRoots": []string{filepath.Join(home, "more")}})
	c.Call("skills/list", apptest.Object{"cwds": []string{home}})
}

// actOnTheMachine uses files and commands without a thread.
func actOnTheMachine(c *apptest.Client, dir string) {
	at := func(name string) string { return filepath.Join(dir, name) }
	c.Call("fs/createDirectory", apptest.Object{"path": at("machine"), "recursive": true})
	c.Call("fs/watch", apptest.Object{"watchId": "w", "path": at("machine")})
	c.Call("fs/writeFile", apptest.Object{"path": at("machine/file"), "dataBase64": "aGk="})
	c.AwaitNotification("fs/changed")
	c.Call("fs/unwatch", apptest.Object{"watchId": "w"})
	c.Call("fs/readFile", apptest.Object{"path": at("machine/file")})
	c.CallRejected("fs/readFile", apptest.Object{"path": at("none")})
	c.Call("fs/getMetadata", apptest.Object{"path": at("machine")})
	c.Call("fs/readDirectory", apptest.Object{"path": at("machine")})
	c.Call("fs/copy", apptest.Object{"sourcePath": at("machine"), "destinationPath": at("copied"), "recursive": true})
	c.Call("fs/remove", apptest.Object{"path": at("copied"), "recursive": true, "force": false})
	c.Call("fuzzyFileSearch", apptest.Object{"query": "file", "roots": []string{dir}, "cancellationToken": "t"})
	c.Call("fuzzyFileSearch/sessionStart", apptest.Object{"sessionId": "s", "roots": []string{dir}})
	c.Call("fuzzyFileSearch/sessionUpdate", apptest.Object{"sessionId": "s", "query": "file"})
	c.AwaitNotification("fuzzyFileSearch/sessionCompleted")
	c.Call("fuzzyFileSearch/sessionStop", apptest.Object{"sessionId": "s"})
	full := apptest.Object{"type": "dangerFullAccess"}
	c.Call("command/exec",
		apptest.Object{"command": []string{"echo", "hi"}, "sandboxPolicy": full, "env": apptest.Object{"A": "1", "B": nil},
			"outputBytesCap": 10, "timeoutMs": 20_000})
	shell := c.SendRequest("command/exec",
		apptest.Object{"command": []string{"cat"}, "processId": "p", "tty": true,
			"size": apptest.Object{"rows": 5, "cols": 50}, "sandboxPolicy": full})
	c.Call("command/exec/resize", apptest.Object{"processId": "p", "size": apptest.Object{"rows": 6, "cols": 60}})
	c.Call("command/exec/write", apptest.Object{"processId": "p", "deltaBase64": "aGkK"})
	c.AwaitNotification("command/exec/outputDelta")
	c.Call("command/exec/terminate", apptest.Object{"processId": "p"})
	c.UntilResponse(shell)
}

// forkAndRevert forks a thread and reverts turns.
func forkAndRevert(c *apptest.Client, id string) {
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": id}).ID
	turn := c.BeginTurn(fork, "another way")
	c.AwaitTurn()
	c.Call("thread/revert", apptest.Object{"threadId": fork, "beforeTurnId": turn})
	c.Call("thread/metadata/update", apptest.Object{"threadId": fork, "gitInfo": apptest.Object{"branch": "other"}})
	c.Call("thread/inject_items",
		apptest.Object{"threadId": fork, "items": []apptest.Object{{"type": "message", "role": "user",
			"content": []apptest.Object{{"type": "input_text", "text": "By the way."}}}}})
	c.Call("thread/delete", apptest.Object{"threadId": fork})
}

// cutAndArchive trims and compacts a context in every way, and archives the thread.
func cutAndArchive(c *apptest.Client, id string) {
	c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 2})
	c.Call("thread/context/summarize", apptest.Object{"threadId": id, "summary": "Much was tried."})
	c.Call("context/undo", apptest.Object{"threadId": id})
	c.Call("context/undo", apptest.Object{"threadId": id})
	c.Call("review/start", apptest.Object{"threadId": id, "target": apptest.Object{"type": "uncommittedChanges"}})
	c.AwaitTurn()
	drafted := c.StartThread(apptest.Object{}) // without a word that the script knows
	c.Turn(drafted, "hello")
	c.Call("thread/compact/propose", apptest.Object{"threadId": drafted, "range": "all", "strategy": "summary"})
	c.Call("thread/compact/cancel", apptest.Object{"threadId": drafted})
	c.Call("thread/compact/start", apptest.Object{"threadId": id})
	c.AwaitTurn()
	c.Call("thread/archive", apptest.Object{"threadId": id})
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Call("thread/archiveAndNew", apptest.Object{"threadId": id})
	c.UntilMethod("thread/archivedAndNewCreated")
}

// neverWritten returns the methods that are in no line, except those that no session causes.
// thread/closed needs a thread whose rollout can neither be written nor read again, Chat
// Completions have no summaries of reasoning, only the indexing of very many rollouts reports
// progress, and only llama-server that of a prompt.
func neverWritten(lines []conform.Line) (methods []string) {
	seen := map[string]bool{"thread/closed": true, "item/reasoning/summaryTextDelta": true,
		"item/reasoning/summaryPartAdded": true,
		"thread/index/progress":           true,
		"turn/promptProgress":             true,
		"memory/updated":                  true, "memory/index/progress": true}
	for _, line := range lines {
		var m apptest.Message
		if json.Unmarshal(line.Message, &m) == nil {
			seen[m.Method] = true
		}
	}
	for _, m := range protocol.Methods() {
		if !m.Own { // the reference has no schema for them
			methods = append(methods, m.Name)
		}
	}
	for _, n := range protocol.Notifications() {
		methods = append(methods, n.Method)
	}
	for _, r := range protocol.ServerRequests() {
		methods = append(methods, r.Name)
	}
	return slices.DeleteFunc(methods, func(method string) bool { return seen[method] })
}

// damageLine destroys the second line of the only rollout.
func damageLine(t *testing.T, home string) {
	paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	text, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	for i, b := range text {
		if b == '\n' {
			text[i+1] = 'x'
			break
		}
	}
	require.NoError(t, os.WriteFile(paths[0], text, 0o600))
}
