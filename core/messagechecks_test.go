package core_test

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core"
	shellcommand "appserver/core/pure/command"
	"appserver/protocol"
)

// This file has the checks of messages.

// recipient returns the caller that a message answers.
func recipient(m core.Message) (protocol.Caller, bool) {
	switch m := m.(type) {
	case core.Reply:
		return m.To, true
	case core.Refusal:
		return m.To, true
	}
	return protocol.Caller{}, false
}

// checkMessage checks the i-th message of a step.
func (w *checker) checkMessage(m *machine, in core.Input, out core.Output, i int, message core.Message) {
	w.checkReference(message)
	switch message := message.(type) {
	case core.Notice:
		w.checkNotification(m, out, i, message)
	case core.Request:
		w.checkRequest(m, message)
	case core.Reply:
		w.checkAnswer(in, out.Messages[:i], message.To)
		w.checkReply(m, in, out, message)
	case core.Refusal:
		w.checkAnswer(in, out.Messages[:i], message.To)
		if message.Err == nil || message.Err.Message == "" || message.Err.Data == nil {
			w.report("caller %d is refused without a reason", message.To.Request)
		}
	}
}

func (w *checker) checkAnswer(in core.Input, before []core.Message, to protocol.Caller) {
	state, known := w.callers[to]
	if !known || state == answered {
		w.report("caller %d is answered twice, or did not ask", to.Request)
	}
	w.callers[to] = answered
	_, resumed := in.(core.Resume)
	_, archived := in.(core.Archive)
	told := slices.ContainsFunc(behindTurnEnd(before), func(m core.Message) bool {
		_, other := m.(core.Refusal) // of a caller who waited
		return !other
	})
	if to == callerOf(in) && told && !resumed && !archived {
		w.report("the answer to caller %d comes after messages that it causes", to.Request)
	}
}

// behindTurnEnd returns the messages after the end of a released turn. Its end includes the suggestions for its
// context, and the warnings of edits that waited for it.
func behindTurnEnd(messages []core.Message) []core.Message {
	end := slices.IndexFunc(messages, isTurnCompleted)
	if end < 0 {
		return messages
	}
	for end++; end < len(messages) && followsTurnEnd(messages[end]); end++ {
	}
	return messages[end:]
}

func isTurnCompleted(m core.Message) bool {
	n, ok := m.(core.Notice)
	return ok && n.NotificationMethod() == "turn/completed"
}

func followsTurnEnd(m core.Message) bool {
	n, ok := m.(core.Notice)
	return ok && (n.NotificationMethod() == "ContextSuggestions" || n.NotificationMethod() == "warning")
}

func (w *checker) checkReply(m *machine, in core.Input, out core.Output, reply core.Reply) {
	switch reply.Result.(type) {
	case protocol.ThreadStartResponse, protocol.ThreadResumeResponse:
		w.status = gjson.Get(encode(reply.Result), "thread.status").Raw
	case protocol.TurnStartResponse:
		w.floor = m.now.Add(m.options.CompletedFloor)
		w.mustSync(out, "the answer of turn/start")
		if id := gjson.Get(encode(reply.Result), "turn.id").String(); id == "" || id != m.thread.ActiveTurn() &&
			!w.notifies(out, "turn/completed") {
			w.report("turn/start is answered with turn %q, but %q is active", id, m.thread.ActiveTurn())
		}
	}
	switch in.(type) {
	case core.TurnInterrupt:
		if !w.queued {
			w.floor = m.now.Add(m.options.CompletedFloor)
		}
	case core.SetName:
		w.mustSync(out, "the answer of thread/name/set")
	}
}

// mustSync checks that promised lines are synced before the message.
func (w *checker) mustSync(out core.Output, what string) {
	if len(out.Lines) > 0 && !out.Sync {
		w.report("%s is said before its lines are on disk", what)
	}
}

