package core_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
)

// contextChecker compares a thread's context with a model of it, after every step.
type contextChecker struct {
	draft protocol.ThreadCompactProposeResponse
	*checker
	model *contextModel
	// list is the list of items before the step.
	list []protocol.ContextItem
	// tokens is the cost of the next request.
	tokens int64
	// pruned are the turns before the latest trim point.
	pruned map[string]bool
	aside  map[string]bool // the items of encrypted compactions that are not sent
	// copy is the list of a client that receives changes only.
	copy []protocol.ContextItem
}

// restarted reads the lines anew, as the thread does; the client reads the list.
func (w *contextChecker) restarted(m *machine) {
	w.model, w.list, w.copy = modelOf(m.lines), nil, nil
	if len(m.lines) == 0 {
		return // a Start comes, with the options
	}
	w.list = m.thread.ContextItems().Items
	w.copy = append(w.copy, w.list...)
	w.pruned, w.aside = prunedTurns(m.thread), w.model.asideItems()
	w.checkList(m)
	w.checkPlain(m)
}

// check checks one step.
func (w *contextChecker) check(m *machine, in core.Input, out core.Output) {
	revision, edits := w.model.revision, len(w.model.journal)
	lines := out.Lines
	for ; isEdit(in) && len(lines) > 0 && lines[0].Type != protocol.LineContextEdit; lines = lines[1:] {
		w.model.read(&lines[0]) // the end of a turn that a crash cut off
	}
	expected := w.expect(m, in, out)
	expected.lines = expected.lines ||
		slices.ContainsFunc(out.Lines, func(l protocol.RolloutLine) bool { return cuts(l) || trusted(in, l) })
	for i := range lines {
		if line := &lines[i]; line.Type != protocol.LineContextEdit || trusted(in, *line) {
			w.model.read(line)
		} else {
			w.model.line = w.model.next
			w.model.next++
			expected.make()
		}
	}
	if w.model.revision != revision != expected.lines {
		w.report("the context has revision %d after %T, had %d, and %d edits, had %d: %+v", w.model.revision, in, revision,
			len(w.model.journal), edits, expected)
	}
	w.checkAnswer(in, out, expected)
	if len(out.Lines) > 0 {
		w.checkReplay(m)
	}
	before, was := w.tokens, w.list
	w.checkList(m)
	w.checkCompaction(out, was, w.list)
	w.checkDraft(in, out)
	w.checkCut(in, out, was, w.pruned, w.list)
	w.pruned, w.aside = prunedTurns(m.thread), w.model.asideItems()
	switch in.(type) {
	case core.Resume, core.ToolsKnown: // settings and tools change the tokens as well
	default:
		w.checkSaved(out, before-w.tokens)
	}
	for _, message := range out.Messages {
		if c, ok := message.(core.ContextChanged); ok {
			w.updateCopy(m, c)
		}
	}
	for _, e := range slices.Backward(out.Effects) {
		if sample, ok := e.(core.ModelRequest); ok {
			if sample.Prompt.Summarises || slices.Contains(out.Effects, core.Effect(core.Cancel{ID: sample.ID})) {
				continue
			}
			if sample.Prompt.Instructions == core.ReviewInstructions {
				w.checkReview(sample.Prompt.Items)
				break
			}
			w.checkWindow(m)
			w.checkPrompt("a request", sample.Prompt.Items)
			break // one before it had less
		}
	}
	if m.thread.ActiveTurn() == "" && len(out.Lines) > 0 {
		w.checkPlain(m)
	}
	w.checkWorld(m, in, out)
}

func isEdit(in core.Input) bool {
	switch in.(type) {
	case core.EditContext, core.ApplyContext, core.UndoContext, core.RedoContext, core.RestoreContext,
		core.GotoContext, core.SummarizeContext:
		return true
	}
	return false
}

// checkReplay checks that the lines bring back the model that the operations made.
func (w *contextChecker) checkReplay(m *machine) {
	replayed := modelOf(m.lines)
	replayed.sentTo = w.model.sentTo
	if !reflect.DeepEqual(w.model, replayed) {
		w.report("the lines make another context\nmeant: %+v\nlines: %+v", *w.model, *replayed)
	}
}

// checkList checks the list, and all that must agree with it.
func (w *contextChecker) checkList(m *machine) {
	w.model.sentTo = m.thread.Settings().Model
	full := m.thread.ContextItems()
	if !w.overridden && !w.unsaved {
		loaded := core.Load(threadID, m.options, m.settings, m.lines)
		loaded.OfferAs(m.thread)
		w.same("context items", encode(full), encode(loaded.ContextItems()))
	}
	if full.Revision != w.model.revision || m.thread.ContextRevision() != w.model.revision {
		w.report("the context has revision %d, not %d", full.Revision, w.model.revision)
	}
	w.checkItems(full)
	w.checkUsage(m, full)
	w.checkPrompt("the prompt", m.thread.Prompt().Items)
	w.list, w.tokens = full.Items, full.Usage.PromptTokens
}

