//go:build reference

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/schema/conform"
)

// Run with REFERENCE_SCHEMA naming a folder that the reference implementation wrote
// its stable schema files to:
//
//	REFERENCE_SCHEMA=DIR go test -tags reference -run TestReference ./cmd/appserver

func referenceSchemas(t *testing.T) *conform.Schemas {
	t.Helper()
	s, err := loadReference()
	require.NoError(t, err)
	require.NotNil(t, s, "set REFERENCE_SCHEMA to the folder of the reference's schema files")
	return s
}

// conforms checks what the server wrote, and tells how many messages.
func conforms(t *testing.T, reference *conform.Schemas, lines []conform.Line) int {
	t.Helper()
	report := conform.ValidateTranscript(reference, lines)
	require.Positive(t, report.Checked)
	mustConform(t, report)
	return report.Checked
}

func TestReferenceTakesTranscripts(t *testing.T) {
	reference := referenceSchemas(t)
	paths, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			conforms(t, reference, conform.ParseTranscript(string(archive.Files[len(archive.Files)-1].Data)))
		})
	}
}

// TestReferenceTakesDocuments looks at the documents that have whole messages.
func TestReferenceTakesDocuments(t *testing.T) {
	reference := referenceSchemas(t)
	paths, err := filepath.Glob("../../docs/transcripts/*")
	require.NoError(t, err)
	seen := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := conform.ParseTranscript(string(text))
		if len(lines) == 0 { // its messages are cut
			continue
		}
		seen++
		t.Run(filepath.Base(path), func(t *testing.T) { conforms(t, reference, lines) })
	}
	require.Positive(t, seen)
}

// TestReferenceTakesSessions records a session with the real binary that has every
// method and the messages that come of it.
func TestReferenceTakesSessions(t *testing.T) {
	home := t.TempDir()
	program, err := mcpProgram()
	require.NoError(t, err)
	writeConfig(t, home, "model_provider = \"offline\"\nunknown_key = 1\nfeatures.collab = true\n[model_providers.offline]\nscript = \"script.json\"\n"+fmt.Sprintf("[mcp_servers.docs]\ncommand = %q\n[mcp_servers.broken]\ncommand = %q\nargs = [\"-fail\"]\n", program, program))
	writeSkill(t, filepath.Join(home, "more", "greet"), "---\ndescription: How to greet\n---\nSay hello.\n")
	require.NoError(t, os.WriteFile(filepath.Join(home, "script.json"), []byte(`{"steps":[
		{"match":"use the server","toolCalls":[{"name":"mcp__docs__progress"},{"name":"mcp__docs__ask"},{"name":"mcp__docs__write"},{"name":"mcp__docs__mixed"},{"name":"mcp__docs__structured"},{"name":"mcp__docs__fail"},{"name":"mcp__docs__refuse"}]},
		{"match":"ticket","toolCalls":[{"name":"ticket","arguments":{"id":"7"}}]},
		{"match":"choose","toolCalls":[{"name":"request_user_input","arguments":{"questions":[{"id":"q","header":"h","question":"Which?","options":[{"label":"A","description":"a"}]}]}}]},
		{"match":"plan","toolCalls":[{"name":"update_plan","arguments":{"plan":[{"step":"one","status":"in_progress"}]}},{"name":"no_tool"}]},
		{"match":"background","toolCalls":[{"name":"exec_command","arguments":{"cmd":"sleep 600","tty":true,"yield_time_ms":250}}]},
		{"match":"background","toolCalls":[{"name":"write_stdin","arguments":{"session_id":10,"chars":"x"}}]},
		{"match":"background","toolCalls":[{"name":"view_image","arguments":{"path":"a.png"}}]},
		{"match":"propose","text":"<proposed_plan>\nOne step.\n</proposed_plan>\n"},
		{"match":"fail","error":{"status":401,"message":"no"}},
		{"match":"fail","error":{"status":429,"message":"slow down","retryAfterMs":1}}]}`), 0o600))
	var lines []conform.Line
	dialRecorded := func() *client {
		c := startServer(t, home)
		c.onLine = func(direction, line string) {
			lines = append(lines, conform.Line{Number: len(lines) + 1, FromServer: direction == "<-", Message: []byte(line)})
		}
		c.initialize()
		return c
	}
	c := dialRecorded()
	c.onAsk = func(message) any { return object{"decision": "accept"} }
	project := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "a.png"), []byte(aPNG), 0o600))
	id := c.startThread(object{"cwd": project})
	c.turn(id, "background")
	c.call("thread/backgroundTerminals/list", object{"threadId": id})
	c.call("thread/backgroundTerminals/clean", object{"threadId": id})
	c.untilCommand()
	c.turn(id, "think, then run: ls -l; cat /etc/hostname; grep -r x .; touch file; echo done")
	for _, text := range []string{"run: exit 3", "plan", "fail", "fail"} {
		c.turn(id, text)
	}
	c.turn(id, runs(aPatch))
	c.onAsk = func(message) any { return object{"decision": "decline"} }
	c.turn(id, runs(aPatch))
	c.turn(id, "run: touch other")
	c.onAsk = func(message) any { return object{"decision": "accept"} } // declined, the turn would end by itself
	for _, end := range []string{"turn/interrupt", "turn/steer"} {
		turn := c.beginTurn(id, "run: cat; sleep 600")
		c.call("turn/steer", object{"threadId": id, "expectedTurnId": turn, "input": textInput("wait")})
		c.refused(end, object{"threadId": id, "turnId": strangerID, "expectedTurnId": strangerID, "input": []object{}})
		c.call("turn/interrupt", object{"threadId": id, "turnId": turn})
		c.awaitTurn()
	}
	useServer(c, id)
	c.call("thread/shellCommand", object{"threadId": id, "command": "echo mine; exit 3"})
	c.awaitTurn()
	c.call("thread/name/set", object{"threadId": id, "name": "Named"})
	c.call("thread/list", object{})
	c.call("thread/loaded/list", object{})
	c.call("thread/turns/list", object{"threadId": id, "limit": 2})
	c.call("thread/items/list", object{"threadId": id, "limit": 2})
	readLists(c, home)
	actOnTheMachine(c, project)
	askTheClient(c)
	c.call("config/read", object{"includeLayers": true})
	c.call("config/value/write", object{"keyPath": "tui.theme", "value": "dark", "mergeStrategy": "replace"})
	c.call("config/batchWrite", object{"edits": []object{{"keyPath": "tui.theme", "value": nil, "mergeStrategy": "upsert"}}})
	proposing := c.startThread(object{"ephemeral": true})
	c.call("turn/start", object{"threadId": proposing, "input": textInput("propose"),
		"collaborationMode": object{"mode": "plan", "settings": object{"model": "offline"}}})
	c.awaitTurn()
	c.call("thread/unsubscribe", object{"threadId": id})
	c.refused("thread/read", object{"threadId": strangerID})
	c.refused("no/such", object{})
	c.close()
	damageLine(t, home)

	c = dialRecorded()
	c.readThread(id)
	c.threadOf("thread/resume", object{"threadId": id})
	c.call("thread/resume", object{"threadId": id, "excludeTurns": true})
	c.turn(id, "hello")
	forkAndRevert(c, id)
	cutAndArchive(c, id)
	c.close()
	conforms(t, referenceSchemas(t), lines)
	require.Empty(t, neverWritten(lines), "the session lacks methods")
}

