package core_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// checker sees every input and output of a thread and reports each rule that was
// broken. It knows nothing of how the thread works.
type checker struct {
	sent    []string        // the prompts of all model requests
	states  map[string]bool // the changes of the turn's state
	report  func(format string, args ...any)
	effects map[core.EffectID]*effectState
	callers map[protocol.Caller]callerState
	asked   map[uint64]bool // requests of the server; false once resolved
	about   map[uint64]ask  // what they ask
	turns   map[string]bool // turns told to have begun; false once completed
	cut     string          // the turn that a crash cut off; it may be told to be completed
	items   map[string]*itemState
	status  string    // the last status told
	floor   time.Time // before it no turn/completed may be told
	// queued is set while a request waits for the end of the turn. No floor holds that end back.
	queued bool
	// reverting is set during a step that may take turns out.
	reverting bool
	// unsaved is set while the announced end of a turn is not on the disk.
	unsaved bool
	// overridden is set while a resume's settings are in force, which no line keeps.
	overridden bool
	// stopping is set after a Shutdown, which knows no floor.
	stopping bool
	// left is set after a Shutdown that left a turn waiting. Its effects are cancelled and not awaited.
	left bool
	// context is nil if the lines are random bytes.
	context *contextChecker
}

// effectState is an effect that was started.
type effectState struct {
	core.Effect
	cancelled, ended bool
}

func (e *effectState) isOver() bool { return e.cancelled || e.ended }

type callerState int

const (
	waiting callerState = iota
	answered
)

// itemState is an item whose begin was announced.
type itemState struct {
	turn, kind string
	command    string
	request    *effectState // the model request that ran at its begin, or nil
	text       string       // of the deltas, for reasoning those of the summary
	content    string       // of the deltas of raw reasoning
	done       bool
	stays      bool // its turn ended without it
}

func newChecker(report func(format string, args ...any)) *checker {
	w := &checker{report: report, states: map[string]bool{},
		turns: map[string]bool{}, items: map[string]*itemState{}, asked: map[uint64]bool{},
		about: map[uint64]ask{}}
	w.context = &contextChecker{checker: w}
	w.restarted(nil)
	return w
}

// restarted forgets what a crash takes along.
func (w *checker) restarted(lines []protocol.RolloutLine) {
	w.cut = cutTurn(lines)
	w.effects = map[core.EffectID]*effectState{}
	w.callers = map[protocol.Caller]callerState{}
	clear(w.asked)
	clear(w.turns)
	maps.DeleteFunc(w.items, func(_ string, item *itemState) bool { return !item.done }) // they can begin again
	w.status, w.floor, w.unsaved, w.overridden, w.stopping, w.queued = "", time.Time{}, false, false, false, false
	w.left = false
}

// cutTurn returns the turn that lines begin and do not end.
func cutTurn(lines []protocol.RolloutLine) string {
	turn := ""
	for _, line := range lines {
		switch gjson.GetBytes(line.Payload, "type").Str {
		case protocol.EventTaskStarted:
			turn = gjson.GetBytes(line.Payload, "turn_id").Str
		case protocol.EventTaskComplete, protocol.EventTurnAborted:
			turn = ""
		}
	}
	return turn
}

// refused notes a step whose lines were lost: the engine refuses its callers and
// gives up all effects.
func (w *checker) refused(in core.Input, out core.Output, open []protocol.Caller) {
	if to := callerOf(in); to != (protocol.Caller{}) {
		w.callers[to] = answered
	}
	for _, m := range out.Messages {
		if to, ok := recipient(m); ok {
			w.callers[to] = answered
		}
	}
	for _, to := range open {
		w.callers[to] = answered
	}
	w.effects = map[core.EffectID]*effectState{}
	w.floor, w.queued = time.Time{}, false
}

// check checks one step.
func (w *checker) check(m *machine, in core.Input, out core.Output) {
	for _, e := range w.effects {
		e.ended = e.ended || ends(in, e.Effect)
	}
	if to := callerOf(in); to != (protocol.Caller{}) {
		w.callers[to] = waiting
	}
	if out.Fault != nil {
		w.report("%T: %v", in, out.Fault)
	}
	for _, change := range out.Transitions() {
		w.states[change] = true
	}
	w.record(m, in, out)
	w.checkLines(m, out)
	w.checkEffects(m, out)
	for i, message := range out.Messages {
		w.checkMessage(m, in, out, i, message)
	}
	switch in.(type) {
	case core.TurnStart, core.RunUserCommand:
		w.queued = w.queued || w.callers[callerOf(in)] == waiting
	}
	if out.Archive {
		w.checkArchive(m, in, out)
	}
	w.checkState(m)
	if w.context != nil {
		w.context.check(m, in, out)
	}
}

