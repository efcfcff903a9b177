package core_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"appserver/core"
	"appserver/protocol"
	"appserver/test/sample"
)

// TestAnyEdits draws mostly edits of the context, during turns, crashes, compactions and full disks. A
// model of the context checks every step.
func TestAnyEdits(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		actions := e.actions()
		for name, do := range map[string]func(*rapid.T){
			"edit 2": e.edit, "edit 3": e.edit, "edit 4": e.edit, "undo 2": e.undo, "undo 3": e.undo, "redo 2": e.redo,
			"redo 3": e.redo, "trim 2": e.trim, "return 2": e.bringBack, "return 3": e.bringBack,
			"effect ends 2": e.finish, "effect ends 3": e.finish, "foreign": e.foreign, "foreign 2": e.foreign, "disk": e.fill,
			"previewEdits": e.previewEdits,
		} {
			actions[name] = do
		}
		t.Repeat(actions)
		e.full = false
		e.end()
	})
}

// TestUndoBringsBackThePrompt undoes an edit right after it was made: the next request
// is the same to the byte, and what it costs; a redo makes it what the edit made it.
func TestUndoBringsBackThePrompt(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		t.Repeat(e.actions())
		if e.midCut() {
			return // the edit writes that the turn was cut, too
		}
		before, edits := e.state(), e.thread.ContextRevision()
		if e.edit(t); e.thread.ContextRevision() == edits {
			return
		}
		after := e.state()
		e.take(core.UndoContext{To: e.caller()})
		if got := e.state(); got != before {
			t.Fatalf("undone:\n%s\nbefore:\n%s", got, before)
		}
		e.take(core.RedoContext{To: e.caller()})
		if got := e.state(); got != after {
			t.Fatalf("made again:\n%s\nafter:\n%s", got, after)
		}
	})
}

// TestAppliedEditsEqualSingleOnes applies edits at once, undoes them, and makes them one by one: the
// context is the same. If one of them is refused, nothing is applied.
func TestAppliedEditsEqualSingleOnes(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		t.Repeat(e.actions())
		if e.midCut() {
			return // an edit writes that the turn was cut, too
		}
		operations, before, revision := e.operations(t), e.state(), e.thread.ContextRevision()
		told, err := e.told(nil, operations)
		refused := refuses(e.take(core.ApplyContext{To: e.caller(), Operations: operations}))
		if got := encode(e.thread.Prompt().Items); refused != (err != nil) || !refused && got != told {
			t.Fatalf("the prompt after the edits:\n%s\nnot:\n%s", got, told)
		}
		applied, made := e.state(), e.thread.ContextRevision()-revision
		if refused && (made > 0 || applied != before) || made > 1 || made == 0 && applied != before {
			t.Fatalf("%d edits are made, refused: %v", made, refused)
		}
		if made > 0 {
			e.take(core.UndoContext{To: e.caller()})
			undone := e.state()
			e.take(core.RedoContext{To: e.caller()})
			if again := e.state(); undone != before || again != applied {
				t.Fatalf("before:\n%s\nundone:\n%s\napplied:\n%s\nredone:\n%s", before, undone, applied, again)
			}
			e.take(core.UndoContext{To: e.caller()})
		}
		any := false
		for _, o := range operations {
			out := e.take(core.EditContext{To: e.caller(), Operation: o.ContextOperationVariant})
			any = any || refuses(out)
		}
		if single := e.state(); any != refused || !refused && single != applied {
			t.Fatalf("refused: %v, one by one: %v\napplied:\n%s\none by one:\n%s", refused, any, applied, single)
		}
	})
}

// TestGotoBringsBackEachRevision makes edits, and goes back and forth between their revisions: the context
// is as each edit left it.
func TestGotoBringsBackEachRevision(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		t.Repeat(e.actions())
		if e.midCut() {
			return // an edit writes that the turn was cut, too
		}
		states, revisions := map[int64]string{}, []int64{}
		for range rapid.IntRange(1, 5).Draw(t, "edits") {
			before := e.thread.ContextRevision()
			rapid.SampledFrom([]func(*rapid.T){e.edit, e.edit, e.apply, e.restore, e.trim}).Draw(t, "edit")(t)
			if revision := e.thread.ContextRevision(); revision > before {
				states[revision], revisions = e.state(), append(revisions, revision)
			}
		}
		for range min(4, len(revisions)*2) {
			to := rapid.SampledFrom(revisions).Draw(t, "revision")
			told, _ := e.told(&to, nil)
			if out := e.take(core.GotoContext{To: e.caller(), Revision: to}); refuses(out) || e.state() != states[to] {
				t.Fatalf("revision %d:\n%s\nnot:\n%s", to, e.state(), states[to])
			}
			if got := encode(e.thread.Prompt().Items); got != told {
				t.Fatalf("the prompt of revision %d:\n%s\nnot:\n%s", to, got, told)
			}
		}
	})
}

