//go:build reference

package interchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// someTools returns client tools, one of them in a namespace.
func someTools() []apptest.Object {
	return []apptest.Object{
		{"type": "function", "name": "ticket", "description": "Fetches a ticket",
			"inputSchema": apptest.Object{"type": "object",
				"properties": apptest.Object{"id": apptest.Object{"type": "string"}}}},
		{"type": "namespace", "name": "tix", "description": "Tickets", "tools": []apptest.Object{
			{"type": "function", "name": "close", "description": "Closes one",
				"inputSchema": apptest.Object{"type": "object", "properties": apptest.Object{}}},
		}},
	}
}

func textAnswer(text string, success bool) apptest.Object {
	return apptest.Object{"contentItems": []apptest.Object{{"type": "inputText", "text": text}}, "success": success}
}

// TestReferenceInterchangeClientTools runs client tools with one server. The other one shows the
// calls, offers the tools and makes the same requests to its client.
func TestReferenceInterchangeClientTools(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for name, run := range map[string]func(*interchange){
		"of ours":      func(x *interchange) { x.clientTools(x.ours, x.reference, theirRequests) },
		"of reference": func(x *interchange) { x.clientTools(x.reference, x.ours, ourRequests) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newInterchange(t))
		})
	}
}

func (x *interchange) clientTools(from, to func() *apptest.Client, path string) {
	c := from()
	id := c.StartThread(apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never",
		"dynamicTools": someTools()})
	first := x.requestOf(c, id, `tool: ticket {"id":"7"}`, textAnswer("the door is broken", true))
	second := x.requestOf(c, id, `tool: tix/close {}`, textAnswer("not allowed", false))
	shown := c.CompareAnswer("thread/resume", id).Thread
	c.Close()
	require.Len(x.t, shown.Turns, 2)
	require.Equal(x.t, "completed", shown.Turns[0].Items[1]["status"])
	require.Equal(x.t, "failed", shown.Turns[1].Items[1]["status"])

	c = to()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	require.Equal(x.t, first, x.requestOf(c, id, `tool: ticket {"id":"7"}`, textAnswer("mended", true)))
	require.Equal(x.t, second, x.requestOf(c, id, `tool: tix/close {}`, textAnswer("it is closed", true)))
	prompt := strings.Join(x.model.conversation(path), "\n")
	for _, text := range []string{"the door is broken", "not allowed", "mended", "it is closed"} {
		require.Contains(x.t, prompt, text)
	}
	c.Close()
}

// requestOf runs a turn with one request to the client, and returns it without ids.
func (x *interchange) requestOf(c *apptest.Client, thread, text string, answer any) string {
	x.t.Helper()
	var requests []string
	c.OnRequest = func(m apptest.Message) any {
		requests = append(requests, m.Method+" "+withoutIDs(x.t, m.Params))
		return answer
	}
	require.Equal(x.t, "completed", c.Turn(thread, text).Status)
	require.Len(x.t, requests, 1, text)
	return requests[0]
}

// withoutIDs removes the members that differ in every request.
func withoutIDs(t *testing.T, params json.RawMessage) string {
	t.Helper()
	var members apptest.Object
	require.NoError(t, json.Unmarshal(params, &members))
	for _, name := range []string{"threadId", "turnId", "callId", "itemId"} {
		delete(members, name)
	}
	text, err := json.Marshal(members)
	require.NoError(t, err)
	return string(text)
}

// toolDeviations are the answers for which this server differs: outputs of Chat Completions are
// texts, and not empty.
var toolDeviations = map[string]bool{"nothing": true, "much": true}

