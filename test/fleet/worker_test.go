package fleet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// worker is a client that records its requests.
type worker struct {
	*history
	caller
	client int
	marks  int
}

func newWorker(h *history, random *rand.Rand, nodes ...*machine) *worker {
	return &worker{history: h, caller: newCaller(random, func(apptest.Message) {}, nodes...), client: h.client()}
}

// work sends random requests until the end.
func (w *worker) work() {
	defer w.disconnect()
	for !w.isOver.Load() {
		requests := []func(string) outcome{w.turn, w.turn, w.rename, w.edit, w.edit, w.undo, w.read, w.read, w.items}
		id := w.threads[w.rand.IntN(len(w.threads))]
		do := requests[w.rand.IntN(len(requests))]
		w.until(func() outcome { return do(id) })
	}
}

// reasons are the kinds of refusals that the state of a thread explains.
var reasons = []string{"turnActive", "staleRevision", "nothingToUndo"}

// try makes an operation once, and records it unless it had no effect. parse reads the result.
func (w *worker) try(s step, method string, params apptest.Object, parse func(gjson.Result) result) (
	answer gjson.Result, got outcome,
) {
	called := w.now()
	params["threadId"] = s.thread
	answer, err := w.at.call(method, params)
	kind := kindOf(err)
	switch {
	case err == nil:
		w.record(w.client, s, called, parse(answer))
		return answer, done
	case slices.Contains(reasons, kind):
		w.record(w.client, s, called, result{refused: kind})
		return answer, refused
	case isRefused(err) || s.do == readThread || s.do == readItems:
		return answer, again
	case kind == "" && !errors.Is(err, errLost), !slices.Contains([]string{"", "storage", "ownerLost"}, kind):
		panic(fmt.Sprintf("%s: %v", method, err))
	}
	w.lose(s, called)
	return answer, unknown
}

// lose records an operation without a response.
func (w *worker) lose(s step, called int64) {
	w.record(w.client, s, called, result{isUnknown: true})
	w.client = w.history.client()
}

func nothing(gjson.Result) result { return result{} }

// turn runs a turn, and unloads the thread afterwards, so that any node can take it.
func (w *worker) turn(id string) outcome {
	w.at.subscribe(id)
	if _, err := w.at.call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true}); err != nil {
		return again
	}
	defer func() { _, _ = w.at.call("thread/unsubscribe", apptest.Object{"threadId": id}) }()
	w.marks++
	mark := fmt.Sprintf("mark%d.%d", w.client, w.marks)
	called := w.now()
	begun, got := w.try(step{thread: id, do: beginTurn, text: mark}, "turn/start",
		apptest.Object{"input": apptest.TextInput(mark)}, nothing)
	if got == refused || got == again {
		return got
	}
	end, status := step{thread: id, do: endTurn, text: mark}, ""
	if got == done { // else the turn can end before the client knows of its start
		called = w.now()
		status = w.at.awaitTurn(id, begun.Get("turn.id").Str)
	}
	if status == "" || status == "failed" { // a failure means that the node lost the log
		w.lose(end, called)
		return unknown
	}
	w.record(w.client, end, called, result{status: status})
	return done
}

func (w *worker) rename(id string) outcome {
	w.marks++
	name := fmt.Sprintf("name%d.%d", w.client, w.marks)
	_, got := w.try(step{thread: id, do: rename, text: name}, "thread/name/set", apptest.Object{"name": name}, nothing)
	return got
}

// read reads the turns and the name.
func (w *worker) read(id string) outcome {
	_, got := w.try(step{thread: id, do: readThread}, "thread/read", apptest.Object{"includeTurns": true},
		func(r gjson.Result) result {
			return result{turns: turnsOf(r.Get("thread")), name: r.Get("thread.name").Str}
		})
	return got
}

// turnsOf returns the turns of a thread as a register has them. The last input of a completed turn must
// have its answer.
func turnsOf(thread gjson.Result) string {
	var all strings.Builder
	for _, turn := range thread.Get("turns").Array() {
		var inputs []string
		for _, input := range turn.Get(`items.#(type=="userMessage")#.content.0.text`).Array() {
			inputs = append(inputs, input.Str)
		}
		status, answers := turn.Get("status").Str, turn.Get(`items.#(type=="agentMessage")#.text`).Array()
		said := fmt.Sprintf("You said: %q", inputs[len(inputs)-1])
		if status == "completed" && !strings.Contains(answers[len(answers)-1].Str, said) {
			status = fmt.Sprintf("completed with %v", answers)
		}
		all.WriteString(strings.Join(inputs, " ") + " " + status + "\n")
	}
	return all.String()
}

// items reads the context.
func (w *worker) items(id string) outcome {
	_, got := w.readItems(id)
	return got
}

func (w *worker) readItems(id string) (gjson.Result, outcome) {
	return w.try(step{thread: id, do: readItems}, "context/getItems", apptest.Object{}, func(r gjson.Result) result {
		got := result{revision: r.Get("revision").Int()}
		var excluded []string
		for _, item := range r.Get(`items.#(included==false)#.id`).Array() {
			excluded = append(excluded, item.Str)
		}
		slices.Sort(excluded)
		got.excluded = strings.Join(excluded, " ")
		return got
	})
}

// edit excludes a message, or includes it again.
func (w *worker) edit(id string) outcome {
	list, got := w.readItems(id)
	messages := list.Get(`items.#(category%"*Message")#`).Array()
	if got != done || len(messages) == 0 {
		return got
	}
	item := messages[w.rand.IntN(len(messages))]
	s := step{thread: id, do: exclude, text: item.Get("id").Str, revision: list.Get("revision").Int()}
	if !item.Get("included").Bool() {
		s.do = include
	}
	_, got = w.try(s, "context/setInclusion", apptest.Object{"ids": []string{s.text}, "included": s.do == include,
		"expectedRevision": s.revision}, revisionOf)
	return got
}

func revisionOf(r gjson.Result) result { return result{revision: r.Get("revision").Int()} }

// undo undoes the last edit.
func (w *worker) undo(id string) outcome {
	list, got := w.readItems(id)
	if got != done {
		return got
	}
	s := step{thread: id, do: undo, revision: list.Get("revision").Int()}
	_, got = w.try(s, "context/undo", apptest.Object{"expectedRevision": s.revision}, revisionOf)
	return got
}
