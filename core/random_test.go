package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"appserver/core"
	"appserver/core/pure/compaction"
	"appserver/core/pure/filechanges"
	"appserver/core/pure/history"
	"appserver/protocol"
	"appserver/test/sample"
)

// TestAnyInputs draws any inputs in any order: requests at any time, effects that continue, fail and
// end, late, invalid and unrelated responses, and crashes. The checker checks every step. At the end
// all effects end, and with them the turn.
func TestAnyInputs(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		t.Repeat(e.actions())
		e.end()
	})
}

// TestAnyInputsOnAFullDisk is the same with a disk that fills and empties.
func TestAnyInputsOnAFullDisk(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		actions := e.actions()
		actions["disk"] = func(t *rapid.T) { e.full = !e.full }
		t.Repeat(actions)
		e.full = false
		e.end()
	})
}

// TestAnyCrash cuts the file of a thread after any line, like a crash during an append. The rest loads
// and continues.
func TestAnyCrash(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		actions := e.actions()
		delete(actions, "crash")
		t.Repeat(actions)
		e.lines = e.lines[:rapid.IntRange(1, len(e.lines)).Draw(t, "lines left")]
		e.load()
		e.goOnWith(t)
	})
}

// goOnWith resumes a loaded thread and runs a turn in it.
func (e *explorer) goOnWith(t *rapid.T) {
	e.take(core.Resume{To: e.caller(), Params: &protocol.ThreadResumeParams{ThreadID: threadID}, Env: e.world,
		Settings: e.thread.Settings(), Fresh: true})
	for _, turn := range e.thread.View(true).Turns {
		if turn.Status == protocol.TurnInProgress && (turn.ID != e.thread.ActiveTurn() || !e.thread.Waits()) {
			t.Fatalf("turn %s is still in progress, and does not wait for an answer", turn.ID)
		}
	}
	e.turnStart(t)
	e.end()
}

// explorer draws inputs for a machine.
type explorer struct{ *machine }

func newExplorer(t *rapid.T) *explorer {
	e := &explorer{newMachine(t.Fatalf)}
	e.options.CompletedFloor = rapid.SampledFrom([]time.Duration{0, 50 * time.Millisecond}).Draw(t, "floor")
	e.options.Tokens = rapid.SampledFrom([]history.Tokenizer{nil, guess(1), guess(3)}).Draw(t, "tokens")
	e.settings.ApprovalPolicy.Mode = policies.Draw(t, "policy")
	e.settings.Sandbox = sandboxes.Draw(t, "sandbox").Policy()
	start := e.start(rapid.SampledFrom([]string{protocol.HistoryPaginated, "legacy"}).Draw(t, "history mode"))
	if rapid.Bool().Draw(t, "client tools") {
		start.Meta.DynamicTools = []protocol.DynamicToolSpec{function("ticket", `{"type":"object"}`),
			namespace("tix", "close")}
	}
	e.take(start)
	return e
}

