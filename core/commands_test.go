package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// command does what a line of a script says and prints what comes of it.
type command func(m *machine, a arguments, b *strings.Builder) error

// commands is the table of what scripts can say.
//
//	start [policy=P] [sandbox=S] [floor=D] [mode=legacy] [base=TEXT] [developer=TEXT]
//	turn-start [TEXT] [image=URL] [local=PATH] [skill=NAME] [id=ID] [cwd=] [model=] [effort=] [policy=] [sandbox=] [schema=JSON]
//	steer [TEXT] [turn=ID]        without turn= the active one
//	interrupt [turn=ID]
//	piece text|reasoning|summary TEXT
//	sample-done [run=SCRIPT] [call=ID:NAME:ARGUMENTS] [usage=IN,OUT]
//	sample-failed TEXT [retry] [streaming] [after=D] [status=N] [kind=WORD]
//	tool-started, tool-output TEXT, tool-done [exit=N] [output=TEXT] [failure=TEXT] [took=D] [timed-out]
//	answer accept|acceptForSession|decline|cancel|refused|JSON|any other word [request=N]
//	timer, read [turns], resume [fresh] [exclude] [model=] [policy=] [warning=TEXT], set-name TEXT, shutdown
//	advance D                     the clock goes on by D, not a second, at the next input
//	world [date=] [agents=TEXT] [enforced=BOOL] [retries=N] [stream-retries=N]
//	disk full|ok                  what the disk does with the lines from now on
//	prompt [full], settings       of the next model request
//	{...}                         a line that is put into the rollout
//	reload                        Load from all lines, as after a crash
//
// The effect of an input is the one under way that fits, or effect=N.
var commands = map[string]command{
	"start": input(startInput), "turn-start": input(turnStartInput), "steer": input(steerInput), "interrupt": input(interruptInput),
	"piece": input(pieceInput), "sample-done": input(sampleDoneInput), "sample-failed": input(sampleFailedInput),
	"tool-started": input(toolStartedInput), "tool-output": input(toolOutputInput), "tool-done": input(toolDoneInput),
	"answer": input(answerInput), "timer": input(timerInput), "read": input(readInput), "resume": input(resumeInput),
	"set-name": input(setNameInput), "shutdown": input(shutdownInput),
	"advance": advance, "world": changeWorld, "disk": disk, "prompt": prompt, "settings": settings, "reload": reload,
}

func runCommand(m *machine, line string, b *strings.Builder) error {
	if line[0] == '{' {
		var l protocol.RolloutLine
		err := json.Unmarshal([]byte(line), &l)
		m.lines = append(m.lines, l)
		return err
	}
	a, err := parse(line)
	if err != nil {
		return err
	}
	do, known := commands[a.words[0]]
	if !known {
		return errors.New("no such command")
	}
	return do(m, a, b)
}

// input is a command that is one input of the thread.
func input(of func(*machine, arguments) (core.Input, error)) command {
	return func(m *machine, a arguments, b *strings.Builder) error {
		in, err := of(m, a)
		if err != nil {
			return err
		}
		out := m.take(in)
		if m.lost > 0 {
			fmt.Fprintf(b, "%d lines are lost, and with them all messages\n", m.lost)
		}
		printOutput(b, out)
		return nil
	}
}

func startInput(m *machine, a arguments) (core.Input, error) {
	if v := a.option("policy"); v != nil {
		m.settings.ApprovalPolicy.Mode = *v
	}
	if v := a.option("sandbox"); v != nil {
		m.settings.Sandbox = protocol.SandboxMode(*v).Policy()
	}
	mode := protocol.HistoryPaginated
	if v := a.option("mode"); v != nil {
		mode = *v
	}
	if v := a.option("floor"); v != nil {
		floor, err := time.ParseDuration(*v)
		if err != nil {
			return nil, err
		}
		m.options.CompletedFloor = floor
	}
	in := m.start(mode)
	in.Meta.DeveloperInstructions = a.option("developer")
	if v := a.option("base"); v != nil {
		in.Meta.BaseInstructions = &protocol.Instructions{Text: *v}
	}
	return in, nil
}

