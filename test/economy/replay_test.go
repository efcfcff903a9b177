package economy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/pure/command"
	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/core/pure/patch"
	"appserver/protocol"
)

const (
	// modelTakes is the time of a request.
	modelTakes = 8 * time.Second
	keepOutput = 10
)

// strategy decides what leaves the context during a replay.
type strategy struct {
	name string
	// auto turns automatic edits on. ratio is the price of a cached token that the server knows.
	auto  bool
	ratio float64
	// mask replaces all outputs but the last ten before each turn, or with share > 0 before each request where
	// that saves the share.
	mask  bool
	share float64
	// window is the context window, or 0 for the one of the flag. The server compacts at 90 % of it. target is the
	// number of tokens after a compaction, or 0 for the default. summary is set if the model writes summaries.
	window, target int64
	summary        bool
}

// replay runs a session through the core.
type replay struct {
	t *testing.T
	*session
	strategy
	meter
	thread  *core.Thread
	env     core.TurnEnv
	now     time.Time
	ids     int
	effects []core.Effect
	// at are the index of the turn and of its next answer. answer has the calls that run.
	turn, at int
	answer   *answer
	// copies has the ids of calls that read an output again, by the id of the first one.
	copies map[string]string
	again  int
	// present are the calls whose outputs the last request had, outputTokens the tokens of these outputs in order.
	present      map[string]bool
	outputTokens []int64
	// items has the id of the output of each call, outputTexts its text.
	items, outputTexts map[string]string
	edits              int
	audit              audit
	// asked are the answers of a turn that is not part of the session.
	asked []answer
}

func newReplay(t *testing.T, known *texts, s *session, how strategy) *replay {
	r := &replay{t: t, session: s, strategy: how, meter: meter{texts: known}, copies: map[string]string{},
		present: map[string]bool{}, items: map[string]string{}, outputTexts: map[string]string{},
		now: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC), audit: newAudit()}
	room := cmp.Or(how.window, *economyWindow)
	rules := compaction.Rules{Strategy: protocol.CompactLocal, Limit: room * 9 / 10,
		Target: cmp.Or(how.target, room*7/10), KeepTurns: 5, UserTokens: 20_000}
	if how.summary {
		rules.Strategy = protocol.CompactSummary
	}
	r.env = core.TurnEnv{Shell: "/bin/bash", Date: "2026-01-02", Timezone: "Etc/UTC", Compaction: rules,
		Provider: core.ProviderInfo{ContextWindow: &room, CachedPriceRatio: cmp.Or(how.ratio, 0.1),
			CacheRetention: retention},
		Instructions: []core.InstructionFile{{Path: "/repo/AGENTS.md", Text: s.instructions}}}
	if how.auto {
		r.env.Economy = core.EconomyRules{Mode: protocol.EconomyAuto, MinPercent: 5, KeepOutputs: keepOutput}
	}
	return r
}

// run replays the session, and returns the sum of its requests.
func (r *replay) run() usage {
	r.start()
	for r.turn = range r.turns {
		t := &r.turns[r.turn]
		r.now = r.now.Add(t.pause)
		if r.mask && r.share == 0 {
			r.maskOutputs()
		}
		r.userTurn(t.user)
	}
	return r.usage
}

// start starts the thread.
func (r *replay) start() {
	settings := core.Settings{Model: model, Provider: "mock", Cwd: "/repo",
		ApprovalPolicy: protocol.AskForApproval{Mode: protocol.ApprovalNever}, Reviewer: protocol.ReviewerUser,
		Sandbox: protocol.SandboxDangerFullAccess.Policy(), Summary: "auto"}
	options := core.Options{Tokens: r.counter, Economy: r.env.Economy}
	r.thread = core.Load("t-1", options, settings, nil)
	r.step(core.Start{Settings: settings, Options: options, Env: r.env, Meta: protocol.SessionMeta{ID: "t-1",
		Timestamp: protocol.Timestamp(r.now), Cwd: "/repo", Originator: "bench", CliVersion: "1", ModelProvider: "mock",
		HistoryMode: protocol.HistoryPaginated}})
}

// userTurn runs one turn.
func (r *replay) userTurn(text string) {
	r.at, r.answer = 0, nil
	r.step(core.TurnStart{Params: &protocol.TurnStartParams{ThreadID: "t-1",
		Input: []protocol.UserInput{{UserInputVariant: &protocol.TextInput{Text: text}}}}, Env: r.env})
	for len(r.effects) > 0 {
		e := r.effects[0]
		r.effects = r.effects[1:]
		r.handle(e)
	}
	require.Empty(r.t, r.thread.ActiveTurn(), "turn %d of %s has not ended", r.turn, r.session.name)
}

func (r *replay) step(in core.Input) {
	stamp := core.Stamp{Now: r.now, NewID: func() string { r.ids++; return fmt.Sprintf("id-%d", r.ids) },
		NextRequest: func() uint64 { return 1 }}
	out := r.thread.Step(stamp, in)
	r.effects = append(r.effects, out.Effects...)
	for i := range out.Lines {
		r.read(&out.Lines[i])
	}
	for _, m := range out.Messages {
		if refusal, ok := m.(core.Refusal); ok {
			require.Failf(r.t, "refused", "%v", refusal.Err)
		}
	}
}

// read reads what the server recorded.
func (r *replay) read(line *protocol.RolloutLine) {
	switch line.Type {
	case protocol.LineCompacted:
		r.audit.pending = true
	case protocol.LineContextEdit:
		r.edits++
	case protocol.LineResponseItem:
		var item protocol.ResponseItem
		require.NoError(r.t, protocol.Unmarshal(line.Payload, &item))
		if o, ok := item.ResponseItemVariant.(*protocol.FunctionCallOutput); ok {
			r.items[o.CallID] = fmt.Sprintf("r%d", *line.Ordinal)
			r.outputTexts[o.CallID] = o.Output.Text
		}
	}
}