var (
	policies  = rapid.SampledFrom([]string{protocol.ApprovalNever, protocol.ApprovalOnRequest, protocol.ApprovalUntrusted})
	sandboxes = rapid.SampledFrom([]protocol.SandboxMode{protocol.SandboxDangerFullAccess, protocol.SandboxReadOnly,
		protocol.SandboxWorkspaceWrite})
	texts = rapid.SampledFrom([]string{"hello", "", "two\nlines", "ünï → 漢字", "<environment_context>",
		"<user_instructions>\n", `"quoted" \`})
	names = rapid.SampledFrom([]string{"", "c", "d", "call_0"})
	steps = rapid.SampledFrom([]time.Duration{0, 10 * time.Millisecond, 30 * time.Millisecond, time.Second})
	calls = rapid.SampledFrom([]core.ToolCall{
		{Name: "mcp__docs__look", Arguments: `{}`}, {Name: "mcp__docs__write", Arguments: `{"a":1}`},
		{Name: "mcp__docs__wipe", Arguments: `[]`},
		{Name: "mcp__docs__watched"}, {Name: "mcp__docs__free", Arguments: `{}`},
		{Name: "shell", Arguments: `{"command":"touch a"}`}, {Name: "shell", Arguments: `{"command":"rm b","workdir":"sub"}`},
		{Name: "shell", Arguments: `{"command":"ls"}`}, {Name: "shell", Arguments: `{"command":["cat","a b"]}`},
		{Name: "shell", Arguments: `{"command":`},
		{Name: "update_plan", Arguments: `{"plan":[{"step":"one","status":"pending"}]}`},
		{Name: "update_plan", Arguments: `[]`},
		{Name: "view_image", Arguments: `{"path":"a.png"}`}, {Name: "view_image", Arguments: `[]`},
		{Name: "view_image", Arguments: `{}`},
		{Name: "exec_command", Arguments: `{"cmd":"make","tty":true}`}, {Name: "exec_command", Arguments: `{"cmd":"ls"}`},
		{Name: "exec_command", Arguments: `{"cmd":"cat","shell":"zsh","tty":1}`},
		{Name: "write_stdin", Arguments: `{"session_id":9,"chars":"y
"}`}, {Name: "write_stdin", Arguments: `{"session_id":"10"}`},
		{Name: "write_stdin", Arguments: `{"session_id":11,"chars":"\u0003"}`}, {Name: "write_stdin", Arguments: `[]`},
		{Name: "recall", Arguments: `{"query":"hello lines"}`}, {Name: "recall", Arguments: `{"ids":["r5","r7","r8","r12"]}`},
		{Name: "recall", Arguments: `{}`}, {Name: "shell", Arguments: `{"command":"recall r5 r7 r12 hello"}`},
		{Name: "browse", Arguments: `{}`}, {},
		{Name: "ticket", Arguments: `{"id":"7"}`}, {Name: "ticket"}, {Name: "ticket", Arguments: `{"id":`},
		{Name: "tix__close", Arguments: ` [1] `}, {Name: "tix", Arguments: `{}`},
		{Name: "request_user_input", Arguments: anyQuestions}, {Name: "request_user_input", Arguments: anyQuestions},
		{Name: "request_user_input", Arguments: `{"questions":[]}`},
		{Name: "apply_patch",
			Arguments: `{"input":"*** Begin Patch\n*** Update File: f\n*** Move to: a/g\n@@\n-a\n+b\n*** Add File: \u00fc\n*** End Patch"}`},
		{Name: "apply_patch", Arguments: `{"input":"*** Begin Patch\n*** Delete File: d/f\n*** End Patch"}`},
		{Name: "apply_patch", Arguments: `{}`},
		{Name: "shell", Arguments: `{"command":"cd d && apply_patch <<'E'\n*** Begin Patch\n*** Update File: f\n+x\n*** End Patch\nE\n"}`},
	})
)

func (e *explorer) actions() map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){
		"turn/start": e.turnStart, "turn/steer": e.turnSteer, "turn/interrupt": e.turnInterrupt,
		"compact": e.compactNow, "review": e.reviewNow, "own command": e.ownCommand, "propose": e.propose, "commit": e.commit,
		"request": e.request, "answer": e.answer, "world": e.change, "shutdown": e.shutdown, "end turn": e.endTurn,
		"release turn": e.releaseTurn, "crash": e.crash, "server asks": e.serverAsks,
		"piece": e.piece, "effect goes on": e.goOn, "effect goes on again": e.goOn, "effect ends": e.finish,
		"effect ends again": e.finish,
		"late":              e.late, "back": e.back,
	}
	maps.Copy(actions, e.contextActions())
	return actions
}

// run takes an input at a drawn time.
func (e *explorer) run(t *rapid.T, in core.Input) {
	e.advance(steps.Draw(t, "time"))
	e.take(in)
}

func (e *explorer) input(t *rapid.T) []protocol.UserInput {
	in := []protocol.UserInput{}
	for range rapid.IntRange(0, 2).Draw(t, "parts") {
		in = append(in, protocol.UserInput{UserInputVariant: &protocol.TextInput{Text: texts.Draw(t, "text"),
			TextElements: []protocol.TextElement{}}})
	}
	if rapid.Bool().Draw(t, "image") {
		in = append(in, protocol.UserInput{UserInputVariant: &protocol.ImageInput{URL: "https://example.com/a.png"}})
	}
	return in
}

