package engine

import (
	"fmt"
	"unicode/utf8"

	"appserver/core"
	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// TurnStart starts a turn.
func (e *Engine) TurnStart(to protocol.Caller, p *protocol.TurnStartParams) error {
	return e.toThreadBy(to, p.ThreadID, func(a *actor) (core.Input, error) { return a.turnStart(to, p) })
}

// turnStart collects the environment of a turn.
func (a *actor) turnStart(to protocol.Caller, p *protocol.TurnStartParams) (core.TurnStart, error) {
	in := core.TurnStart{To: to, Params: p}
	if err := checkInput(p.Input); err != nil {
		return in, err
	}
	settings := a.thread.Settings()
	selected, err := selectedCwd(p.Environments, p.Cwd)
	if err != nil {
		return in, err
	}
	resolved := *p
	resolved.RuntimeWorkspaceRoots = selectedRoots(p.Environments, p.RuntimeWorkspaceRoots)
	in.Params = &resolved
	if selected != nil {
		cwd, err := workspace.ResolveCwd(settings.Cwd, selected)
		if err != nil {
			return in, protocol.Refuse(protocol.KindCwdNotFound, "%v", err)
		}
		resolved.Cwd = &cwd
	}
	in.Permissions, err = a.config().Turns.Permissions(in.Params, settings.In(in.Params.Cwd))
	if err != nil {
		return in, err
	}
	settings = settings.WithTurn(in.Params, in.Permissions)
	if in.Env, err = a.turnEnv(settings); err != nil {
		return in, err
	}
	in.Env.Tools, in.Env.ToolsPending = a.serverTools(settings.Cwd)
	in.Skills = a.config().Turns.Skills(settings.Cwd, p.Input)
	in.Images = workspace.Images(p.Input)
	return in, nil
}

// maxInputChars is the maximum length of the text of one input, in characters.
const maxInputChars = 1 << 20

// checkInput rejects audio, which no model accepts, and long text.
func checkInput(input []protocol.UserInput) error {
	chars := 0
	for i, in := range input {
		switch v := in.UserInputVariant.(type) {
		case *protocol.AudioInput, *protocol.LocalAudioInput:
			field := fmt.Sprintf("input.%d", i)
			return protocol.InvalidParams(field, "`%s`: audio cannot be sent to the model", field)
		case *protocol.TextInput:
			chars += utf8.RuneCountInString(v.Text)
		}
	}
	if chars > maxInputChars {
		return protocol.InputTooLarge(maxInputChars, chars)
	}
	return nil
}

// TurnSteer adds input to the active turn.
func (e *Engine) TurnSteer(to protocol.Caller, p *protocol.TurnSteerParams) error {
	return e.toThreadBy(to, p.ThreadID, func(a *actor) (core.Input, error) {
		if err := checkInput(p.Input); err != nil {
			return nil, err
		}
		skills := a.config().Turns.Skills(a.thread.Settings().Cwd, p.Input)
		return core.TurnSteer{To: to, Params: p, Images: workspace.Images(p.Input), Skills: skills}, nil
	})
}

// TurnInterrupt interrupts a turn. If the params have no thread id, the thread is found by the
// turn.
func (e *Engine) TurnInterrupt(to protocol.Caller, p *protocol.TurnInterruptParams) error {
	id := p.ThreadID
	if id == "" {
		if p.TurnID == "" {
			return protocol.InvalidParams("threadId", "%v", &protocol.MissingFieldError{Field: "threadId"})
		}
		if id = e.threadOfTurn(p.TurnID); id == "" && e.isClosing() {
			return errShuttingDown()
		}
		if id == "" {
			return protocol.Refuse(protocol.KindNoActiveTurn, "no active turn to interrupt")
		}
	}
	if err := checkID("invalid thread id", id); err != nil {
		return err
	}
	_, err := e.post(id, true,
		request{to: to, urgent: true, do: func(a *actor) { a.step(core.TurnInterrupt{To: to, TurnID: p.TurnID}) }})
	return err
}

func (e *Engine) threadOfTurn(turnID string) string {
	for _, a := range e.actors() {
		if id := a.turn.Load(); id != nil && *id == turnID {
			return a.id
		}
	}
	return ""
}
