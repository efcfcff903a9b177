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

// someTools are tools of the client's, one of them in a namespace.
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

// TestReferenceInterchangeClientTools has one server run tools of the client, and the other
// show the calls, offer the tools again, and ask its client the same.
func TestReferenceInterchangeClientTools(t *testing.T) {
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
	first := x.asks(c, id, `tool: ticket {"id":"7"}`, textAnswer("the door is broken", true))
	second := x.asks(c, id, `tool: tix/close {}`, textAnswer("not allowed", false))
	shown := c.CompareAnswer("thread/resume", id).Thread
	c.Close()
	require.Len(x.t, shown.Turns, 2)
	require.Equal(x.t, "completed", shown.Turns[0].Items[1]["status"])
	require.Equal(x.t, "failed", shown.Turns[1].Items[1]["status"])

	c = to()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	require.Equal(x.t, first, x.asks(c, id, `tool: ticket {"id":"7"}`, textAnswer("mended", true)))
	require.Equal(x.t, second, x.asks(c, id, `tool: tix/close {}`, textAnswer("it is closed", true)))
	told := strings.Join(x.model.told(path), "\n")
	for _, text := range []string{"the door is broken", "not allowed", "mended", "it is closed"} {
		require.Contains(x.t, told, text)
	}
	c.Close()
}

// asks takes a turn in which the client is asked once, and gives what, without ids.
func (x *interchange) asks(c *apptest.Client, thread, text string, answer any) string {
	x.t.Helper()
	var asked []string
	c.OnRequest = func(m apptest.Message) any {
		asked = append(asked, m.Method+" "+withoutIDs(x.t, m.Params))
		return answer
	}
	require.Equal(x.t, "completed", c.Turn(thread, text).Status)
	require.Len(x.t, asked, 1, text)
	return asked[0]
}

// withoutIDs are params without those members that no two requests have in common.
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

// toolDeviations are what this server makes otherwise of an answer, as Chat Completions has
// outputs that are text, and not empty.
var toolDeviations = map[string]bool{"nothing": true, "much": true}

// TestReferenceClientAnswers has the client of both servers answer the same, sense or
// nonsense: both show the call alike, and tell their models alike.
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
		here := x.takesAnswer(ours, ourThread, ourRequests, answer)
		there := x.takesAnswer(theirs, theirThread, theirRequests, answer)
		if (here == there) == toolDeviations[name] {
			surprises = append(surprises, name+":\n this server  "+here+"\n the other    "+there)
		}
	}
	sort.Strings(surprises)
	require.Empty(t, strings.Join(surprises, "\n"))
	ours.Close()
	theirs.Close()
}

// takesAnswer is how a call is shown, and what the model is told of it.
func (x *interchange) takesAnswer(c *apptest.Client, thread, path string, answer any) string {
	x.t.Helper()
	c.OnRequest = nil
	c.BeginTurn(thread, `tool: ticket {"id":"7"}`)
	asked := c.Until(func(m apptest.Message) bool { return m.Method == "item/tool/call" && m.ID != nil })
	if err, failed := answer.(error); failed {
		c.Send(apptest.Object{"id": asked.ID, "error": apptest.Object{"code": -32000, "message": err.Error()}})
	} else {
		c.Send(apptest.Object{"id": asked.ID, "result": answer})
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

// ownWords are what each server says of an answer that is none.
var ownWords = regexp.MustCompile(`(The client's answer for ticket is invalid|The client could not run ticket|dynamic tool (request|response))[^"]*`)

// lastOutput is what the model was told last, whole, but for newlines.
func (m *bilingual) lastOutput(path string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries := append(m.heard[path].Messages, m.heard[path].Input...)
	last := entries[len(entries)-1]
	return strings.ReplaceAll(string(last.Content+last.Output), "\n", "")
}

func clipped(text string) string {
	if len(text) > 300 {
		return fmt.Sprintf("%s...%s (%d)", text[:150], text[len(text)-150:], len(text))
	}
	return text
}

// aQuestion has the model ask the user.
const aQuestion = `tool: request_user_input {"questions":[{"id":"db","header":"Store","question":"Which?","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}]}`

// TestReferenceQuestions has both servers put the same question in plan mode: their clients
// are asked the same, and their models are told the same answer.
func TestReferenceQuestions(t *testing.T) {
	x := newInterchange(t)
	ours, theirs := x.ours(), x.reference()
	ourThread, theirThread := x.begin(ours), x.begin(theirs)
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
		here, there := x.puts(ours, ourThread, ourRequests, answer), x.puts(theirs, theirThread, theirRequests, answer)
		if here != there {
			surprises = append(surprises, name+":\n this server  "+here+"\n the other    "+there)
		}
	}
	sort.Strings(surprises)
	require.Empty(t, strings.Join(surprises, "\n"))
	ours.Close()
	theirs.Close()
}

// puts is what the client is asked, and what the model hears of the answer.
func (x *interchange) puts(c *apptest.Client, thread, path string, answer any) string {
	x.t.Helper()
	asked := x.plans(c, thread, answer)
	return asked + " | " + x.model.lastOutput(path)
}

// plans takes a turn in plan mode in which the user is asked, and gives what.
func (x *interchange) plans(c *apptest.Client, thread string, answer any) string {
	x.t.Helper()
	asked := ""
	c.OnRequest = func(m apptest.Message) any {
		asked += m.Method + " " + withoutIDs(x.t, m.Params)
		return answer
	}
	c.Call("turn/start",
		apptest.Object{"threadId": thread, "input": apptest.TextInput(aQuestion),
			"collaborationMode": apptest.Object{"mode": "plan", "settings": apptest.Object{"model": "chosen"}}})
	require.Equal(x.t, "completed", c.AwaitTurn().Status)
	return asked
}

// TestReferenceInterchangeQuestions has one server put a question, and the other go on.
func TestReferenceInterchangeQuestions(t *testing.T) {
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
	id := x.begin(c)
	x.plans(c, id, apptest.Object{"answers": apptest.Object{"db": apptest.Object{"answers": []string{"the second"}}}})
	shown := c.CompareAnswer("thread/resume", id).Thread
	c.Close()

	c = to()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	c.Turn(id, "go on")
	require.Contains(x.t, strings.Join(x.model.told(path), "\n"), "the second")
	c.Close()
}