func (e *explorer) turnStart(t *rapid.T) {
	p := &protocol.TurnStartParams{ThreadID: threadID, Input: e.input(t)}
	switch rapid.IntRange(0, 5).Draw(t, "override") {
	case 0:
		p.Model, p.Effort = new(rapid.StringMatching("model-[1-3]").Draw(t, "model")), new("high")
	case 1:
		p.Cwd, p.SandboxPolicy = new("/other dir"), new(sandboxes.Draw(t, "sandbox").Policy())
	case 2:
		p.ApprovalPolicy = &protocol.AskForApproval{Mode: policies.Draw(t, "policy")}
	case 3:
		p.OutputSchema = json.RawMessage(`{"type":"object"}`)
	case 4:
		p.CollaborationMode = anyMode(t)
	}
	e.run(t, core.TurnStart{To: e.caller(), Params: p, Env: e.world, Skills: anySkills(t)})
}

func (e *explorer) turnSteer(t *rapid.T) {
	turn := rapid.SampledFrom([]string{e.thread.ActiveTurn(), e.thread.ActiveTurn(), "id-1"}).Draw(t, "turn")
	e.run(t, core.TurnSteer{To: e.caller(),
		Params: &protocol.TurnSteerParams{ThreadID: threadID, Input: e.input(t), ExpectedTurnID: turn}, Skills: anySkills(t)})
}

func (e *explorer) turnInterrupt(t *rapid.T) {
	turn := rapid.SampledFrom([]string{e.thread.ActiveTurn(), "", "id-1"}).Draw(t, "turn")
	e.run(t, core.TurnInterrupt{To: e.caller(), TurnID: turn})
}

func (e *explorer) request(t *rapid.T) {
	p := &protocol.ThreadResumeParams{ThreadID: threadID, ExcludeTurns: rapid.Bool().Draw(t, "exclude turns"),
		Model: new("model-4")}
	e.run(t, rapid.SampledFrom([]core.Input{
		core.Read{To: e.caller(), IncludeTurns: true},
		core.SetName{To: e.caller(), Name: texts.Draw(t, "name")},
		core.Archive{To: e.caller(), Stored: p.ExcludeTurns},
		core.ListTerminals{To: e.caller()}, core.CleanTerminals{To: e.caller()},
		core.TerminateTerminal{To: e.caller(), ID: "9"},
		core.Resume{To: e.caller(), Params: p, Env: e.world, Settings: e.thread.Settings(),
			Warnings: []string{"careful"}},
	}).Draw(t, "request"))
}

func (e *explorer) ownCommand(t *rapid.T) {
	e.run(t, core.RunUserCommand{To: e.caller(), Script: "make", Timeout: time.Hour, Env: e.world})
}

func (e *explorer) answer(t *rapid.T) {
	in := core.ClientAnswer{Request: rapid.SampledFrom(append(e.thread.OpenRequests(), 0, 99)).Draw(t, "request")}
	if rapid.Bool().Draw(t, "of a server") {
		in.Result = json.RawMessage(rapid.SampledFrom([]string{
			`{"action":"accept"}`, `{"action":"accept","content":{"a":1},"_meta":{"persist":"session"}}`, `{"action":"decline"}`,
			`{"action":"cancel"}`, `{"action":1}`, `[]`,
		}).Draw(t, "action"))
		e.run(t, in)
		return
	}
	word := rapid.SampledFrom([]string{
		`"accept"`, `"acceptForSession"`, `"decline"`, `"cancel"`, `"what?"`, `null`, `{"acceptWithExecpolicyAmendment":{}}`,
		`{"cancel":1,"accept":2}`, "",
	}).Draw(t, "decision")
	in.Result = json.RawMessage(`{"decision":` + word + `}`)
	if rapid.IntRange(0, 2).Draw(t, "of the client's") > 0 {
		in.Result = json.RawMessage(clientAnswers.Draw(t, "answer"))
	}
	if rapid.IntRange(0, 5).Draw(t, "refuse") == 0 {
		in.Result, in.Err = nil, errors.New("method not found")
	}
	e.run(t, in)
}