// handle runs an effect.
func (r *replay) handle(e core.Effect) {
	switch e := e.(type) {
	case core.ModelRequest:
		r.model(e)
	case core.RunTool:
		script := e.Command.Argv[len(e.Command.Argv)-1]
		at := slices.IndexFunc(r.answer.calls, func(c call) bool { return c.script == script })
		require.GreaterOrEqual(r.t, at, 0, script)
		c := &r.answer.calls[at]
		r.now = r.now.Add(c.took)
		r.step(core.ToolDone{Effect: e.ID, Result: core.ToolResult{Output: c.output, ExitCode: &c.exit, Duration: c.took}})
	case core.PlanPatch:
		p, err := patch.Parse("", e.Text, !e.Cut)
		require.NoError(r.t, err)
		result, err := p.Apply(contents(r.filesOf(e.Text)))
		r.step(core.PatchPlanned{Effect: e.ID, Result: result, Err: err})
	case core.WritePatch:
		r.step(core.PatchWritten{Effect: e.ID})
	}
}

func (r *replay) filesOf(text string) map[string]string {
	for _, c := range r.answer.calls {
		if c.patch == text {
			return c.files
		}
	}
	return nil
}

// model answers a request of the core.
func (r *replay) model(e core.ModelRequest) {
	used := r.count(e.Prompt, r.now)
	r.now = r.now.Add(modelTakes)
	if e.Prompt.Summarises {
		r.say(e.ID, "The work on the repository goes on. Some files were changed, and most tests pass.")
		r.step(core.ModelDone{Effect: e.ID, Answer: core.Answer{Usage: &used}})
		return
	}
	r.noteOutputs(e.Prompt)
	if r.audit.pending {
		r.audit.check(r.session, r.turn, e.Prompt)
	}
	r.audit.notePrompt(r.session, r.turn, e.Prompt)
	r.answer = r.nextAnswer()
	if r.answer.text != "" {
		r.say(e.ID, r.answer.text)
	}
	if r.mask && r.share > 0 {
		r.maskWhereItSaves(used.InputTokens)
	}
	done := core.ModelDone{Effect: e.ID, Answer: core.Answer{Usage: &used}}
	for _, c := range r.answer.calls {
		done.Answer.Calls = append(done.Answer.Calls, c.toolCall())
	}
	r.step(done)
}

func (r *replay) say(id core.EffectID, text string) {
	r.step(core.ModelPiece{Effect: id, Piece: core.Piece{Kind: core.PieceText, Text: text}})
}

// toolCall returns the call as a model makes it.
func (c *call) toolCall() core.ToolCall {
	name, arguments := "shell", map[string]string{"command": c.script}
	switch {
	case c.patch != "":
		name, arguments = "apply_patch", map[string]string{"input": c.patch}
	case c.query != "":
		arguments["command"] = command.Quote([]string{"recall", c.query})
	}
	raw, _ := json.Marshal(arguments) // strings always encode
	return core.ToolCall{ID: c.id, Name: name, Arguments: string(raw)}
}

// nextAnswer returns the next answer of the session, or calls that read again what it needs.
func (r *replay) nextAnswer() *answer {
	if r.asked != nil {
		a := &r.asked[r.at]
		r.at++
		return a
	}
	a := &r.turns[r.turn].answers[r.at]
	repeat := &answer{text: "I need this output again."}
	for _, id := range a.needs {
		if now := r.copies[id]; r.present[id] || r.present[now] {
			continue
		}
		r.again++
		copied := r.callOf(id)
		copied.id = fmt.Sprintf("again%d", r.again)
		r.copies[id] = copied.id
		repeat.calls = append(repeat.calls, copied)
	}
	if len(repeat.calls) > 0 {
		return repeat
	}
	r.at++
	return a
}

func (r *replay) callOf(id string) call {
	for _, t := range r.turns {
		for _, a := range t.answers {
			for _, c := range a.calls {
				if c.id == id {
					return c
				}
			}
		}
	}
	require.Fail(r.t, "no such call", id)
	return call{}
}

// noteOutputs notes the outputs that a request has.
func (r *replay) noteOutputs(p *core.Prompt) {
	clear(r.present)
	r.outputTokens = r.outputTokens[:0]
	for i := range p.Items {
		o, ok := p.Items[i].ResponseItemVariant.(*protocol.FunctionCallOutput)
		if ok && o.Output.Text == r.outputTexts[o.CallID] {
			r.present[o.CallID] = true
			r.outputTokens = append(r.outputTokens, r.part(o.Output.Text).tokens)
		}
	}
}

// maskOutputs replaces all outputs but the last ten.
func (r *replay) maskOutputs() {
	r.step(core.EditContext{Operation: &protocol.Prune{
		Categories: []protocol.ContextCategory{protocol.CategoryToolOutput},
		Range:      &protocol.PruneRange{Word: protocol.RangeKeepLastOutputs, Count: keepOutput}}})
}

// maskWhereItSaves replaces them if that saves a share of the request.
func (r *replay) maskWhereItSaves(prompt int64) {
	saves := int64(0)
	for _, tokens := range r.outputTokens[:max(len(r.outputTokens)-keepOutput, 0)] {
		saves += max(tokens-history.PlaceholderTokens, 0)
	}
	if float64(saves) >= r.share*float64(prompt) {
		r.maskOutputs()
	}
}