// checkArchive checks a step that ends with the thread in the archive; its clients know the
// status of a thread no more that is not loaded.
func (w *checker) checkArchive(m *machine, in core.Input, out core.Output) {
	if len(out.Lines)+len(out.Effects) > 0 || m.thread.ActiveTurn() != "" {
		w.report("a thread is archived that has something to do: %v", out)
	}
	if a, ok := in.(core.Archive); ok && a.Successor != "" {
		w.callers[a.To] = answered
	}
	w.status = ""
}

func (w *checker) record(m *machine, in core.Input, out core.Output) {
	_, revert := in.(core.Revert)
	_, revertTo := in.(core.RevertTo)
	_, undo := in.(core.UndoRevert)
	w.reverting = revert || revertTo || undo
	switch in := in.(type) {
	case core.Shutdown:
		w.stopping = true
		if m.thread.ActiveTurn() == "" && !w.notifies(out, "turn/completed") { // the turn waits for an answer only
			clear(w.turns)
			w.status, w.left = "", true
		}
	case core.EndTurn, core.TurnStart, core.RunUserCommand:
		w.floor = time.Time{} // the last two begin a turn, now or once this one has ended
	case core.ReleaseTurn, core.TrimContext, core.SummarizeContext, core.ProposeCompaction, core.CommitCompaction,
		core.CompactContext, core.ReviewStart, core.Revert, core.RevertTo, core.UndoRevert:
		if w.notifies(out, "turn/completed") {
			w.floor = time.Time{}
		}
	case core.StorageFailed:
		w.unsaved = w.unsaved || w.notifies(out, "turn/completed")
		return
	case core.Resume:
		w.overridden = w.overridden || in.Fresh
	}
	for _, line := range out.Lines {
		w.unsaved = false
		w.overridden = w.overridden && line.Type != protocol.LineTurnContext
	}
}

func (w *checker) notifies(out core.Output, method string) bool {
	return slices.ContainsFunc(out.Messages, func(m core.Message) bool {
		n, ok := m.(core.Notice)
		return ok && n.NotificationMethod() == method
	})
}

func (w *checker) checkLines(m *machine, out core.Output) {
	next := nextOrdinal(m.lines[:len(m.lines)-len(out.Lines)])
	for i, line := range out.Lines {
		if line.Ordinal == nil || *line.Ordinal != next+int64(i) {
			w.report("a line does not have the ordinal %d: %s", next+int64(i), encode(line))
		}
		if !json.Valid(line.Payload) || line.Type == "" {
			w.report("a line is malformed: %s %s", line.Type, line.Payload)
		}
	}
}

// nextOrdinal returns the ordinal after the lines. Lines without a valid ordinal are counted.
func nextOrdinal(lines []protocol.RolloutLine) int64 {
	next := int64(0)
	for _, line := range lines {
		if line.Ordinal != nil && *line.Ordinal < 1<<53 {
			next = max(next, *line.Ordinal)
		}
		next++
	}
	return next
}

func (w *checker) checkEffects(m *machine, out core.Output) {
	for _, e := range out.Effects {
		switch e := e.(type) {
		case core.Cancel:
			if state := w.effects[e.ID]; state == nil || state.ended {
				w.report("effect %d is cancelled, but is not under way", e.ID)
			} else {
				state.cancelled = true
			}
		case core.ModelRequest:
			w.checkPrompt(e.Prompt.Items)
			w.sent = append(w.sent, promptOf(e.Prompt))
			if e.TurnID != "" || !e.Prompt.Summarises { // not for a draft
				w.belongs(m, e.TurnID)
			}
		case core.RunTool:
			w.belongs(m, e.TurnID)
		case core.PlanPatch:
			w.belongs(m, e.TurnID)
		case core.WritePatch:
			w.belongs(m, e.TurnID)
		case core.CallTool:
			w.belongs(m, e.TurnID)
		case core.ReadImage:
			w.belongs(m, e.TurnID)
		case core.WriteStdin:
			w.belongs(m, e.TurnID)
		}
		id := effectID(e)
		if w.effects[id] != nil {
			w.report("effect %d is started twice", id)
		}
		if id != 0 {
			w.effects[id] = &effectState{Effect: e}
		}
	}
}

func (w *checker) belongs(m *machine, turnID string) {
	if turnID == "" || turnID != m.thread.ActiveTurn() {
		w.report("an effect is started for turn %q, but %q is active", turnID, m.thread.ActiveTurn())
	}
}