// change changes what the next turn finds.
func (e *explorer) change(t *rapid.T) {
	e.world.Date = rapid.SampledFrom([]string{"2026-01-02", "2026-01-03"}).Draw(t, "date")
	e.world.Enforced = rapid.Bool().Draw(t, "enforced")
	e.world.ConfinesReading = e.world.Enforced || rapid.Bool().Draw(t, "confines reading")
	e.world.Tracking = core.Tracking{Worktree: rapid.Bool().Draw(t, "checkpoints"), Patches: true,
		Keep: rapid.IntRange(1, 3).Draw(t, "keep")}
	e.world.Capabilities = core.Capabilities{Images: rapid.Bool().Draw(t, "images"),
		Terminals: rapid.Bool().Draw(t, "terminals"), Questions: rapid.Bool().Draw(t, "questions")}
	e.world.Memory = anyRules(t)
	e.changeLimits(t)
	e.world.ToolsPending = rapid.Bool().Draw(t, "pending")
	e.world.Tools = anyTools(t)
	e.world.Instructions = nil
	if rapid.Bool().Draw(t, "instructions") {
		e.world.Instructions = []core.InstructionFile{{Path: "/repo/AGENTS.md", Text: texts.Draw(t, "text")}}
	}
}

// changeLimits draws a window slightly larger than a request, or none, and the action for a full
// window.
func (e *explorer) changeLimits(t *rapid.T) {
	e.world.Provider.ContextWindow = nil
	e.world.Compaction = compaction.Rules{
		Strategy: rapid.SampledFrom([]string{protocol.CompactSummary, protocol.CompactUserMessages, protocol.CompactMask,
			protocol.CompactLocal}).Draw(t, "strategy"),
		KeepTurns: rapid.IntRange(0, 3).Draw(t, "keep"), UserTokens: rapid.Int64Range(0, 200).Draw(t, "words"),
	}
	e.world.Economy = core.EconomyRules{KeepOutputs: 1,
		Mode: rapid.SampledFrom([]string{"", "", "suggest", "auto"}).Draw(t, "economy")}
	e.world.MaxTurns = rapid.SampledFrom([]int{0, 0, 1, 2, 12}).Draw(t, "most turns")
	if room := rapid.SampledFrom([]int64{-1, 50, 200, 500, 100_000}).Draw(t, "room"); room > 0 {
		frame := e.thread.PromptTokens() - e.thread.ContextItems().Usage.IncludedTokens
		e.world.Provider.ContextWindow = new(frame + room)
		e.world.Compaction.Limit, e.world.Compaction.Target = frame+room*9/10, frame+room*7/10
	}
}

func (e *explorer) compactNow(t *rapid.T) {
	strategy := rapid.SampledFrom([]string{"", "", protocol.CompactSummary, protocol.CompactMask,
		protocol.CompactLocal}).Draw(t, "strategy")
	e.run(t, core.CompactContext{To: e.caller(), Env: e.world, Strategy: strategy})
}

func (e *explorer) reviewNow(t *rapid.T) {
	targets := []protocol.ReviewTargetVariant{&protocol.ReviewUncommitted{}, &protocol.ReviewCustom{Instructions: "look"}}
	target := protocol.ReviewTarget{ReviewTargetVariant: rapid.SampledFrom(targets).Draw(t, "target")}
	e.run(t, core.ReviewStart{To: e.caller(), Env: e.world, Target: target})
}

func (e *explorer) propose(t *rapid.T) {
	in := core.ProposeCompaction{To: e.caller(), Env: e.world}
	in.Strategy = rapid.SampledFrom([]string{"", protocol.CompactSummary, protocol.CompactMask,
		protocol.CompactLocal}).Draw(t, "strategy")
	if count := rapid.IntRange(0, 3).Draw(t, "turns"); count > 0 {
		word := rapid.SampledFrom([]string{protocol.RangeFirstTurns, protocol.RangeKeepLastTurns}).Draw(t, "range")
		in.Range = &protocol.PruneRange{Word: word, Count: uint32(count)}
	}
	e.run(t, in)
}

func (e *explorer) commit(t *rapid.T) {
	in := core.CommitCompaction{To: e.caller(), Draft: e.draft}
	if rapid.IntRange(0, 2).Draw(t, "edited") == 0 {
		in.Text = new("What the user wants.")
	}
	e.run(t, in)
}

// crash loads the thread anew, and mostly somebody resumes it then.
func (e *explorer) crash(t *rapid.T) {
	e.load()
	if rapid.IntRange(0, 3).Draw(t, "resume") > 0 {
		p := &protocol.ThreadResumeParams{ThreadID: threadID}
		if rapid.IntRange(0, 3).Draw(t, "override") == 0 {
			p.Model = new("model-5")
		}
		e.run(t, core.Resume{To: e.caller(), Params: p, Env: e.world, Settings: e.thread.Settings().WithResume(p),
			Fresh: true})
	}
}