func (w *checker) checkRequest(m *machine, r core.Request) {
	w.checkQuestion(m, r)
	open, known := w.asked[r.ID]
	if known && !open {
		w.report("request %d is asked again after it was resolved", r.ID)
	}
	w.asked[r.ID] = true
	if r.Method == protocol.MethodElicitation {
		return // it names no item
	}
	id := gjson.Get(encode(r.Params), "itemId").String()
	switch r.Method {
	case protocol.MethodUserInput: // of a call that has no item
		return
	case protocol.MethodToolCall:
		id = gjson.Get(encode(r.Params), "callId").String()
	}
	if item := w.items[id]; item == nil || item.done {
		w.report("request %d is about item %q, which is not under way", r.ID, id)
	}
}

// checkNotification checks the i-th message of a step, a notification.
func (w *checker) checkNotification(m *machine, out core.Output, i int, n core.Notice) {
	method, params := n.NotificationMethod(), encode(n.Notification)
	turn := gjson.Get(params, "turnId").String()
	if turn == "" {
		turn = gjson.Get(params, "turn.id").String()
	}
	// The token usage is also sent when a thread is resumed, and when a draft is committed.
	always := []string{"turn/started", "thread/tokenUsage/updated", "thread/compacted"}
	if turn != "" && !slices.Contains(always, method) && !w.turns[turn] && turn != w.cut && !w.outlives(params) {
		w.report("%s of turn %s, which is not under way: %s", method, turn, params)
	}
	switch method {
	case "thread/status/changed":
		w.status = gjson.Get(params, "status").Raw
	case "turn/started":
		if _, known := w.turns[turn]; known || turn == "" {
			w.report("turn/started of turn %q comes twice", turn)
		}
		w.turns[turn] = true
		w.mustSync(out, method)
	case "turn/completed":
		w.checkCompleted(m, out, i, turn, params)
	case "serverRequest/resolved":
		w.checkResolved(gjson.Get(params, "requestId").Uint())
	default:
		if strings.HasPrefix(method, "item/") {
			w.checkItem(m, out, method, turn, params)
		}
	}
}

func (w *checker) checkResolved(id uint64) {
	if !w.asked[id] {
		w.report("request %d is resolved, but is not open", id)
	}
	w.asked[id] = false
}

// startsTurn reports whether a turn starts, which releases the turn before.
func startsTurn(messages []core.Message) bool {
	return slices.ContainsFunc(messages, func(m core.Message) bool {
		n, ok := m.(core.Notice)
		return ok && n.NotificationMethod() == "turn/started"
	})
}

func (w *checker) checkCompleted(m *machine, out core.Output, at int, turn, params string) {
	ofCrash := turn == w.cut // its end has no floor: it was not begun for this client
	w.turns[turn], w.cut, w.queued = false, "", false
	w.mustSync(out, "turn/completed")
	if m.now.Before(w.floor) && !ofCrash && !w.stopping && !startsTurn(out.Messages[at:]) {
		w.report("turn/completed comes %v too early", w.floor.Sub(m.now))
	}
	if status := gjson.Get(params, "turn.status").String(); status == "inProgress" || status == "" {
		w.report("a turn is completed with status %q", status)
	}
	if !gjson.Get(params, "turn.items").IsArray() {
		w.report("turn/completed has no items: %s", params)
	}
	var order []string
	for _, message := range out.Messages[:at+1] {
		if n, ok := message.(core.Notice); ok {
			order = append(order, n.NotificationMethod())
		}
	}
	w.checkOrder(order)
	for id, item := range w.items {
		if item.turn == turn && item.kind == "commandExecution" && !item.done && !w.unsaved {
			if item.stays = w.outlivesTurn(item.command); item.stays {
				continue
			}
			w.report("turn %s is completed, but its command %s is not", turn, id)
		}
	}
}

// outlives reports whether a notification is about a command that outlives its turn.
func (w *checker) outlives(params string) bool {
	id := gjson.Get(params, "itemId").String()
	if id == "" {
		id = gjson.Get(params, "item.id").String()
	}
	return w.items[id] != nil && w.items[id].stays
}