// checkState checks what holds after every step.
func (w *checker) checkState(m *machine) {
	waits := m.thread.OpenCallers()
	for to, state := range w.callers {
		if (state == waiting) != slices.Contains(waits, to) {
			w.report("caller %d: answered %v, but waiting for the turn's end %v", to.Request, state == answered,
				state == answered)
		}
	}
	open := m.thread.OpenRequests()
	w.checkUnanswered(m, open)
	if m.thread.ActiveTurn() == "" {
		w.checkIdle(m)
	} else if len(m.running) == 0 && len(open) == 0 {
		w.report("turn %s waits for nothing", m.thread.ActiveTurn())
	}
	for id, isOpen := range w.asked {
		if isOpen != slices.Contains(open, id) {
			w.report("request %d: open for the client %v, for the thread %v", id, isOpen, !isOpen)
		}
	}
	if told := encode(m.thread.View(false).Status); w.status != "" && w.status != told {
		w.report("the last status told is %s, the thread's is %s", w.status, told)
	}
	w.checkWaiting(m)
	w.checkPrompt(m.thread.Prompt().Items)
	if !w.unsaved {
		w.checkDurable(m)
	}
}

// checkUnanswered checks that the list of open requests has each request once, with its turn and its
// time. Only questions of MCP servers have no item.
func (w *checker) checkUnanswered(m *machine, open []uint64) {
	var listed []uint64
	for _, r := range m.thread.Unanswered() {
		listed = append(listed, r.ID)
		turn, item := r.TurnID != nil && *r.TurnID == m.thread.ActiveTurn(), r.ItemID != nil
		if r.AskedAt.IsZero() || r.AskedAt.After(m.now) || item && !turn || !item && r.Method != protocol.MethodElicitation {
			w.report("request %d is listed as %+v", r.ID, r)
		}
	}
	if !slices.Equal(open, listed) {
		w.report("requests %v are listed, %v are open", listed, open)
	}
}

func (w *checker) checkIdle(m *machine) {
	drafts := 0
	for id, state := range w.effects {
		if sample, ok := state.Effect.(core.ModelRequest); ok && sample.TurnID == "" && !state.ended {
			if !state.cancelled {
				drafts++
			}
			continue
		}
		switch state.Effect.(type) {
		case core.CaptureTree, core.Remember:
			continue // it may outlast the turn
		}
		if tool, ok := state.Effect.(core.RunTool); ok && tool.Command.Stays {
			continue
		}
		if _, timer := state.Effect.(core.Timer); !state.ended && (!timer && !w.left || !state.cancelled) {
			w.report("no turn is active, but effect %d (%T) is under way", id, state.Effect)
		}
	}
	for id, active := range w.turns {
		if active {
			w.report("no turn is active, but turn %s was not told to be completed", id)
		}
	}
	if len(m.thread.OpenCallers()) != drafts {
		w.report("no turn is active, but %d callers wait, with %d drafts to be written", len(m.thread.OpenCallers()), drafts)
	}
}

// checkPrompt checks that every call is followed by its output, within its group of
// calls, and that no output stands alone.
func (w *checker) checkPrompt(items []protocol.ResponseItem) {
	w.checkReminders(items)
	open := map[string]int{}
	for _, item := range items {
		body := encode(item)
		id := gjson.Get(body, "call_id").String()
		switch kind := gjson.Get(body, "type").String(); kind {
		case "function_call", "custom_tool_call", "local_shell_call":
			open[id]++
		case "function_call_output", "custom_tool_call_output":
			if open[id] == 0 {
				w.report("the prompt has an output without its call: %s", body)
			}
			open[id]--
		default:
			for id, n := range open {
				if n > 0 {
					w.report("the prompt goes on with %s before the output of call %q", kind, id)
				}
			}
			clear(open)
		}
	}
	for id, n := range open {
		if n > 0 {
			w.report("the prompt ends before the output of call %q", id)
		}
	}
}

// checkDurable checks that the lines bring back the same thread.
func (w *checker) checkDurable(m *machine) {
	w.checkInProgress(m)
	w.checkLoaded(m, core.Load(threadID, m.options, m.settings, m.lines))
	w.checkLoaded(m, loadAgain(m.settings, m.lines).Thread(m.options))
	if len(m.lines)%4 == 0 {
		loaded := w.continueLoad(m).Thread(m.options)
		w.checkLoaded(m, loaded)
		w.checkItems(loaded)
		w.checkSearches(loaded)
	}
}