// useServer has the model and the client call an MCP server, and the server ask.
func useServer(c *client, id string) {
	c.onAsk = func(message) any { return object{"action": "accept", "content": object{"name": "Ada"}, "_meta": nil} }
	c.turn(id, "use the server")
	c.call("mcpServerStatus/list", object{})
	c.call("mcpServerStatus/list", object{"threadId": id, "detail": "toolsAndAuthOnly", "serverName": "docs"})
	c.call("mcpServer/tool/call", object{"threadId": id, "server": "docs", "tool": "mixed"})
	c.call("mcpServer/tool/call", object{"threadId": id, "server": "docs", "tool": "structured", "arguments": object{}})
	c.refused("mcpServer/tool/call", object{"threadId": id, "server": "docs", "tool": "refuse"})
	c.call("mcpServer/resource/read", object{"server": "docs", "uri": "mem://a"})
	c.call("config/mcpServer/reload", nil)
}

// askTheClient has the model call a tool of the client's, and ask the user.
func askTheClient(c *client) {
	c.onAsk = func(m message) any {
		if m.Method == "item/tool/call" {
			return object{"contentItems": []object{{"type": "inputText", "text": "It is open."}, {"type": "inputImage", "imageUrl": "data:image/png;base64,AAAA"}}, "success": true}
		}
		return object{"answers": object{"q": object{"answers": []string{"A"}}}}
	}
	id := c.startThread(object{"ephemeral": true, "dynamicTools": []object{{"type": "function", "name": "ticket", "description": "Fetches a ticket", "inputSchema": object{"type": "object"}}}})
	c.turn(id, "ticket")
	c.call("turn/start", object{"threadId": id, "input": textInput("choose"),
		"collaborationMode": object{"mode": "plan", "settings": object{"model": "offline", "reasoning_effort": nil, "developer_instructions": nil}}})
	c.awaitTurn()
}

// readLists asks for all that clients choose from.
func readLists(c *client, home string) {
	for _, method := range []string{
		"model/list", "modelProvider/list", "modelProvider/capabilities/read", "account/read", "getAuthStatus", "experimentalFeature/list",
		"collaborationMode/list", "permissionProfile/list", "configRequirements/read", "hooks/list",
	} {
		c.call(method, object{})
	}
	c.call("skills/extraRoots/set", object{"extraRoots": []string{filepath.Join(home, "more")}})
	c.call("skills/list", object{"cwds": []string{home}})
}

