package chat

import (
	"cmp"
	"errors"
	"fmt"

	"appserver/core"
	"appserver/core/model"
)

// The finish reasons that matter here.
const (
	finishError  = "error"
	finishLength = "length"
	finishFilter = "content_filter"
)

// assembly puts an answer together from its events, and emits text as it comes.
type assembly struct {
	prompt   *core.Prompt
	emit     func(core.Piece)
	calls    callAssembly
	echo     echoAssembly
	usage    *usage
	finish   string
	spoken   bool // text was emitted
	done     bool // [DONE] was seen
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
			a.echo.member, a.spoken = memberThink, false
			a.emit(core.Piece{Kind: core.PieceThought})
		},
	}
	return a
}

// Add takes one event. It fails if the event is not JSON, if the provider reports an error, and
// if the answer is too large.
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
	if err := a.size.Add(size); err != nil {
		return err
	}
	if a.finish == finishError {
		return model.ReportedText("the provider ended the answer with finish_reason \"error\"")
	}
	return nil
}

// Done takes the end marker, which ends an answer without a finish_reason too.
func (a *assembly) Done() { a.done = true }

// Progress is Complete after the end marker only: some providers send usage after the
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

// choose takes a choice, and returns its size in bytes.
func (a *assembly) choose(c *choice) (size int) {
	size = a.delta(&c.Delta)
	if c.Message != nil {
		size += a.delta(c.Message)
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
	return d.size()
}

func (a *assembly) say(kind core.PieceKind, text string) {
	if text != "" {
		a.spoken = a.spoken || kind == core.PieceText
		a.emit(core.Piece{Kind: kind, Text: text})
	}
}

// cutReasons are why a provider ends an answer that the model had not ended.
var cutReasons = map[string]string{
	finishLength: "the provider's limit of output tokens was reached",
	finishFilter: "the provider's content filter stopped it",
}

// Answer ends the assembly. An answer that the provider cut to nothing is an error.
func (a *assembly) Answer() (core.Answer, error) {
	a.think.Close()
	answer := core.Answer{Calls: a.calls.finish(a.prompt)}
	a.echo.finish(a.prompt, a.calls.renamed, &answer)
	if a.usage != nil {
		answer.Usage = a.usage.breakdown()
	}
	if a.spoken || len(answer.Calls) > 0 {
		answer.Cut = cutReasons[a.finish]
		return answer, nil
	}
	switch a.finish {
	case finishLength:
		return core.Answer{},
			model.Barren(errors.New("its length limit was reached before any text; raise the limit or lower the reasoning effort"))
	case finishFilter:
		return core.Answer{}, model.Barren(fmt.Errorf("its content filter stopped it (finish_reason %q)", a.finish))
	}
	return answer, nil
}