func refuses(out core.Output) bool {
	return slices.ContainsFunc(out.Messages, func(m core.Message) bool {
		_, refusal := m.(core.Refusal)
		return refusal
	})
}

// told returns the prompt of the context at a revision or after operations. Asking for it changes nothing.
func (e *explorer) told(revision *int64, operations []protocol.ContextOperation) (string, *protocol.Error) {
	before := e.state()
	at, err := e.thread.At(revision, operations)
	if err != nil {
		return "", err
	}
	told := encode(at.Prompt().Items)
	if after := e.state(); after != before {
		e.checker.report("the context changed from:\n%s\nto:\n%s", before, after)
	}
	return told, nil
}

// state returns the next request and the list of the context, without the revision.
func (e *explorer) state() string {
	full := e.thread.ContextItems()
	return encode(e.thread.Prompt().Items) + encode(full.Items) + encode(full.Usage)
}

// contextActions returns the actions of clients on a context, for explorers.
func (e *explorer) contextActions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"context/edit": e.edit, "context/apply": e.apply, "context/goto": e.goTo, "context/undo": e.undo, "context/redo": e.redo, "context/restore": e.restore,
		"revert": e.revert, "revert/undo": e.undoRevert, "revert and undo": e.revertAndUndo, "trim": e.trim, "summarize": e.summarize, "context/read": e.readContext,
		"context/preview": e.preview, "compacted": e.compact, "return": e.bringBack,
	}
}

func (e *explorer) edit(t *rapid.T) {
	e.run(t, core.EditContext{To: e.caller(), Expected: e.expected(t), Operation: e.operation(t)})
}

func (e *explorer) apply(t *rapid.T) {
	e.run(t, core.ApplyContext{To: e.caller(), Expected: e.expected(t), Operations: e.operations(t),
		AtTurnEnd: rapid.Bool().Draw(t, "turnEnd")})
}

func (e *explorer) goTo(t *rapid.T) {
	e.run(t, core.GotoContext{To: e.caller(), Expected: e.expected(t),
		Revision: rapid.Int64Range(-1, e.thread.ContextRevision()+1).Draw(t, "revision")})
}

func (e *explorer) undo(t *rapid.T) {
	e.run(t, core.UndoContext{To: e.caller(), Expected: e.expected(t)})
}

func (e *explorer) redo(t *rapid.T) {
	e.run(t, core.RedoContext{To: e.caller(), Expected: e.expected(t)})
}

func (e *explorer) restore(t *rapid.T) {
	e.run(t, core.RestoreContext{To: e.caller(), Expected: e.expected(t)})
}

func (e *explorer) trim(t *rapid.T) {
	in := core.TrimContext{To: e.caller(), KeepLast: rapid.Uint32Range(0, 4).Draw(t, "keep")}
	if rapid.Bool().Draw(t, "summarized") {
		in.Summary = new(rapid.SampledFrom([]string{"What was.", " ", "old words"}).Draw(t, "summary"))
	}
	e.run(t, in)
}

// revert takes back one turn, mostly.
func (e *explorer) revert(t *rapid.T) {
	in := core.Revert{To: e.caller(), Last: rapid.SampledFrom([]uint32{1, 1, 1, 2, 9}).Draw(t, "turns")}
	if turns := e.thread.View(true).Turns; len(turns) > 0 && rapid.Bool().Draw(t, "named") {
		in.Before = &turns[rapid.IntRange(max(len(turns)-2, 0), len(turns)-1).Draw(t, "turn")].ID
	}
	e.run(t, in)
}

func (e *explorer) undoRevert(t *rapid.T) {
	in := core.UndoRevert{To: e.caller()}
	if rapid.IntRange(0, 5).Draw(t, "other turn") == 0 {
		in.Expected = new("id-1")
	}
	e.run(t, in)
}

