package workbench

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// found waits until an item of the context has a text, and removes the search.
func (w *workbench) found(text string) {
	w.t.Helper()
	w.fill(findField, text)
	w.see(".context-item mark")
	w.fill(findField, " ")
	w.press(kb.Backspace)
	w.gone(".context-item mark")
}

// TestControlsOfQuestionsOfTheModel chooses an answer, and writes one in words of the user.
func TestControlsOfQuestionsOfTheModel(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	questions := object{"questions": []object{
		{"id": "db", "header": "Store", "question": "Which store?", "options": []object{{"label": "Postgres", "description": "a server"}, {"label": "SQLite", "description": "a file"}}},
		{"id": "name", "header": "Name", "question": "Which name?", "options": []object{{"label": "Left", "description": "l"}, {"label": "Right", "description": "r"}}}}}
	home := t.TempDir()
	w := serve(t, home, "-c", "features.default_mode_request_user_input=true", "-c", "model_providers.offline.script="+
		writeScript(t, home, object{"steps": []object{toolStep("ask", "request_user_input", questions), {"match": "ask", "text": "Thanks."}}})).open(t)
	w.start(t.TempDir())
	w.send("ask")
	w.clickIn(".question .option", "SQLite")
	w.fill(".question fieldset:nth-of-type(2) input:not([type=radio])", "Ada")
	w.clickIn(".question button", "Answer")
	w.ended("Thanks.")
	w.gone(".question")
	w.found("SQLite")
	w.found("Ada")
	w.requireNoProblems()
}

// TestControlsOfQuestionsOfServers accepts, declines and cancels a question of an MCP server.
func TestControlsOfQuestionsOfServers(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	program, err := apptest.MCPProgram()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	ask := func(match string) object { return toolStep(match, "mcp__docs__ask", object{}) }
	w := serve(t, home, "-c", "mcp_servers.docs.command="+program, "-c", "mcp_servers.docs.required=true",
		"-c", "model_providers.offline.script="+writeScript(t, home, object{"steps": []object{
			ask("one"), {"match": "one", "text": "End of one."}, ask("two"), {"match": "two", "text": "End of two."},
			ask("three"), {"match": "three", "text": "End of three."}}})).open(t)
	w.start(t.TempDir())
	w.send("one")
	w.fill(".question .field input", "Ada")
	w.clickIn(".question button", "Accept")
	w.ended("End of one.")
	w.found("accept Ada")
	w.send("two")
	w.clickIn(".question button", "Decline")
	w.ended("End of two.")
	w.found("decline")
	w.send("three")
	w.clickIn(".question button", "Cancel")
	w.ended("End of three.")
	w.found("cancel")
	w.requireNoProblems()
}

// TestCallOfAClientIsFailed fails the call of a tool of another client.
func TestCallOfAClientIsFailed(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	needChromium(t)
	home := t.TempDir()
	c := apptest.StartOffline(t, home, "--web", "127.0.0.1:0", "-c", "model_providers.offline.script="+
		writeScript(t, home, object{"steps": []object{toolStep("look", "ticket", object{}), {"match": "look", "text": "It failed."}}}))
	tool := object{"type": "function", "name": "ticket", "description": "Reads a ticket.",
		"inputSchema": object{"type": "object", "properties": object{}}}
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "dynamicTools": []object{tool}})
	c.BeginTurn(thread, "look it up")
	w := (&server{home: home}).openTab(t)
	w.clickText("look it up")
	w.seeText(".question", "This page has no tools.")
	w.clickIn(".question button", "Fail the call")
	w.ended("It failed.")
	w.gone(".question")
	w.requireNoProblems()
}

// TestInboxIsRead marks two finished turns of other threads as read.
func TestInboxIsRead(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	slow := []string{"a", "b", "c"}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, object{"steps": []object{
		{"match": "one", "deltas": slow, "gapMs": 1500}, {"match": "two", "deltas": slow, "gapMs": 1000}}})).open(t)
	for _, name := range []string{"one", "two"} {
		w.start(t.TempDir())
		w.send(name)
		w.see(".composer .stop")
	}
	w.start(t.TempDir())
	w.menu("2 finished turns", "Mark all as read")
	w.gone(".attention")
	w.requireNoProblems()
}