// checkItems checks that each item is found as the last one with its id, in its turn and in all turns.
func (w *checker) checkItems(t *core.Thread) {
	last := map[string]string{} // positions, by turn and id
	for _, entry := range pageOf(t, nil, most).Data {
		if e := gjson.Parse(encode(entry)); e.Get("type").Str == "item" {
			id, turn, position := e.Get("item.id").Str, e.Get("turnId").Str, e.Get("position").Raw
			last[turn+" "+id], last[" "+id] = position, position
		}
	}
	for key, position := range last {
		turn, id, _ := strings.Cut(key, " ")
		out := t.Step(core.Stamp{Now: time.Now()}, core.ReadItem{Turn: protocol.OrNil(turn), ID: id})
		reply, _ := out.Messages[0].(core.Reply)
		w.same("position of item "+id, position, gjson.Get(encode(reply.Result), "position").Raw)
	}
}

// checkSearches compares searches of parts of messages with slower ones.
func (w *checker) checkSearches(t *core.Thread) {
	ask := func(in core.Input) any {
		reply, _ := t.Step(core.Stamp{Now: time.Now()}, in).Messages[0].(core.Reply)
		return reply.Result
	}
	var texts strings.Builder
	terms := map[string]bool{"shell": true, "l {": true}
	for _, entry := range pageOf(t, nil, most).Data {
		e := gjson.Parse(encode(entry))
		parts := []string{e.Get("item.text").Str}
		if content := e.Get("item.content"); content.Exists() {
			parts = nil
			for _, part := range content.Get(`#(type=="text")#.text`).Array() {
				parts = append(parts, part.Str)
			}
		}
		text := strings.ToLower(strings.Join(parts, "\n"))
		if kind := e.Get("item.type").Str; kind == "userMessage" || kind == "agentMessage" {
			texts.WriteString(text + "\x00")
		}
		if middle := len(text) / 2; len(terms) < 6 && middle > 2 {
			terms[strings.ToValidUTF8(text[middle-2:middle+2], "")] = true
		}
	}
	delete(terms, "")
	for term := range terms {
		in := core.SearchOccurrences{Term: strings.ToUpper(term), Limit: &most}
		found, _ := ask(in).(protocol.ThreadSearchOccurrencesResponse)
		page := 250
		w.same("occurrences of "+term, encode(min(strings.Count(texts.String(), term), page)), encode(len(found.Data)))
		query := protocol.ContextSearchParams{Query: strings.ToUpper(term), IncludeRemoved: true}
		quick := encode(ask(core.SearchContext{Query: &query}))
		query.Query, query.Regex = regexp.QuoteMeta(query.Query), true
		w.same("items with "+term, encode(ask(core.SearchContext{Query: &query})), quick)
	}
}

// continueLoad loads the first lines, and the others from a snapshot of these on.
func (w *checker) continueLoad(m *machine) *core.Loading {
	first := len(m.lines) * int(1+m.thread.ContextRevision()%4) / 4
	var raw bytes.Buffer
	if err := loadAgain(m.settings, m.lines[:first]).Snapshot(&raw); err != nil {
		if !strings.Contains(err.Error(), "a revert of thread") {
			w.report("no snapshot is made: %v", err)
		}
		return loadAgain(m.settings, m.lines)
	}
	l, ok := core.ContinueLoad(m.settings, onDisk(m.lines), raw.Bytes())
	if !ok {
		w.report("a snapshot is not taken")
		return loadAgain(m.settings, m.lines)
	}
	for i := range m.lines[first:] {
		l.Apply(&m.lines[first+i])
	}
	return l
}

// loadAgain loads lines that are gone once they were applied, and can be read again.
func loadAgain(settings core.Settings, lines []protocol.RolloutLine) *core.Loading {
	l := core.BeginLoad(threadID, settings, onDisk(lines))
	for _, line := range lines {
		line.Payload = bytes.Clone(line.Payload)
		l.Apply(&line)
		for i := range line.Payload {
			line.Payload[i] = '#'
		}
	}
	return l
}

type onDisk []protocol.RolloutLine

// Payload returns the payload of a line.
func (d onDisk) Payload(n int) json.RawMessage { return bytes.Clone(d[n].Payload) }

// Peek returns the payload with its line.
func (d onDisk) Peek(n int) []byte { return fmt.Appendf(nil, `{"payload":%s}`, d[n].Payload) }