// updated matches the time of the last line.
var updated = regexp.MustCompile(`"(updatedAt|recencyAt)":\d+,`)

// revertAndUndo reverts and undoes that, and finds all as before.
func (e *explorer) revertAndUndo(t *rapid.T) {
	e.run(t, core.ReleaseTurn{})
	turns := len(e.thread.View(true).Turns)
	if e.thread.TurnUnderWay() != nil || turns == 0 {
		return
	}
	e.run(t, core.Revert{To: e.caller()}) // closes the last turn, and reverts none
	all := func() string {
		undo, redo := e.thread.UndoRedo()
		return strings.Join([]string{
			e.state(), updated.ReplaceAllString(viewOf(e.machine, e.thread), ""), encode(pageOf(e.thread, nil, most)),
			fmt.Sprint(undo, redo),
		}, "\n")
	}
	before := all()
	for range rapid.IntRange(1, 2).Draw(t, "reverts") {
		e.run(t, core.Revert{To: e.caller(), Last: 1})
	}
	for len(e.thread.View(true).Turns) < turns {
		e.run(t, core.UndoRevert{To: e.caller()})
	}
	e.checker.same("state before a revert and after its undo", before, all())
}

func (e *explorer) summarize(t *rapid.T) {
	in := core.SummarizeContext{To: e.caller(),
		Summary: rapid.SampledFrom([]string{"More of what was.", ""}).Draw(t, "summary")}
	if points := e.thread.View(false).ContextTrimPoints; len(points) > 0 && rapid.Bool().Draw(t, "named") {
		in.Point = &points[rapid.IntRange(0, len(points)-1).Draw(t, "point")].ID
	} else if rapid.IntRange(0, 4).Draw(t, "unknown") == 0 {
		in.Point = new("no point")
	}
	e.run(t, in)
}

func (e *explorer) fill(*rapid.T) { e.full = !e.full }

// expected returns nil in most cases, else the right revision.
func (e *explorer) expected(t *rapid.T) *int64 {
	return rapid.SampledFrom([]*int64{nil, nil, nil, new(e.thread.ContextRevision()), new(e.thread.ContextRevision()),
		new(int64(1))}).Draw(t, "expected")
}

func (e *explorer) operation(t *rapid.T) protocol.ContextOperationVariant {
	o := sample.Operations{
		Int:     func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) },
		Targets: func() protocol.ContextTargets { return e.targets(t) },
	}
	for _, turn := range e.thread.View(true).Turns {
		o.Turns = append(o.Turns, turn.ID)
	}
	return o.Draw(t)
}

// targets draws items, by ids, indices or both, some of them invalid or not in the list.
func (e *explorer) targets(t *rapid.T) (named protocol.ContextTargets) {
	list := e.thread.ContextItems().Items
	ids := []string{"r0", "r99999", "", "r-1", "r01", "r5.0", "x"}
	for _, item := range list {
		ids = append(ids, item.ID, item.ID)
	}
	ids = append(ids, e.removed()...)
	form := rapid.IntRange(0, 9).Draw(t, "form")
	if form < 5 || form == 8 {
		named.IDs = rapid.SliceOfN(rapid.SampledFrom(ids), 0, 5).Draw(t, "ids")
	}
	if form >= 5 && form < 9 {
		named.Indices = rapid.SliceOfN(rapid.Int64Range(-1, int64(len(list))), 0, 5).Draw(t, "indices")
	}
	return named
}

func (e *explorer) readContext(t *rapid.T) {
	e.run(t, rapid.SampledFrom([]core.Input{
		core.GetContextItems{To: e.caller()}, core.GetContextUsage{To: e.caller()}, core.ListContextEdits{To: e.caller()},
	}).Draw(t, "read"))
}

func (e *explorer) operations(t *rapid.T) (list []protocol.ContextOperation) {
	for range rapid.IntRange(1, 3).Draw(t, "operations") {
		list = append(list, protocol.ContextOperation{ContextOperationVariant: e.operation(t)})
	}
	return list
}

func (e *explorer) preview(t *rapid.T) {
	e.run(t, previewOf(e.caller(), e.operations(t)))
}

func previewOf(to protocol.Caller, operations []protocol.ContextOperation) core.PreviewContext {
	return core.PreviewContext{To: to, Operations: operations, Cache: cacheFacts(0.1)}
}