// actOnTheMachine works with files and commands without a thread.
func actOnTheMachine(c *client, dir string) {
	at := func(name string) string { return filepath.Join(dir, name) }
	c.call("fs/createDirectory", object{"path": at("machine"), "recursive": true})
	c.call("fs/watch", object{"watchId": "w", "path": at("machine")})
	c.call("fs/writeFile", object{"path": at("machine/file"), "dataBase64": "aGk="})
	c.heard("fs/changed")
	c.call("fs/unwatch", object{"watchId": "w"})
	c.call("fs/readFile", object{"path": at("machine/file")})
	c.refused("fs/readFile", object{"path": at("none")})
	c.call("fs/getMetadata", object{"path": at("machine")})
	c.call("fs/readDirectory", object{"path": at("machine")})
	c.call("fs/copy", object{"sourcePath": at("machine"), "destinationPath": at("copied"), "recursive": true})
	c.call("fs/remove", object{"path": at("copied"), "recursive": true, "force": false})
	c.call("fuzzyFileSearch", object{"query": "file", "roots": []string{dir}, "cancellationToken": "t"})
	c.call("fuzzyFileSearch/sessionStart", object{"sessionId": "s", "roots": []string{dir}})
	c.call("fuzzyFileSearch/sessionUpdate", object{"sessionId": "s", "query": "file"})
	c.heard("fuzzyFileSearch/sessionCompleted")
	c.call("fuzzyFileSearch/sessionStop", object{"sessionId": "s"})
	full := object{"type": "dangerFullAccess"}
	c.call("command/exec", object{"command": []string{"echo", "hi"}, "sandboxPolicy": full, "env": object{"A": "1", "B": nil}, "outputBytesCap": 10, "timeoutMs": 20_000})
	shell := c.ask("command/exec", object{"command": []string{"cat"}, "processId": "p", "tty": true, "size": object{"rows": 5, "cols": 50}, "sandboxPolicy": full})
	c.call("command/exec/resize", object{"processId": "p", "size": object{"rows": 6, "cols": 60}})
	c.call("command/exec/write", object{"processId": "p", "deltaBase64": "aGkK"})
	c.heard("command/exec/outputDelta")
	c.call("command/exec/terminate", object{"processId": "p"})
	c.untilAnswer(shell)
}

// forkAndRevert has a thread go two ways, one of them back.
func forkAndRevert(c *client, id string) {
	fork := c.threadOf("thread/fork", object{"threadId": id}).ID
	turn := c.beginTurn(fork, "another way")
	c.awaitTurn()
	c.call("thread/revert", object{"threadId": fork, "beforeTurnId": turn})
	c.call("thread/metadata/update", object{"threadId": fork, "gitInfo": object{"branch": "other"}})
	c.call("thread/inject_items", object{"threadId": fork, "items": []object{{"type": "message", "role": "user",
		"content": []object{{"type": "input_text", "text": "By the way."}}}}})
	c.call("thread/delete", object{"threadId": fork})
}

// cutAndArchive takes turns out of a thread's context in every way, and puts it away.
func cutAndArchive(c *client, id string) {
	c.call("thread/context/trim", object{"threadId": id, "keepLastNTurns": 2})
	c.call("thread/context/summarize", object{"threadId": id, "summary": "Much was tried."})
	c.call("context/undo", object{"threadId": id})
	c.call("context/undo", object{"threadId": id})
	c.call("review/start", object{"threadId": id, "target": object{"type": "uncommittedChanges"}})
	c.awaitTurn()
	c.call("thread/compact/start", object{"threadId": id})
	c.awaitTurn()
	c.call("thread/archive", object{"threadId": id})
	c.call("thread/unarchive", object{"threadId": id})
	c.call("thread/resume", object{"threadId": id})
	c.call("thread/archiveAndNew", object{"threadId": id})
	c.untilMethod("thread/archivedAndNewCreated")
}

// neverWritten are the methods of the tables that no line has, but for those that no
// session brings about: thread/closed is said of a thread whose rollout could neither
// be written nor be read again, Chat Completions know no summaries of reasoning, and only
// the reading of very many rollouts tells its progress.
func neverWritten(lines []conform.Line) (methods []string) {
	seen := map[string]bool{"thread/closed": true, "item/reasoning/summaryTextDelta": true, "item/reasoning/summaryPartAdded": true,
		"thread/index/progress": true,
		"memory/updated":        true, "memory/index/progress": true}
	for _, line := range lines {
		var m message
		if json.Unmarshal(line.Message, &m) == nil {
			seen[m.Method] = true
		}
	}
	for _, m := range protocol.Methods() {
		if !m.Own { // the reference says nothing of these
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

// damageLine makes the second line of the only rollout unreadable.
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
