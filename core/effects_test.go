package core_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"appserver/core"
	"appserver/core/pure/patch"
	"appserver/protocol"
)

// The commands for the terminal inputs of effects.

var pieceKinds = map[string]core.PieceKind{"text": core.PieceText, "reasoning": core.PieceReasoning,
	"summary": core.PieceReasoningSummary, "notice": core.PieceNotice}

func pieceInput(m *machine, a arguments) (core.Input, error) {
	kind, known := pieceKinds[a.word(0)]
	if !known {
		return nil, errors.New("no such kind of piece")
	}
	id, err := effectOf(a, last[core.ModelRequest](m))
	return core.ModelPiece{Effect: id, Piece: core.Piece{Kind: kind, Text: a.word(1)}}, err
}

// effectOf returns the effect that the command names, or the given one.
func effectOf(a arguments, otherwise core.EffectID) (core.EffectID, error) {
	id, err := a.number("effect", uint64(otherwise))
	if err == nil && id == 0 {
		err = errors.New("no such effect is under way")
	}
	return core.EffectID(id), err
}

func sampleDoneInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.ModelRequest](m))
	if err != nil {
		return nil, err
	}
	in := core.ModelDone{Effect: id}
	if v := a.option("cut"); v != nil {
		in.Answer.Cut = *v
	}
	for i, o := range a.options {
		switch o.name {
		case "run":
			in.Answer.Calls = append(in.Answer.Calls, core.ToolCall{
				ID: fmt.Sprintf("call-%d-%d", id, i+1), Name: "shell", Arguments: encode(map[string]string{"command": o.value})})
		case "patch":
			in.Answer.Calls = append(in.Answer.Calls, core.ToolCall{ID: fmt.Sprintf("call-%d-%d", id, i+1), Name: "apply_patch",
				Arguments: encode(map[string]string{"input": "*** Begin Patch\n" + o.value + "\n*** End Patch"})})
		case "call":
			parts := append(strings.SplitN(o.value, ":", 3), "", "")
			in.Answer.Calls = append(in.Answer.Calls, core.ToolCall{ID: parts[0], Name: parts[1], Arguments: parts[2]})
		}
	}
	if v := a.option("usage"); v != nil {
		u := protocol.TokenUsageBreakdown{}
		if n, err := fmt.Sscanf(*v, "%d,%d,%d,%d", &u.InputTokens, &u.OutputTokens, &u.CachedInputTokens,
			&u.CacheWriteInputTokens); n < 2 {
			return nil, err
		}
		u.TotalTokens = u.InputTokens + u.OutputTokens
		in.Answer.Usage = &u
	}
	return in, nil
}

func sampleFailedInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.ModelRequest](m))
	if err != nil {
		return nil, err
	}
	e := &core.ModelError{Message: a.word(0), Retry: a.has("retry"), Streaming: a.has("streaming"),
		Loading: a.has("loading"),
		Info:    protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
	if v := a.option("kind"); v != nil {
		e.Info.Kind = *v
	}
	if v := a.option("status"); v != nil {
		status, err := strconv.Atoi(*v)
		if err != nil {
			return nil, err
		}
		e.Info.HTTPStatus = &status
	}
	if v := a.option("after"); v != nil {
		if e.RetryAfter, err = time.ParseDuration(*v); err != nil {
			return nil, err
		}
	}
	return core.ModelFailed{Effect: id, Err: e}, nil
}

func toolStartedInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.RunTool](m))
	return core.ToolStarted{Effect: id, ProcessID: fmt.Sprintf("pid-%d", id)}, err
}

func toolOutputInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.RunTool](m))
	return core.ToolOutput{Effect: id, Text: a.word(0)}, err
}

func toolDoneInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.RunTool](m))
	if err != nil {
		return nil, err
	}
	r := core.ToolResult{TimedOut: a.has("timed-out"), Duration: time.Second}
	if v := a.option("output"); v != nil {
		r.Output = *v
	}
	fill, err := a.number("fill", 0)
	if err != nil {
		return nil, err
	}
	for i := range fill {
		r.Output += fmt.Sprintf("%s, line %d\n", r.Output[:strings.IndexByte(r.Output+"\n", '\n')], i)
	}
	if v := a.option("took"); v != nil {
		if r.Duration, err = time.ParseDuration(*v); err != nil {
			return nil, err
		}
	}
	switch code, failure := a.option("exit"), a.option("failure"); {
	case failure != nil:
		r.Failure = *failure
	case code != nil:
		n, err := strconv.Atoi(*code)
		r.ExitCode = &n
		return core.ToolDone{Effect: id, Result: r, Tracked: trackedOf(m, a, id)}, err
	default:
		r.Failure = "killed"
	}
	return core.ToolDone{Effect: id, Result: r, Tracked: trackedOf(m, a, id)}, nil
}

func keysTypedInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.WriteStdin](m))
	in := core.StdinWritten{Effect: id, Tracked: trackedOf(m, a, id)}
	if v := a.option("failure"); v != nil {
		in.Err = errors.New(*v)
	}
	return in, err
}

func imageReadInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.ReadImage](m))
	in := core.ImageRead{Effect: id, URL: a.word(0)}
	if v := a.option("failure"); v != nil {
		in.Err = errors.New(*v)
	}
	return in, err
}

// planInput applies the active patch to the files of the command's options.
func planInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.PlanPatch](m))
	if err != nil {
		return nil, err
	}
	for _, e := range m.running {
		if p, ok := e.(core.PlanPatch); ok && p.ID == id {
			return planned(p, a), nil
		}
	}
	return core.PatchPlanned{Effect: id, Err: errors.New("late")}, nil
}

func planned(e core.PlanPatch, files patch.Files) core.PatchPlanned {
	p, err := patch.Parse(e.Dir, e.Text, !e.Cut)
	if err != nil {
		return core.PatchPlanned{Effect: e.ID, Err: err}
	}
	r, err := p.Apply(files)
	return core.PatchPlanned{Effect: e.ID, Result: r, Err: err}
}

// List returns nothing.
func (a arguments) List(string) []string { return nil }

// Read returns the option with the file's name.
func (a arguments) Read(name string) (content string, exists bool, err error) {
	if v := a.option(name); v != nil {
		return *v, true, nil
	}
	return "", false, nil
}

func writtenInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.WritePatch](m))
	in := core.PatchWritten{Effect: id, Tracked: trackedOf(m, a, id)}
	if v := a.option("error"); v != nil {
		in.Err = errors.New(*v)
	}
	return in, err
}

func timerInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.Timer](m))
	return core.TimerFired{Effect: id}, err
}