// shutdown ends everything, as when the server stops.
func (e *explorer) shutdown(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "really") > 0 {
		return
	}
	e.run(t, core.Shutdown{})
	for len(e.running) > 0 {
		e.take(e.terminal(t, e.running[0]))
	}
	if e.thread.ActiveTurn() != "" {
		t.Fatalf("a shutdown leaves turn %s", e.thread.ActiveTurn())
	}
	e.crash(t)
}

// endTurn ends the turn under way as an archive does, and the turns that wait for its end.
func (e *explorer) endTurn(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "really") > 0 {
		return
	}
	e.run(t, core.EndTurn{})
}

func (e *explorer) releaseTurn(t *rapid.T) { e.run(t, core.ReleaseTurn{}) }

func (e *explorer) piece(t *rapid.T) {
	id := last[core.ModelRequest](e.machine)
	kind := rapid.SampledFrom([]core.PieceKind{core.PieceText, core.PieceText, core.PieceReasoning,
		core.PieceReasoningSummary}).Draw(t, "kind")
	e.run(t, core.ModelPiece{Effect: id, Piece: core.Piece{Kind: kind, Text: texts.Draw(t, "text")}})
}

// goOn draws output of an effect.
func (e *explorer) goOn(t *rapid.T) {
	if len(e.running) == 0 {
		return
	}
	switch effect := rapid.SampledFrom(e.running).Draw(t, "effect").(type) {
	case core.ModelRequest:
		e.run(t, core.ModelPiece{Effect: effect.ID, Piece: core.Piece{Text: texts.Draw(t, "text")}})
	case core.RunTool:
		if effect.Command.Stays && rapid.IntRange(0, 3).Draw(t, "watched") == 0 {
			e.run(t, core.FilesChanged{Effect: effect.ID, Tracked: anyTracked(t, effect.Track)})
		} else if rapid.Bool().Draw(t, "started") {
			e.run(t, core.ToolStarted{Effect: effect.ID, ProcessID: "7"})
		} else {
			e.run(t, core.ToolOutput{Effect: effect.ID,
				Text: rapid.SampledFrom([]string{"out\n", "", "\xff\x00"}).Draw(t, "text")})
		}
	}
}

// finish ends an effect.
func (e *explorer) finish(t *rapid.T) {
	if len(e.running) == 0 {
		return
	}
	in := e.terminal(t, rapid.SampledFrom(e.running).Draw(t, "effect"))
	if fired, ok := in.(core.TimerFired); ok {
		for _, effect := range e.running {
			if timer, ok := effect.(core.Timer); ok && timer.ID == fired.Effect {
				e.advance(timer.Delay - rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond}).Draw(t, "early"))
			}
		}
		e.take(in)
		return
	}
	e.run(t, in)
}

// terminal returns an input that ends the effect.
func (e *explorer) terminal(t *rapid.T, effect core.Effect) core.Input {
	switch effect := effect.(type) {
	case core.RunTool:
		return core.ToolDone{Effect: effect.ID, Result: result(t), Tracked: anyTracked(t, effect.Track)}
	case core.PlanPatch:
		return planned(effect, anyFiles(rapid.IntRange(0, 3).Draw(t, "files")))
	case core.WritePatch:
		return core.PatchWritten{Effect: effect.ID, Err: rapid.SampledFrom([]error{nil, nil, errDiskFull}).Draw(t, "write"),
			Tracked: anyTracked(t, effect.Track)}
	case core.CallTool:
		return anyResult(t, effect.ID)
	case core.AwaitTools:
		return core.ToolsKnown{Effect: effect.ID, Tools: anyTools(t)}
	case core.Recall:
		return anyFound(t, effect.ID)
	case core.Remember:
		return core.Remembered{Effect: effect.ID, Repo: "/repo", Stored: rapid.IntRange(0, 2).Draw(t, "stored"),
			Err: rapid.SampledFrom([]error{nil, nil, errDiskFull}).Draw(t, "remember")}
	case core.CaptureTree:
		return core.TreeCaptured{Effect: effect.ID, Tree: protocol.StoredTree{Root: "/repo", Tree: "tree"},
			Err: rapid.SampledFrom([]error{nil, nil, errDiskFull}).Draw(t, "capture")}
	case core.WriteStdin:
		return core.StdinWritten{Effect: effect.ID, Err: rapid.SampledFrom([]error{nil, nil, errDiskFull}).Draw(t, "typed"),
			Tracked: anyTracked(t, effect.Track)}
	case core.ReadImage:
		return core.ImageRead{Effect: effect.ID, URL: "data:image/png;base64,AAAA",
			Err: rapid.SampledFrom([]error{nil, nil, errDiskFull}).Draw(t, "read")}
	case core.Timer:
		return core.TimerFired{Effect: effect.ID}
	}
	return sampleEnd(t, effectID(effect))
}