// outlivesTurn reports whether a command runs that may outlive its turn.
func (w *checker) outlivesTurn(line string) bool {
	for _, state := range w.effects {
		if run, ok := state.Effect.(core.RunTool); ok && run.Command.Stays && !state.ended &&
			shellcommand.Quote(run.Command.Argv) == line {
			return true
		}
	}
	return false
}

// checkOrder checks the messages up to a turn/completed: the status of the thread precedes it directly,
// except for an error.
func (w *checker) checkOrder(methods []string) {
	before := methods[:len(methods)-1]
	if n := len(before); n > 0 && before[n-1] == "error" {
		before = before[:n-1]
	}
	n := len(before)
	if n == 0 || before[n-1] != "thread/status/changed" || gjson.Get(w.status, "type").String() == "active" {
		w.report("turn/completed does not follow the thread's new status: %v", methods)
	}
}

func (w *checker) checkItem(m *machine, out core.Output, method, turn, params string) {
	id := gjson.Get(params, "itemId").String()
	if id == "" {
		id = gjson.Get(params, "item.id").String()
	}
	item := w.items[id]
	switch {
	case id == "":
		w.report("%s without an item's id: %s", method, params)
	case method == "item/started":
		if item != nil {
			w.report("item %s is started twice", id)
		}
		w.items[id] = &itemState{turn: turn, kind: gjson.Get(params, "item.type").String(),
			command: gjson.Get(params, "item.command").String(), request: w.requestOf(turn)}
	case method == "item/commandExecution/terminalInteraction" && item != nil: // in any later turn
	case item == nil || item.done || item.turn != turn:
		w.report("%s of item %s, which is not under way: %s", method, id, params)
	case method == "item/completed":
		item.done = true
		w.mustSync(out, method)
		w.checkCompletedItem(m, item, turn, gjson.Get(params, "item"))
	case method == "item/reasoning/textDelta":
		item.content += gjson.Get(params, "delta").String()
	default:
		item.text += gjson.Get(params, "delta").String()
	}
}

// requestOf returns the running model request of a turn, or nil.
func (w *checker) requestOf(turn string) *effectState {
	for _, state := range w.effects {
		if r, ok := state.Effect.(core.ModelRequest); ok && r.TurnID == turn && !state.isOver() {
			return state
		}
	}
	return nil
}

// allTexts returns the texts of a list in one.
func allTexts(texts gjson.Result) (all string) {
	for _, text := range texts.Array() {
		all += text.String()
	}
	return all
}

// checkCompletedItem checks a completed item: it equals its deltas, and the thread shows it from now on.
func (w *checker) checkCompletedItem(m *machine, item *itemState, turn string, whole gjson.Result) {
	text, content := whole.Get("text").String(), ""
	if item.kind == "reasoning" {
		text, content = allTexts(whole.Get("summary")), allTexts(whole.Get("content"))
	}
	if (item.kind == "reasoning" || item.kind == "agentMessage") && (text != item.text || content != item.content) {
		w.report("item %s is %q and %q, but its deltas were %q and %q", whole.Get("id"), text, content, item.text,
			item.content)
	}
	if whole.Get("type").String() != item.kind || whole.Get("status").String() == "inProgress" {
		w.report("item %s is completed as %s", whole.Get("id"), whole.Raw)
	}
	loaded := core.Load(threadID, m.options, m.settings, m.lines)
	shownTurn := gjson.Get(encode(loaded.View(true)), `turns.#(id=="`+turn+`")`)
	if w.reverting && !shownTurn.Exists() {
		return // the step ended the turn, and took it out
	}
	shown := shownTurn.Get(`items.#(id=="` + whole.Get("id").String() + `")`)
	w.same("item "+whole.Get("id").String(), whole.Raw, shown.Raw)
}