// checkInProgress checks that the timeline has the items that were announced and are not completed, with what clients
// have received of them.
func (w *checker) checkInProgress(m *machine) {
	has := map[string]bool{}
	for _, entry := range pageOf(m.thread, nil, 1).InProgress {
		shown := gjson.Parse(encode(entry.Item))
		id, text := shown.Get("id").String(), shown.Get("text").String()+shown.Get("aggregatedOutput").String()
		has[id] = true
		item := w.items[id]
		if item == nil || item.done || item.turn != entry.TurnID {
			w.report("item %s is shown in progress", id)
			continue
		}
		if item.kind == "reasoning" {
			text = allTexts(shown.Get("summary")) + allTexts(shown.Get("content"))
		}
		whole := item.text + item.content
		isCut := item.kind == "commandExecution" && len(whole) > toolspec.MaxOutput
		if item.kind != "plan" && !isCut && text != whole {
			w.report("item %s has %.100q so far, and clients have %.100q", id, text, whole)
		}
	}
	dropped := func(item *itemState) bool { // with its request, which failed or was cancelled
		streams := slices.Contains([]string{"agentMessage", "plan", "reasoning", "webSearch"}, item.kind)
		return streams && item.request != nil && item.request.isOver()
	}
	for id, item := range w.items {
		if turn := w.turns[item.turn]; !item.done && turn && !has[id] && !dropped(item) {
			w.report("item %s (%s) is in progress, and not shown so", id, item.kind)
		}
	}
}

func (w *checker) checkLoaded(m *machine, loaded *core.Thread) {
	if !w.overridden {
		w.same("settings", encode(storable(m.thread.Settings())), encode(storable(loaded.Settings())))
		w.same("view", viewOf(m, m.thread), viewOf(m, loaded))
		w.same("timeline", encode(pageOf(m.thread, nil, most).Data), encode(pageOf(loaded, nil, most).Data))
	}
	if !w.overridden && !w.unsaved {
		w.same("context items", encode(m.thread.ContextItems().Items), encode(loaded.ContextItems().Items))
	}
	w.same("resumable turn", encode(m.thread.Waits() || m.thread.Resumable()), encode(loaded.Resumable()))
	if w.sameModel(m.thread, loaded) {
		w.same("prompt items", encode(m.thread.Prompt().Items), encode(loaded.Prompt().Items))
	}
	w.same("instructions", withoutSkills(m.thread), withoutSkills(loaded))
}

// withoutSkills returns the instructions without what the world offers: like the tools, a turn
// brings that along.
func withoutSkills(t *core.Thread) string {
	before, _, _ := strings.Cut(t.Prompt().Instructions, "\n\n"+core.SkillsText([]core.Skill{{}})[:20])
	return before
}

// sameModel reports whether both send to one model. After a resume that names another one, the lines still name the
// former, and other reasoning goes back to it.
func (w *checker) sameModel(live, loaded *core.Thread) bool {
	return !w.overridden || live.Settings().Model == loaded.Settings().Model
}

func (w *checker) same(what, live, loaded string) {
	if live != loaded && canonical(live) != canonical(loaded) {
		w.report("%s: the lines bring back something else\nlive:   %s\nloaded: %s", what, live, loaded)
	}
}

// canonical returns the same JSON for the same value, however its strings are escaped.
func canonical(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return encode(v)
}

// storable returns the settings without what differs between nil and empty only.
func storable(s core.Settings) any {
	return []any{s, s.Sandbox.Stored()}
}

// viewOf returns the thread's view without its status, its active turn, and the parts without a line.
func viewOf(m *machine, t *core.Thread) string {
	v := t.View(true)
	v.Status = protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusIdle{}}
	for i := range v.Turns {
		if v.Turns[i].ID == m.thread.ActiveTurn() {
			v.Turns[i].Status = protocol.TurnInProgress
			v.Turns[i].Items = slices.DeleteFunc(v.Turns[i].Items, underWay)
		}
	}
	return encode(v)
}

// underWay reports whether a command, a patch or a client's tool runs, or waits for an approval.
func underWay(item protocol.ThreadItem) bool {
	switch v := item.ThreadItemVariant.(type) {
	case *protocol.CommandExecutionItem:
		return v.Status == protocol.CommandInProgress
	case *protocol.FileChangeItem:
		return v.Status == protocol.PatchInProgress
	case *protocol.McpToolCallItem:
		return v.Status == protocol.McpCallInProgress
	case *protocol.DynamicToolCallItem:
		return v.Status == protocol.DynamicToolInProgress
	}
	return false
}

func encode(v any) string {
	b, err := protocol.Marshal(v)
	if err != nil {
		return "cannot be encoded: " + err.Error()
	}
	return string(b)
}