// anyTracked draws the changes of a call, or nil if they are not tracked.
func anyTracked(t *rapid.T, track *core.Track) *core.Tracked {
	if track == nil {
		return nil
	}
	tracked := &core.Tracked{Changes: protocol.WorktreeChanges{Root: "/repo"}}
	for _, path := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b/c", "\xff"}), 0, 2, rapid.ID).Draw(t,
		"changed") {
		object := rapid.SampledFrom([]string{"", "1", "2"})
		tracked.Changes.Changes = append(tracked.Changes.Changes,
			protocol.WorktreeChange{Path: path, Before: holds(object.Draw(t, "before")), After: holds(object.Draw(t, "after"))})
	}
	if rapid.IntRange(0, 4).Draw(t, "untracked") == 0 {
		tracked.Err = errDiskFull
		return tracked
	}
	diff := diffOf(filechanges.Net(append(track.Before, tracked.Changes)))
	tracked.Diff = &diff
	return tracked
}

// back reverts to any checkpoint, or to an unknown one, without changes by others.
func (e *explorer) back(t *rapid.T) {
	mode := rapid.SampledFrom([]string{protocol.RevertFiles, protocol.RevertConversation, protocol.RevertBoth}).Draw(t,
		"mode")
	plan, refusal := e.thread.PlanRevert(fmt.Sprintf("id-%d", rapid.IntRange(0, e.ids).Draw(t, "checkpoint")), mode, nil)
	if refusal != nil {
		return
	}
	e.ids++
	in := core.RevertTo{To: e.caller(), ID: fmt.Sprintf("id-%d", e.ids), Plan: plan, Keep: 3,
		Dry: rapid.Bool().Draw(t, "dry")}
	if len(plan.Changes) > 0 {
		in.Restored = &core.Restored{Trees: []protocol.StoredTree{{Root: "/repo", Tree: "tree"}},
			Diff: diffOf(filechanges.Inverse(in.ID, plan.Changes))}
	}
	e.run(t, in)
}

// anyFiles is a disk on which every file exists, unless it is 0.
type anyFiles int

// List returns nothing.
func (n anyFiles) List(string) []string { return nil }

// Read returns the same for all files.
func (n anyFiles) Read(string) (content string, exists bool, err error) {
	return "a\nb\n", n > 0, nil
}

func result(t *rapid.T) core.ToolResult {
	r := core.ToolResult{Output: rapid.SampledFrom([]string{"", "out\n", "\xff\x00"}).Draw(t, "output"),
		Duration: steps.Draw(t, "took")}
	switch rapid.IntRange(0, 2).Draw(t, "end") {
	case 0:
		r.Failure = "signal: killed"
	case 1:
		r.Failure, r.TimedOut = "timeout", true
	default:
		r.ExitCode = new(rapid.IntRange(0, 2).Draw(t, "exit code"))
	}
	return r
}