// TestReferenceClientAnswers answers both servers alike, with valid and invalid responses. Both
// must show the call and inform the model alike.
func TestReferenceClientAnswers(t *testing.T) {
	x := newInterchange(t)
	ours, theirs := x.ours(), x.reference()
	begin := apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never", "dynamicTools": someTools()}
	ourThread, theirThread := ours.StartThread(begin), theirs.StartThread(begin)
	var surprises []string
	for name, answer := range map[string]any{
		"a text":    textAnswer("out", true),
		"a failure": textAnswer("no", false),
		"nothing":   apptest.Object{"contentItems": []apptest.Object{}, "success": true},
		"two texts": apptest.Object{"contentItems": []apptest.Object{{"type": "inputText", "text": "a"},
			{"type": "inputText", "text": "b"}}, "success": true},
		"an image": apptest.Object{"contentItems": []apptest.Object{{"type": "inputImage",
			"imageUrl": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}, "success": true},
		"an unknown part": apptest.Object{"contentItems": []apptest.Object{{"type": "inputVideo", "url": "x"}},
			"success": true},
		"no success":  apptest.Object{"contentItems": []apptest.Object{}},
		"no parts":    apptest.Object{"success": true},
		"null":        nil,
		"a list":      []int{1},
		"a text only": "out",
		"an error":    errors.New("I cannot"),
		"much":        textAnswer(strings.Repeat("0123456789\n", 20_000), true),
	} {
		here := x.effectOf(ours, ourThread, ourRequests, answer)
		there := x.effectOf(theirs, theirThread, theirRequests, answer)
		if (here == there) == toolDeviations[name] {
			surprises = append(surprises, name+":\n this server  "+here+"\n the other    "+there)
		}
	}
	sort.Strings(surprises)
	require.Empty(t, strings.Join(surprises, "\n"))
	ours.Close()
	theirs.Close()
}

// effectOf returns the shown call, and the output that the model gets, for an answer.
func (x *interchange) effectOf(c *apptest.Client, thread, path string, answer any) string {
	x.t.Helper()
	c.OnRequest = nil
	c.BeginTurn(thread, `tool: ticket {"id":"7"}`)
	request := c.Until(func(m apptest.Message) bool { return m.Method == "item/tool/call" && m.ID != nil })
	if err, failed := answer.(error); failed {
		c.Send(apptest.Object{"id": request.ID, "error": apptest.Object{"code": -32000, "message": err.Error()}})
	} else {
		c.Send(apptest.Object{"id": request.ID, "result": answer})
	}
	done := c.Until(func(m apptest.Message) bool {
		return m.Method == "item/completed" && gjson.GetBytes(m.Params, "item.type").Str == "dynamicToolCall"
	})
	c.AwaitTurn()
	item := gjson.GetBytes(done.Params, "item")
	shown := item.Get("status").Str + " " + item.Get("success").Raw + " " + item.Get("contentItems").Raw
	return clipped(ownWords.ReplaceAllString(shown, "(own words)")) + " | " +
		clipped(ownWords.ReplaceAllString(x.model.lastOutput(path), "(own words)"))
}

// ownWords match the servers' different messages about invalid answers.
var ownWords = regexp.MustCompile(`(The client's answer for ticket is invalid|The client could not run ticket|dynamic tool (request|response))[^"]*`)

// lastOutput returns the last tool output on a path, without newlines.
func (m *bilingual) lastOutput(path string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries := append(m.lastRequests[path].Messages, m.lastRequests[path].Input...)
	last := entries[len(entries)-1]
	return strings.ReplaceAll(string(last.Content+last.Output), "\n", "")
}

func clipped(text string) string {
	if len(text) > 300 {
		return fmt.Sprintf("%s...%s (%d)", text[:150], text[len(text)-150:], len(text))
	}
	return text
}

// aQuestion makes the model ask the user.
const aQuestion = `tool: request_user_input {"questions":[{"id":"db","header":"Store","question":"Which?","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}]}`

// TestReferenceQuestions asks the same question by both servers in plan mode. Their clients must
// get the same request, and their models the same answer.
func TestReferenceQuestions(t *testing.T) {
	x := newInterchange(t)
	ours, theirs := x.ours(), x.reference()
	ourThread, theirThread := x.startThread(ours), x.startThread(theirs)
	var surprises []string
	for name, answer := range map[string]any{
		"one": apptest.Object{"answers": apptest.Object{"db": apptest.Object{"answers": []string{"A"}}}},
		"own words": apptest.Object{"answers": apptest.Object{"db": apptest.Object{"answers": []string{"B",
			"user_note: but \"fast\""}}}},
		"nothing chosen": apptest.Object{"answers": apptest.Object{"db": apptest.Object{"answers": []string{}}}},
		"none":           apptest.Object{"answers": apptest.Object{}},
		"nonsense":       apptest.Object{"answers": 7},
		"null":           nil,
	} {
		here, there := x.askAndAnswer(ours, ourThread, ourRequests, answer),
			x.askAndAnswer(theirs, theirThread, theirRequests, answer)
		if here != there {
			surprises = append(surprises, name+":\n this server  "+here+"\n the other    "+there)
		}
	}
	sort.Strings(surprises)
	require.Empty(t, strings.Join(surprises, "\n"))
	ours.Close()
	theirs.Close()
}

// askAndAnswer returns the request to the client, and the model's output for the answer.
func (x *interchange) askAndAnswer(c *apptest.Client, thread, path string, answer any) string {
	x.t.Helper()
	request := x.planTurn(c, thread, answer)
	return request + " | " + x.model.lastOutput(path)
}

// planTurn runs a turn in plan mode with one question, and returns the request to the client.
func (x *interchange) planTurn(c *apptest.Client, thread string, answer any) string {
	x.t.Helper()
	request := ""
	c.OnRequest = func(m apptest.Message) any {
		request += m.Method + " " + withoutIDs(x.t, m.Params)
		return answer
	}
	c.Call("turn/start",
		apptest.Object{"threadId": thread, "input": apptest.TextInput(aQuestion),
			"collaborationMode": apptest.Object{"mode": "plan", "settings": apptest.Object{"model": "chosen"}}})
	require.Equal(x.t, "completed", c.AwaitTurn().Status)
	return request
}

// TestReferenceInterchangeQuestions asks by one server, and continues with the other.
func TestReferenceInterchangeQuestions(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for name, run := range map[string]func(*interchange){
		"of ours":      func(x *interchange) { x.questions(x.ours, x.reference, theirRequests) },
		"of reference": func(x *interchange) { x.questions(x.reference, x.ours, ourRequests) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newInterchange(t))
		})
	}
}

func (x *interchange) questions(from, to func() *apptest.Client, path string) {
	c := from()
	id := x.startThread(c)
	x.planTurn(c, id, apptest.Object{"answers": apptest.Object{"db": apptest.Object{"answers": []string{"the second"}}}})
	shown := c.CompareAnswer("thread/resume", id).Thread
	c.Close()

	c = to()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	c.Turn(id, "go on")
	require.Contains(x.t, strings.Join(x.model.conversation(path), "\n"), "the second")
	c.Close()
}