// previewEdits previews edits and then applies them: the usage equals the preview.
func (e *explorer) previewEdits(t *rapid.T) {
	if e.full || e.midCut() {
		return
	}
	operations, told := e.operations(t), ""
	before := encode(e.thread.ContextItems().Usage)
	for _, message := range e.take(previewOf(e.caller(), operations)).Messages {
		if reply, ok := message.(core.Reply); ok {
			told = encode(reply.Result)
		}
	}
	if told == "" {
		return
	}
	for _, o := range operations {
		e.take(core.EditContext{To: e.caller(), Operation: o.ContextOperationVariant})
	}
	after := encode(e.thread.ContextItems().Usage)
	if gjson.Get(told, "before").Raw != before || gjson.Get(told, "after").Raw != after {
		t.Fatalf("told:  %s\nbefore %s\nafter  %s", told, before, after)
	}
}

// midCut reports whether the next line comes after the lines that close an interrupted turn.
func (e *explorer) midCut() bool { return cutTurn(e.lines) != "" && e.thread.ActiveTurn() == "" }

// put puts a line of another program into the rollout, and loads it.
func (e *explorer) put(t *rapid.T, kind, payload string) {
	e.lines = append(e.lines,
		protocol.RolloutLine{Timestamp: protocol.Timestamp(e.now), Ordinal: new(nextOrdinal(e.lines)), Type: kind,
			Payload: json.RawMessage(payload)})
	e.crash(t)
}

func (e *explorer) compact(t *rapid.T) {
	payload := `{"message":"A summary."}`
	if rapid.Bool().Draw(t, "encrypted") {
		payload = `{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"old words"}]},{"type":"compaction","encrypted_content":"xyz"}]}`
	} else if rapid.Bool().Draw(t, "replaced") {
		payload = fmt.Sprintf(`{"message":"A summary.","replacement_history":[%s]}`,
			strings.Join(rapid.SliceOfN(foreignItems, 0, 4).Draw(t, "items"), ","))
	}
	e.put(t, protocol.LineCompacted, payload)
}

func (e *explorer) foreign(t *rapid.T) {
	for range rapid.IntRange(0, 3).Draw(t, "more") {
		e.lines = append(e.lines,
			protocol.RolloutLine{Type: protocol.LineResponseItem, Ordinal: new(nextOrdinal(e.lines)),
				Payload: json.RawMessage(foreignItems.Draw(t, "item"))})
	}
	e.put(t, protocol.LineResponseItem, foreignItems.Draw(t, "item"))
}

// foreignItems are items as other programs write them, some with ids that others have.
var foreignItems = rapid.SampledFrom([]string{
	`{"type":"message","role":"user","content":[{"type":"input_text","text":"A summary."}]}`,
	`{"type":"message","role":"user","content":[{"type":"input_text","text":"old words"}]}`,
	`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"old answer"}]}`,
	`{"type":"message","role":"developer","content":[{"type":"input_text","text":"be brief"}]}`,
	`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`,
	`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"xyz"}`,
	`{"type":"function_call","name":"view","arguments":"{}","call_id":"f3","provider_echo":{"model_provider":"p","model":"m","reasoning_member":"reasoning"}}`,
	`{"type":"message","role":"assistant","content":[],"provider_echo":{"model_provider":"p","model":"m","reasoning_member":"reasoning_content"}}`,
	`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"f1"}`,
	`{"type":"function_call_output","call_id":"f1","output":"a b c"}`,
	`{"type":"function_call_output","call_id":"f1","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:,"}]}`,
	`{"type":"function_call","name":"view","arguments":"","call_id":"f2"}`,
	`{"type":"function_call","name":"view","arguments":{"a":1},"call_id":"f2"}`,
	`{"type":"function_call_output","call_id":"f2","output":7}`,
	`{"type":"function_call_output","call_id":"f2","output":"two"}`,
	`{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"c1"}`,
	`{"type":"custom_tool_call_output","call_id":"c1","output":"Done!"}`,
	`{"type":"local_shell_call","call_id":"l1","status":"completed","action":{"type":"exec","command":["ls","-l"]}}`,
	`{"type":"function_call_output","call_id":"l1","output":"listed"}`,
	`{"type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}`,
	`{"type":"function_call","name":"noid","arguments":""}`,
	`{"type":"message","role":"user","content":7}`,
})
