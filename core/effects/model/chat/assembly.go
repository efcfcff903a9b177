package chat

import (
	"cmp"
	"strings"

	"appserver/core"
	"appserver/core/effects/model"
)

// assembly puts an answer together from its events, and emits text as it comes.
type assembly struct {
	prompt   *core.Prompt
	emit     func(core.Piece)
	calls    callAssembly
	legacy   callAssembly // the call in the older form of the API
	echo     echoAssembly
	usage    *usage
	finish   string
	said     strings.Builder // the emitted text
	mused    bool            // reasoning was emitted
	done     bool            // [DONE] was seen
	size     model.Size
	form     plainForm
	progress progressMeter
	think    model.Think
}

func newAssembly(p *core.Prompt, emit func(core.Piece)) *assembly {
	a := &assembly{prompt: p, emit: emit}
	a.think = model.Think{
		Text: func(text string) { a.say(core.PieceText, text) },
		Reasoning: func(text string) {
			a.echo.member = memberThink
			a.say(core.PieceReasoning, text)
		},
		Retract: func() {
			a.echo.member, a.mused = memberThink, true
			a.said.Reset()
			a.emit(core.Piece{Kind: core.PieceThought})
		},
	}
	return a
}

// Add processes one event. It fails if the event is not JSON, and if the answer is too large.
func (a *assembly) Add(raw []byte) error {
	c, err := decodeChunk(raw, &a.form)
	if err != nil {
		return err
	}
	if u := cmp.Or(c.Usage, c.Groq.Usage); u != nil {
		a.usage = u
	}
	if c.Progress != nil {
		a.progress.report(c.Progress, a.emit)
	}
	size := 0
	if c.Choices[0].Index == 0 {
		size = a.choose(&c.Choices[0])
	}
	return a.size.Add(size)
}

// Done processes the end marker, which also ends an answer without a finish_reason.
func (a *assembly) Done() { a.done = true }

// Progress returns Complete after the end marker only: some providers send usage after the
// finish_reason.
func (a *assembly) Progress() model.Progress {
	switch {
	case a.done:
		return model.Complete
	case a.finish != "":
		return model.Finished
	}
	return model.Underway
}

// choose processes a choice, and returns its size in bytes.
func (a *assembly) choose(c *choice) (size int) {
	size = a.delta(&c.Delta)
	if c.Message != nil {
		size += a.message(c.Message)
	}
	if c.Usage != nil {
		a.usage = c.Usage
	}
	if c.FinishReason != "" && c.FinishReason != "null" {
		a.finish = c.FinishReason
	}
	return size
}

func (a *assembly) delta(d *delta) (size int) {
	reasoning, member := d.reasoning()
	if reasoning != "" {
		a.think.Skip()
	}
	a.say(core.PieceReasoning, reasoning)
	a.echo.add(d, reasoning, member)
	a.think.Add(string(d.Content))
	a.say(core.PieceText, string(d.Refusal))
	for i := range d.ToolCalls {
		a.calls.add(&d.ToolCalls[i])
	}
	if d.FunctionCall != nil {
		a.legacy.add(&fragment{Function: *d.FunctionCall})
	}
	return d.size()
}

// message processes a message, which has all of the answer so far. Some providers send one after the deltas, or
// one in each event. The calls of the message replace those of the deltas. Of its text, only what is new is
// emitted.
func (a *assembly) message(m *delta) (size int) {
	size = m.size()
	calls, function, content := m.ToolCalls, m.FunctionCall, string(m.Content)
	m.ToolCalls, m.FunctionCall = nil, nil
	if a.mused {
		content = model.WithoutThought(content)
		m.Content = text(content)
	}
	if said := a.said.String(); said != "" {
		m.Content, m.Refusal = "", ""
		if rest, ok := strings.CutPrefix(content, said); ok {
			m.Content = text(rest)
		}
	}
	if a.mused {
		m.Reasoning, m.ReasoningContent, m.ReasoningDetails = "", "", nil
	}
	a.delta(m)
	if len(calls) > 0 {
		a.calls.replace(calls)
	}
	if function != nil {
		a.legacy.replace([]fragment{{Function: *function}})
	}
	return size
}

func (a *assembly) say(kind core.PieceKind, text string) {
	if text == "" {
		return
	}
	if kind == core.PieceText {
		a.said.WriteString(text)
	} else {
		a.mused = true
	}
	a.emit(core.Piece{Kind: kind, Text: text})
}

// Answer ends the assembly.
func (a *assembly) Answer() (core.Answer, error) {
	a.think.Close()
	if len(a.calls.calls) == 0 { // some providers send a call in both forms
		a.calls = a.legacy
	}
	answer := core.Answer{Calls: a.calls.finish(a.prompt)}
	a.echo.finish(a.prompt, a.calls.renamed, &answer)
	if a.usage != nil {
		answer.Usage = a.usage.breakdown()
	}
	cut, err := model.Ending{Member: "finish_reason", Reason: a.finish,
		Text: strings.TrimSpace(a.said.String()) != "", Calls: len(answer.Calls) > 0}.Judge()
	if err != nil {
		return core.Answer{}, err
	}
	answer.Cut = cut
	return answer, nil
}
