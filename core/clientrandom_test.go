package core_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"appserver/core"
	"appserver/protocol"
	"appserver/test/sample"
)

// Random calls that the client answers, and their checks.

const anyQuestions = `{"questions":[{"id":"db","header":"Store","question":"Which?","isSecret":true,"options":[{"label":"A","description":"a"}]},` +
	`{"id":"ö","header":"","question":"When?","options":[{"label":"B","description":""}]}]}`

// clientAnswers are answers for tools, for questions, or for neither.
var clientAnswers = rapid.SampledFrom([]string{
	`{"contentItems":[{"type":"inputText","text":"out"}],"success":true}`, `{"contentItems":[],"success":false}`,
	`{"contentItems":[],"success":true,"more":1}`,
	`{"contentItems":[{"type":"inputText","text":"\ud800 \u0000"},{"type":"inputImage","imageUrl":"data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAUQAOw=="}],"success":true}`,
	`{"contentItems":[{"type":"inputAudio","audioUrl":"data:audio/wav;base64,AAAA"}],"success":true}`,
	`{"contentItems":[{"type":"inputVideo"}],"success":true}`,
	`{"contentItems":null,"success":true}`, `{"contentItems":[null],"success":null}`,
	`{"answers":{"db":{"answers":["A","or else"]},"unasked":{"answers":["x"]}}}`,
	`{"answers":{"ö":{"answers":[]},"db":{"answers":null}}}`, `{"answers":{}}`, `{"answers":{"db":"A"}}`, `{"answers":[]}`,
	`null`, `[]`, `7`, `"text"`, `{"`, ``,
})

func anyMode(t *rapid.T) *protocol.CollaborationMode {
	mode := &protocol.CollaborationMode{Mode: rapid.SampledFrom([]string{protocol.ModePlan, protocol.ModeDefault}).Draw(t,
		"mode")}
	mode.Settings.Model = rapid.SampledFrom([]string{"model-1", "model-6"}).Draw(t, "model")
	mode.Settings.DeveloperInstructions = rapid.SampledFrom([]*string{nil, nil, new(""),
		new("In the client's words.")}).Draw(t, "mode text")
	return mode
}

func anySkills(t *rapid.T) []core.SkillText {
	return rapid.SampledFrom([][]core.SkillText{nil, nil, nil,
		{{Name: "release", Path: "/s/SKILL.md", Text: "Run the tests.\n\n"}},
		{{Name: "a"}, {Path: "/b</path>", Text: "</skill>\n<skill>"}}}).Draw(t, "skills")
}

// TestAnyClientAnswers mixes calls for the client with interrupts, edits of the context, full disks
// and crashes.
func TestAnyClientAnswers(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		e.world.Capabilities.Questions = true
		actions := e.actions()
		for _, name := range []string{"call 1", "call 2", "call 3", "call 4"} {
			actions[name] = e.callClient
		}
		for _, name := range []string{"answer 2", "answer 3", "answer 4"} {
			actions[name] = e.answer
		}
		actions["disk"] = e.fill
		t.Repeat(actions)
		e.full = false
		e.end()
	})
}

// callClient answers a model request, if there is one, with calls for the client.
func (e *explorer) callClient(t *rapid.T) {
	id := last[core.ModelRequest](e.machine)
	if id == 0 {
		e.turnStart(t)
		return
	}
	in := core.ModelDone{Effect: id}
	for range rapid.IntRange(1, 3).Draw(t, "calls") {
		in.Answer.Calls = append(in.Answer.Calls, rapid.SampledFrom([]core.ToolCall{
			{Name: "ticket", Arguments: `{"id":"7"}`}, {Name: "tix__close", Arguments: `{}`},
			{Name: "request_user_input", Arguments: anyQuestions}, {Name: "shell", Arguments: `{"command":"ls"}`},
		}).Draw(t, "call"))
		in.Answer.Calls[len(in.Answer.Calls)-1].ID = names.Draw(t, "id")
	}
	e.run(t, in)
}

// ask is a request to the client, with its first params.
type ask struct{ method, params string }