// checkSaved checks the saved tokens in the line of an edit.
func (w *contextChecker) checkSaved(out core.Output, saved int64) {
	if len(out.Lines) != 1 || out.Lines[0].Type != protocol.LineContextEdit ||
		gjson.GetBytes(out.Lines[0].Payload, "target").Exists() {
		return
	}
	if told := gjson.GetBytes(out.Lines[0].Payload, "saved_tokens").Int(); told != saved {
		w.report("an edit says that it saved %d tokens, but saved %d", told, saved)
	}
}

func (w *contextChecker) checkItems(full protocol.ContextItemsNotification) {
	var want, got []string
	for _, place := range w.model.inOrder() {
		if i := w.model.items[place]; i.listed() {
			want = append(want, fmt.Sprintf("%d %s included=%v inPrompt=%v %s", len(want), i.id, !i.excluded,
				w.model.inPrompt(i), encode(i.shown())))
		}
	}
	for _, i := range full.Items {
		got = append(got, fmt.Sprintf("%d %s included=%v inPrompt=%v %s", i.Index, i.ID, i.Included,
			i.InPrompt, encode(i.ContextItemMarks)))
	}
	if !slices.Equal(want, got) || full.Total != len(want) {
		w.report("%d items, not\n%s\nbut\n%s", full.Total, strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// checkUsage checks that the usage is what the items cost.
func (w *contextChecker) checkUsage(m *machine, full protocol.ContextItemsNotification) {
	u := full.Usage
	tokens, bytes, sent := int64(0), int64(0), int64(0)
	for _, i := range full.Items {
		tokens, bytes = tokens+i.Tokens, bytes+i.Bytes
		if i.InPrompt {
			sent += i.Tokens
		}
	}
	placeholders, noted := int64(0), false
	for _, i := range w.model.items {
		if i.isOutput() && !i.kept() && w.model.remains(i) {
			placeholders, noted = placeholders+1, noted || i.note != ""
		}
	}
	if tokens != u.TotalTokens || bytes != u.TotalBytes {
		w.report("the items have %d tokens and %d bytes, the usage says %d and %d", tokens, bytes, u.TotalTokens,
			u.TotalBytes)
	}
	if rest := u.IncludedTokens - sent; placeholders == 0 && rest != 0 || placeholders > 0 &&
		(rest <= 0 || !noted && rest%placeholders != 0) {
		w.report("the items in the prompt have %d tokens, the usage says %d, with %d placeholders", sent, u.IncludedTokens,
			placeholders)
	}
	count, rows := 0, [2]int64{}
	for _, row := range u.ByCategory {
		count, rows[0], rows[1] = count+row.Count, rows[0]+row.Tokens, rows[1]+row.IncludedTokens
	}
	if count != len(full.Items) || rows[0] != u.TotalTokens || rows[1] != u.IncludedTokens {
		w.report("the categories make %d items of %d and %d tokens: %s", count, rows[0], rows[1], encode(u))
	}
	if u.PromptTokens < u.IncludedTokens || u.PromptTokens != m.thread.PromptTokens() {
		w.report("a request of %d tokens holds items of %d", u.PromptTokens, u.IncludedTokens)
	}
}

// checkReview checks that a reviewer receives nothing of the thread's conversation.
func (w *contextChecker) checkReview(items []protocol.ResponseItem) {
	said := w.model.prompt()
	for _, item := range items {
		text := canonical(encode(item))
		if slices.Contains(said, text) && !strings.Contains(text, "<environment_context>") &&
			!strings.Contains(text, "<user_instructions>") {
			w.report("a reviewer hears of the thread: %s", text)
		}
	}
}

func (w *contextChecker) checkPrompt(what string, items []protocol.ResponseItem) {
	got := []string{}
	for _, item := range items {
		got = append(got, canonical(encode(item)))
	}
	if want := w.model.prompt(); !slices.Equal(want, got) {
		w.report("%s is not\n%s\nbut\n%s", what, strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// updateCopy updates the client's copy by a notification: it removes items, and puts each new item at its
// index.
func (w *contextChecker) updateCopy(m *machine, c core.ContextChanged) {
	told, full := m.thread.ContextChanges(c), m.thread.ContextItems()
	if told.Full {
		w.copy = nil
	}
	for _, id := range told.RemovedIDs {
		at := w.inCopy(id)
		if at < 0 {
			w.report("%s is told to be gone, but was not there", id)
			continue
		}
		w.copy = slices.Delete(w.copy, at, at+1)
	}
	for _, item := range told.Items {
		if at := w.inCopy(item.ID); at >= 0 {
			w.copy[at] = item
		} else {
			w.copy = slices.Insert(w.copy, min(item.Index, len(w.copy)), item)
		}
	}
	for i := range w.copy {
		w.copy[i].Index = i
	}
	w.same("what a client makes of the changes", encode(append([]protocol.ContextItem{}, w.copy...)), encode(full.Items))
	if told.Total != full.Total || told.Revision != full.Revision {
		w.report("%d changed items of revision %d are told as %d of %d", full.Total, full.Revision, told.Total, told.Revision)
	}
	w.same("usage", encode(told.Usage), encode(full.Usage))
}

func (w *contextChecker) inCopy(id string) int {
	return slices.IndexFunc(w.copy, func(i protocol.ContextItem) bool { return i.ID == id })
}

// checkPlain checks that a reader that knows nothing of edits sends its model the same.
func (w *contextChecker) checkPlain(m *machine) {
	project := m.thread.Projection()
	if project == nil && disordered(m.lines) {
		return
	}
	var plain []protocol.RolloutLine
	for i, line := range m.lines {
		if line.Ordinal == nil { // package rollout gives each line one
			line.Ordinal = new(nextOrdinal(m.lines[:i]))
		}
		keep := true
		if project != nil && keep {
			line, keep = project(line)
		}
		if keep && !ours(line.Type) {
			plain = append(plain, line)
		}
	}
	loaded := core.Load(threadID, m.options, m.settings, plain)
	if w.sameModel(m.thread, loaded) {
		w.same("the prompt of a plain reader", encode(m.thread.Prompt().Items),
			encode(w.withoutForeign(loaded.Prompt().Items)))
	}
}

// withoutForeign returns items without the reasoning that other models made. The list that a plain reader has for a
// trim does not name the models.
func (w *contextChecker) withoutForeign(items []protocol.ResponseItem) []protocol.ResponseItem {
	return slices.DeleteFunc(items, func(item protocol.ResponseItem) bool {
		body := canonical(encode(item))
		return slices.ContainsFunc(w.model.items, func(i modelItem) bool {
			return i.kind == "reasoning" && i.body == body && !w.model.isOfDestination(i)
		})
	})
}

// ours reports whether plain readers ignore lines of a type.
func ours(kind string) bool {
	return kind == protocol.LineContextEdit || kind == protocol.LineTrimPoint || kind == protocol.LineProviderSession
}

// disordered reports whether ordinals do not identify lines.
func disordered(lines []protocol.RolloutLine) bool {
	next := int64(0)
	return slices.ContainsFunc(lines, func(line protocol.RolloutLine) bool {
		next++
		if line.Ordinal == nil {
			return false
		}
		falls := *line.Ordinal < next-1 || *line.Ordinal >= 1<<53
		next = max(next, *line.Ordinal+1)
		return falls
	})
}

// checkWorld checks that a turn begins with a current description of the environment, and without
// repetition.
func (w *contextChecker) checkWorld(m *machine, in core.Input, out core.Output) {
	start, ok := in.(core.TurnStart)
	if !ok || len(out.Lines) == 0 || !slices.ContainsFunc(out.Lines, begins) {
		return
	}
	var told []string
	unwanted := false
	for _, i := range w.model.items {
		text := gjson.Get(i.body, "content.0.text").Str
		switch about := i.role == protocol.RoleUser && !gjson.Get(i.body, "id").Exists() &&
			strings.HasPrefix(text, "<environment_context>"); {
		case about && !i.hidden:
			told = append(told, text)
		case about:
			unwanted = unwanted || i.deleted || i.excluded
		}
	}
	s := m.thread.Settings()
	if len(told) == 0 && unwanted {
		return // the user took it out, and the turn began with a compaction, which hid it
	}
	if len(told) == 0 {
		w.report("the model is told nothing of its surroundings")
		return
	}
	for _, want := range []string{"<current_date>" + start.Env.Date + "<", "<approval_policy>" + s.ApprovalPolicy.Mode +
		"<"} {
		if !strings.Contains(told[len(told)-1], want) {
			w.report("the model was told last: %s, not %s", told[len(told)-1], want)
		}
	}
	again := slices.ContainsFunc(out.Lines, func(line protocol.RolloutLine) bool {
		return gjson.GetBytes(line.Payload, "content.0.text").Str == told[len(told)-1]
	})
	if n := len(told); again && n > 1 && told[n-2] == told[n-1] {
		w.report("the model is told twice: %s", told[n-1])
	}
}

func begins(line protocol.RolloutLine) bool {
	return gjson.GetBytes(line.Payload, "type").Str == protocol.EventTaskStarted
}