// userInput is the text and the images of a command.
func userInput(a arguments) []protocol.UserInput {
	in := []protocol.UserInput{}
	add := func(v protocol.UserInputVariant) { in = append(in, protocol.UserInput{UserInputVariant: v}) }
	for _, text := range a.words[1:] {
		add(&protocol.TextInput{Text: text, TextElements: []json.RawMessage{}})
	}
	for _, url := range a.all("image") {
		add(&protocol.ImageInput{URL: url, Detail: a.option("detail")})
	}
	for _, path := range a.all("local") {
		add(&protocol.LocalImageInput{Path: path})
	}
	for _, name := range a.all("skill") {
		add(&protocol.SkillInput{Name: name, Path: "/skills/" + name})
	}
	return in
}

// imagesOf are data: URLs of the local images.
func imagesOf(a arguments) map[string]string {
	images := map[string]string{}
	for _, path := range a.all("local") {
		images[path] = "data:image/png;base64," + strings.TrimPrefix(path, "/")
	}
	return images
}

func turnStartInput(m *machine, a arguments) (core.Input, error) {
	p := &protocol.TurnStartParams{
		ThreadID: threadID, Input: userInput(a), ClientUserMessageID: a.option("id"),
		Cwd: a.option("cwd"), Model: a.option("model"), Effort: a.option("effort"),
	}
	if v := a.option("policy"); v != nil {
		p.ApprovalPolicy = &protocol.AskForApproval{Mode: *v}
	}
	if v := a.option("sandbox"); v != nil {
		p.SandboxPolicy = new(protocol.SandboxMode(*v).Policy())
	}
	if v := a.option("schema"); v != nil {
		p.OutputSchema = json.RawMessage(*v)
	}
	return core.TurnStart{To: m.caller(), Params: p, Images: imagesOf(a), World: m.world}, nil
}

func steerInput(m *machine, a arguments) (core.Input, error) {
	turn := m.thread.ActiveTurn()
	if v := a.option("turn"); v != nil {
		turn = *v
	}
	p := &protocol.TurnSteerParams{ThreadID: threadID, Input: userInput(a), ExpectedTurnID: turn}
	return core.TurnSteer{To: m.caller(), Params: p, Images: imagesOf(a)}, nil
}

func interruptInput(m *machine, a arguments) (core.Input, error) {
	in := core.TurnInterrupt{To: m.caller()}
	if v := a.option("turn"); v != nil {
		in.TurnID = *v
	}
	return in, nil
}

var pieceKinds = map[string]core.PieceKind{"text": core.PieceText, "reasoning": core.PieceReasoning, "summary": core.PieceReasoningSummary}

func pieceInput(m *machine, a arguments) (core.Input, error) {
	kind, known := pieceKinds[a.word(0)]
	if !known {
		return nil, errors.New("no such kind of piece")
	}
	id, err := effectOf(a, last[core.Sample](m))
	return core.ModelPiece{Effect: id, Piece: core.Piece{Kind: kind, Text: a.word(1)}}, err
}

// effectOf is the effect that the command names, or the one given.
func effectOf(a arguments, otherwise core.EffectID) (core.EffectID, error) {
	id, err := a.number("effect", uint64(otherwise))
	if err == nil && id == 0 {
		err = errors.New("no such effect is under way")
	}
	return core.EffectID(id), err
}

func sampleDoneInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.Sample](m))
	if err != nil {
		return nil, err
	}
	in := core.SampleDone{Effect: id}
	for i, o := range a.options {
		switch o.name {
		case "run":
			in.Answer.Calls = append(in.Answer.Calls, core.ToolCall{
				ID: fmt.Sprintf("call-%d-%d", id, i+1), Name: "shell", Arguments: encode(map[string]string{"command": o.value})})
		case "call":
			parts := append(strings.SplitN(o.value, ":", 3), "", "")
			in.Answer.Calls = append(in.Answer.Calls, core.ToolCall{ID: parts[0], Name: parts[1], Arguments: parts[2]})
		}
	}
	if v := a.option("usage"); v != nil {
		u := protocol.TokenUsageBreakdown{}
		if _, err := fmt.Sscanf(*v, "%d,%d", &u.InputTokens, &u.OutputTokens); err != nil {
			return nil, err
		}
		u.TotalTokens = u.InputTokens + u.OutputTokens
		in.Answer.Usage = &u
	}
	return in, nil
}

func sampleFailedInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.Sample](m))
	if err != nil {
		return nil, err
	}
	e := &core.ModelError{Message: a.word(0), Retry: a.has("retry"), Streaming: a.has("streaming"), Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
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
	return core.SampleFailed{Effect: id, Err: e}, nil
}