// checkQuestion checks a request: it is of the active turn, equal for all clients, and alone if only one
// client gets it.
func (w *checker) checkQuestion(m *machine, r core.Request) {
	asked := ask{r.Method, encode(r.Params)}
	if before, known := w.about[r.ID]; known && w.asked[r.ID] && before != asked {
		w.report("request %d is another one when it is asked again: %s, before %s", r.ID, asked.params, before.params)
	}
	again := w.about[r.ID].method != ""
	w.about[r.ID] = asked
	turn, ofServer := gjson.Get(asked.params, "turnId").String(), r.Method == protocol.MethodElicitation
	if (turn == "" && !ofServer) || turn != m.thread.ActiveTurn() && !(ofServer && again) {
		w.report("request %d is of turn %q, but %q is active", r.ID, turn, m.thread.ActiveTurn())
	}
	switch r.Method {
	case protocol.MethodToolCall:
		w.checkToolCall(r.ID, asked.params)
	case protocol.MethodUserInput:
		for _, q := range gjson.Get(asked.params, "questions").Array() {
			if !q.Get("isOther").Bool() || q.Get("isSecret").Bool() || len(q.Get("options").Array()) == 0 {
				w.report("request %d puts a question that nobody can answer: %s", r.ID, q)
			}
		}
	}
}

func (w *checker) checkToolCall(id uint64, params string) {
	if !gjson.Get(params, "arguments").Exists() || gjson.Get(params, "tool").String() == "" {
		w.report("request %d calls nothing: %s", id, params)
	}
	for other, open := range w.asked {
		if open && other != id && w.about[other].method == protocol.MethodToolCall {
			w.report("request %d calls a tool while request %d does", id, other)
		}
	}
}

// checkWaiting checks that the status names exactly what the thread waits for.
func (w *checker) checkWaiting(m *machine) {
	want := []string{}
	for _, id := range m.thread.OpenRequests() {
		flag := "waitingOnApproval"
		switch w.about[id].method {
		case protocol.MethodToolCall:
			continue
		case protocol.MethodElicitation:
			if m.thread.ActiveTurn() == "" {
				continue // a server may ask at any time
			}
		case protocol.MethodUserInput:
			flag = "waitingOnUserInput"
		case "":
			w.report("request %d is open, but was never asked", id)
		}
		if !slices.Contains(want, flag) {
			want = append(want, flag)
		}
	}
	got := []string{}
	for _, flag := range gjson.Get(encode(m.thread.View(false).Status), "activeFlags").Array() {
		got = append(got, flag.String())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		w.report("the thread waits for %s, and says %s", strings.Join(want, " and "), strings.Join(got, " and "))
	}
}

// TestEveryClientCallHasOneOutput checks that any answer gives the model one output and completes
// the item, and that both survive a crash.
func TestEveryClientCallHasOneOutput(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		m := newMachine(t.Fatalf)
		start := m.start(protocol.HistoryPaginated)
		start.Meta.DynamicTools = []protocol.DynamicToolSpec{function("ticket", `{}`)}
		m.take(start)
		m.take(core.TurnStart{To: m.caller(),
			Params: &protocol.TurnStartParams{ThreadID: threadID, Input: []protocol.UserInput{}}, Env: m.world})
		m.take(core.ModelDone{Effect: last[core.ModelRequest](m),
			Answer: core.Answer{Calls: []core.ToolCall{{ID: "c", Name: "ticket"}}}})
		answer := json.RawMessage(clientAnswers.Draw(t, "answer"))
		m.take(core.ClientAnswer{Request: m.thread.OpenRequests()[0], Result: answer})
		if last[core.ModelRequest](m) == 0 {
			t.Fatalf("the model is not asked again")
		}
		m.take(core.ModelDone{Effect: last[core.ModelRequest](m)})
		told := encode(m.thread.Prompt().Items)
		item := gjson.Get(encode(m.thread.View(true)), `turns.0.items.#(id=="c")`)
		succeeded := json.Valid(answer) && gjson.GetBytes(answer, "success").Bool() && !strings.Contains(told, "is invalid")
		if got := item.Get("status").String(); (got == protocol.DynamicToolCompleted) != succeeded ||
			item.Get("success").Bool() != succeeded || !item.Get("contentItems").IsArray() {
			t.Fatalf("%s is shown as %s", answer, item.Raw)
		}
		m.load()
		if again := encode(m.thread.Prompt().Items); again != told {
			t.Fatalf("after a crash the model is told\n%s\nbefore\n%s", again, told)
		}
		if again := gjson.Get(encode(m.thread.View(true)), `turns.0.items.#(id=="c")`); again.Raw != item.Raw {
			t.Fatalf("after a crash the call is shown as %s, before as %s", again.Raw, item.Raw)
		}
	})
}