// sampleEnd returns an answer, with calls or without, or a failure.
func sampleEnd(t *rapid.T, id core.EffectID) core.Input {
	if rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
		return core.ModelFailed{Effect: id, Err: &core.ModelError{
			Message: "503", Info: protocol.CodexErrorInfo{Kind: protocol.ErrorHTTPConnectionFailed, HTTPStatus: new(503)},
			Retry: rapid.Bool().Draw(t, "retry"), Streaming: rapid.Bool().Draw(t, "streaming"),
			RetryAfter: steps.Draw(t, "retry after"), Loading: rapid.Bool().Draw(t, "loading"),
		}}
	}
	in := core.ModelDone{Effect: id}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		call := calls.Draw(t, "call")
		call.ID = names.Draw(t, "id")
		in.Answer.Calls = append(in.Answer.Calls, call)
	}
	if rapid.Bool().Draw(t, "echo") {
		echo := &protocol.ProviderEcho{Provider: "p", Model: "m",
			Reasoning: rapid.SampledFrom([]string{"", "reasoning"}).Draw(t, "member")}
		if in.Answer.Echo = echo; len(in.Answer.Calls) > 0 {
			in.Answer.Echo, in.Answer.Calls[0].Echo = nil, echo
		}
	}
	if rapid.Bool().Draw(t, "usage") {
		in.Answer.Usage = &protocol.TokenUsageBreakdown{InputTokens: 7, OutputTokens: 3, TotalTokens: 10}
	}
	return in
}

// late draws an input of an ended or unknown effect.
func (e *explorer) late(t *rapid.T) {
	id := core.EffectID(rapid.Uint64Range(0, 40).Draw(t, "effect"))
	for _, effect := range e.running {
		if effectID(effect) == id {
			return
		}
	}
	e.run(t, rapid.SampledFrom([]core.Input{
		core.ModelPiece{Effect: id, Piece: core.Piece{Text: "late"}},
		core.ModelPiece{Effect: id, Piece: core.Piece{Kind: core.PieceReasoning, Text: "late"}},
		core.ToolStarted{Effect: id, ProcessID: "9"}, core.ToolOutput{Effect: id, Text: "late"},
		core.ToolDone{Effect: id, Result: core.ToolResult{Failure: "late"}},
		core.PatchPlanned{Effect: id, Err: errDiskFull}, core.PatchWritten{Effect: id},
		core.ToolProgress{Effect: id, Message: "late"}, core.ToolCalled{Effect: id, Err: errDiskFull},
		core.ToolsKnown{Effect: id},
		core.Remembered{Effect: id, Stored: 1}, core.Recalled{Effect: id, Found: []core.Memory{{Text: "late"}}},
		core.ServerQuestionWithdrawn{Question: uint64(id)},
		core.ModelDone{Effect: id,
			Answer: core.Answer{Calls: []core.ToolCall{{ID: "l", Name: "shell", Arguments: `{"command":"rm a"}`}}}},
		core.ModelFailed{Effect: id, Err: &core.ModelError{Message: "late", Retry: true}},
		core.TimerFired{Effect: id}, core.TreeCaptured{Effect: id, Tree: protocol.StoredTree{Root: "/late", Tree: "late"}},
	}).Draw(t, "input"))
}

// end lets everything end that is under way.
func (e *explorer) end() {
	for e.thread.ActiveTurn() != "" {
		for _, id := range e.thread.OpenRequests() {
			e.take(core.ClientAnswer{Request: id, Result: json.RawMessage(`{"decision":"decline"}`)})
		}
		if len(e.running) > 0 {
			e.take(calmEnd(e.running[0]))
		}
	}
	e.take(core.Read{To: e.caller(), IncludeTurns: true})
}

// calmEnd ends an effect in a way that makes no more work.
func calmEnd(effect core.Effect) core.Input {
	switch effect := effect.(type) {
	case core.RunTool:
		return core.ToolDone{Effect: effect.ID, Result: core.ToolResult{ExitCode: new(0)}}
	case core.PlanPatch:
		return core.PatchPlanned{Effect: effect.ID, Err: errDiskFull}
	case core.WritePatch:
		return core.PatchWritten{Effect: effect.ID}
	case core.CallTool:
		return core.ToolCalled{Effect: effect.ID, Result: &core.ServerToolResult{}}
	case core.AwaitTools:
		return core.ToolsKnown{Effect: effect.ID}
	case core.Recall:
		return core.Recalled{Effect: effect.ID}
	case core.Remember:
		return core.Remembered{Effect: effect.ID}
	case core.CaptureTree:
		return core.TreeCaptured{Effect: effect.ID, Tree: protocol.StoredTree{Root: "/repo", Tree: "tree"}}
	case core.Timer:
		return core.TimerFired{Effect: effect.ID}
	}
	return core.ModelDone{Effect: effectID(effect)}
}
