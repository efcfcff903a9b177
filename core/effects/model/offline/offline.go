package offline

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/protocol"
)

// Name is the name under which the offline provider is configured.
const Name = "offline"

// Provider is a provider without a network, for demonstrations and for the tests of client authors.
// Equal prompts have equal answers. It is safe for concurrent use. All threads of a process share one
// script.
//
// # Without a script
//
// If the last user message requests a command, and a shell tool is offered, the answer calls the tool
// once. These forms request one, in this order:
//
//   - a fenced block marked sh, bash or shell: its content is the command;
//   - the word "run" followed anywhere by a `command in backticks`;
//   - "run: COMMAND" anywhere, up to the end of the line;
//   - "$ COMMAND" or "run COMMAND" at the beginning, up to the end of the line.
//
// The answer to a summary request of a compaction is the first lines of the user's messages.
//
// After the tool's output the answer is "Done. The command printed:" and the output. Any other message
// is quoted, with the number of messages in the request, so that a client can verify its history. A
// message with a word that begins with "think" gets a piece of reasoning first. Text comes in several
// deltas. Usage counts one token for every four bytes.
//
// # With a script
//
// Every request uses the first unused step of the [Script] that matches the last user message. Without
// one, the answer is the same as without a script.
type Provider struct {
	mu    sync.Mutex
	steps []stepState
}

// stepState is how much of a step is still to be played.
type stepState struct {
	*Step
	failuresLeft int
	used         bool
}

// New makes an offline provider; nil means no script.
func New(script *Script) *Provider {
	o := &Provider{}
	if script == nil {
		return o
	}
	for i := range script.Steps {
		s := stepState{Step: &script.Steps[i]}
		if s.Error != nil {
			s.failuresLeft = max(1, s.Error.Times)
		}
		o.steps = append(o.steps, s)
	}
	return o
}

// Stream answers p; see the package's contract.
func (o *Provider) Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	exchange := lastExchange(p)
	step, fails := o.next(exchange.text)
	if step == nil {
		step = defaultStep(p, exchange)
	}
	if err := pause(ctx, step.DelayMs); err != nil {
		return core.Answer{}, err
	}
	if fails {
		return core.Answer{}, step.Error.modelError()
	}
	return step.play(ctx, p, emit)
}

// next returns the first step that matches, or its next failure.
func (o *Provider) next(text string) (step *Step, fails bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.steps {
		s := &o.steps[i]
		if s.used || !strings.Contains(text, s.Match) {
			continue
		}
		if s.failuresLeft > 0 {
			s.failuresLeft--
			s.used = s.failuresLeft == 0 && !s.answers()
			return s.Step, true
		}
		s.used = true
		return s.Step, false
	}
	return nil, false
}

// play sends a step's answer: reasoning, then text, then tool calls.
func (s *Step) play(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	if err := ctx.Err(); err != nil {
		return core.Answer{}, context.Cause(ctx)
	}
	if s.Reasoning != "" {
		emit(core.Piece{Kind: core.PieceReasoning, Text: s.Reasoning})
	}
	deltas := s.deltas()
	for i, d := range deltas {
		if s.Cut && i == len(deltas)/2 {
			break
		}
		if d != "" {
			emit(core.Piece{Kind: core.PieceText, Text: d})
		}
		if err := pause(ctx, s.GapMs); err != nil {
			return core.Answer{}, err
		}
	}
	if s.Cut {
		return core.Answer{}, model.CutOff(errors.New("the script cuts this answer"))
	}
	return core.Answer{Calls: s.calls(p), Usage: s.usage(p)}, nil
}

func (s *Step) deltas() []string {
	if s.Text != "" {
		return splitDeltas(s.Text)
	}
	return s.Deltas
}

func (s *Step) calls(p *core.Prompt) []core.ToolCall {
	var calls []core.ToolCall
	var ids model.CallIDs
	for _, c := range s.ToolCalls {
		arguments := withAgents(cmp.Or(string(c.Arguments), "{}"), p)
		calls = append(calls, core.ToolCall{ID: ids.Claim(p, c.ID), Name: c.Name, Arguments: arguments})
	}
	return calls
}

func (s *Step) usage(p *core.Prompt) *protocol.TokenUsageBreakdown {
	u := s.Usage
	if u == nil {
		u = &StepUsage{Input: tokens(promptBytes(p)), Output: tokens(s.answerBytes())}
	}
	return &protocol.TokenUsageBreakdown{
		InputTokens: u.Input, CachedInputTokens: u.Cached, OutputTokens: u.Output, TotalTokens: u.Input + u.Output,
	}
}

func (s *Step) answerBytes() int {
	n := len(s.Reasoning) + len(s.Text)
	for _, d := range s.Deltas {
		n += len(d)
	}
	for _, c := range s.ToolCalls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}

// promptBytes returns the size of a prompt's texts; images do not count.
func promptBytes(p *core.Prompt) int {
	n := 0
	for _, m := range chat.Messages(p) {
		n += len(m.Content.Text)
		for _, part := range m.Content.Parts {
			n += len(part.Text)
		}
		for _, c := range m.ToolCalls {
			n += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	for _, t := range p.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n
}

func tokens(bytes int) int64 { return int64(bytes+3) / 4 }

// modelError returns the failure that a provider with this status would have caused.
func (e *StepError) modelError() *core.ModelError {
	text := cmp.Or(e.Message, "the script fails this request")
	body, err := protocol.Marshal(map[string]string{"error": text})
	if err != nil {
		body = nil
	}
	header := http.Header{"Retry-After-Ms": {strconv.Itoa(e.RetryAfterMs)}}
	return model.StatusFailure(Name, e.Status, header, body)
}

// pause waits, or gives the cause that ended ctx.
func pause(ctx context.Context, ms int) error {
	if ms <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
