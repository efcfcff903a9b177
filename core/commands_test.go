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

// command runs a line of a script and prints its result.
type command func(m *machine, a arguments, b *strings.Builder) error

// commands is the table of the commands of scripts.
//
//	start [policy=P] [sandbox=S] [floor=D] [mode=legacy] [base=TEXT] [developer=TEXT]
//	turn-start [TEXT] [image=URL] [local=PATH] [skill=NAME] [id=ID] [cwd=] [model=] [effort=] [policy=] [sandbox=] [schema=JSON]
//	steer [TEXT] [turn=ID]        without turn= the active one
//	interrupt [turn=ID]
//	piece text|reasoning|summary TEXT
//	sample-done [run=SCRIPT] [call=ID:NAME:ARGUMENTS] [usage=IN,OUT,CACHED,WRITTEN] [cut=WHY]
//	sample-failed TEXT [retry] [streaming] [loading] [after=D] [status=N] [kind=WORD]
//	tool-started, tool-output TEXT, tool-done [exit=N] [output=TEXT] [fill=LINES] [failure=TEXT] [took=D] [timed-out]
//	servers [tool=NAME:HINTS] [pending]  the tools of the MCP server docs, from the next turn on; hints are r (reads), d (destroys), s (safe), p (prompt), a (approve)
//	tools-known [tool=NAME:HINTS], tool-progress TEXT, tool-called [text=T] [image=DATA] [json=BLOCK] [structured=JSON] [failed] [error=TEXT] [took=D]
//	server-asks TEXT [question=N] [url=URL], server-asks-no-more [question=N]
//	answer accept|acceptForSession|decline|cancel|refused|JSON|any other word [request=N]
//	timer, read [turns], resume [fresh] [no-turns] [exclude] [model=] [policy=] [warning=TEXT], set-name TEXT, archive [stored] [successor=ID], shutdown, end-turn, release-turn
//	timeline [limit=N] [cursor=C] [older]  with older the page before the last one asked for
//	terminals, terminate ID, clean, keys-typed [failure=TEXT]
//	image-read [URL] [failure=TEXT]
//	memory [summarize] [model] [tool] [items=N] [chars=N], memory-mode MODE, remembered [stored=N] [failure=TEXT]
//	recalled [found=TITLE|TEXT|SESSION|IDS] [repo=KEY] [failure=TEXT]
//	own SCRIPT [timeout=D]         a command of the user's own
//	advance D                     the clock goes on by D, not a second, at the next input
//	tokens N                      a tokenizer that knows no model and takes N bytes for a token, from the next start or reload on
//	world [date=] [agents=TEXT] [enforced=BOOL] [retries=N] [stream-retries=N] [window=N] [limit=N] [target=N] [words=N] [keep=N] [strategy=S] [turns=N] [economy=MODE] [keep-outputs=N] [min-saved=N] [tracking=worktree|patches] [checkpoints=N] [images=BOOL] [terminals=BOOL]
//	fork [last=ID] [before=ID] [name=TEXT] [exclude] [model=]  the thread is the fork from then on
//	revert TURN [last=], rollback N [last=], revert-undo [first=], inject JSON..., git [sha=] [branch=] [origin=]  an empty value clears
//	disk full|ok                  what the disk does with the lines from now on
//	prompt [full], settings       of the next model request
//	{...}                         a line that is put into the rollout
//	reload                        Load from all lines, as after a crash
//
// Those on the context are in contextcommands_test.go, those on files in filecommands_test.go. The effect of
// an input is the one under way that fits, or effect=N.
var commands = map[string]command{
	"start": input(startInput), "turn-start": input(turnStartInput), "steer": input(steerInput),
	"interrupt": input(interruptInput),
	"piece":     input(pieceInput), "sample-done": input(sampleDoneInput), "sample-failed": input(sampleFailedInput),
	"tool-started": input(toolStartedInput), "tool-output": input(toolOutputInput), "tool-done": input(toolDoneInput),
	"patch-planned": input(planInput), "patch-written": input(writtenInput),
	"servers": servers, "tools-known": input(toolsKnownInput), "tool-progress": input(toolProgressInput),
	"tool-called": input(toolCalledInput),
	"server-asks": input(serverAsksInput), "server-asks-no-more": input(serverAsksNoMoreInput),
	"answer": input(answerInput), "timer": input(timerInput), "read": input(readInput), "resume": input(resumeInput),
	"set-name": input(setNameInput), "archive": input(archiveInput), "shutdown": input(shutdownInput),
	"end-turn": input(endTurnInput), "release-turn": input(releaseTurnInput), "timeline": timeline,
	"advance": advance, "world": changeWorld, "disk": disk, "prompt": prompt, "settings": settings, "tools": offered,
	"reload": reload, "tokens": tokens,
	"fork": fork, "revert": input(revertInput), "rollback": input(rollbackInput),
	"revert-undo": input(undoRevertInput), "inject": input(injectInput),
	"git": input(gitInput),
	"own": input(ownInput), "image-read": input(imageReadInput), "keys-typed": input(keysTypedInput),
	"terminals": input(func(m *machine, _ arguments) (core.Input, error) {
		return core.ListTerminals{To: m.caller()},
			nil
	}),
	"clean": input(func(m *machine, _ arguments) (core.Input, error) {
		return core.CleanTerminals{To: m.caller()},
			nil
	}),
	"terminate": input(func(m *machine, a arguments) (core.Input, error) {
		return core.TerminateTerminal{To: m.caller(), ID: a.word(0)}, nil
	}),
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
		do, known = contextCommands()[a.words[0]]
	}
	if !known {
		do, known = fileCommands()[a.words[0]]
	}
	if !known {
		do, known = memoryCommands()[a.words[0]]
	}
	if !known {
		return errors.New("no such command")
	}
	return do(m, a, b)
}

// input returns a command that is one input of the thread.
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
	policy, err := policyOf(a)
	if err != nil {
		return nil, err
	}
	sandbox, err := sandboxOf(a)
	if err != nil {
		return nil, err
	}
	if policy != nil {
		m.settings.ApprovalPolicy = *policy
	}
	if sandbox != nil {
		m.settings.Sandbox = *sandbox
	}
	mode := protocol.HistoryPaginated
	if v := a.option("mode"); v != nil {
		mode = *v
	}
	if v := a.option("floor"); v != nil {
		if m.options.CompletedFloor, err = time.ParseDuration(*v); err != nil {
			return nil, err
		}
	}
	in := m.start(mode)
	in.Meta.DeveloperInstructions = a.option("developer")
	if v := a.option("tools"); v != nil {
		if err := json.Unmarshal([]byte(*v), &in.Meta.DynamicTools); err != nil {
			return nil, err
		}
	}
	if v := a.option("base"); v != nil {
		in.Meta.BaseInstructions = &protocol.Instructions{Text: *v}
	}
	return in, nil
}

// policyOf returns the policy= of a command, nil without one: a word or JSON.
func policyOf(a arguments) (*protocol.AskForApproval, error) {
	v := a.option("policy")
	if v == nil {
		return nil, nil
	}
	if !strings.HasPrefix(*v, "{") {
		return &protocol.AskForApproval{Mode: *v}, nil
	}
	p := new(protocol.AskForApproval)
	return p, json.Unmarshal([]byte(*v), p)
}

// sandboxOf returns the sandbox= of a command, nil without one: a mode or JSON.
func sandboxOf(a arguments) (*protocol.SandboxPolicy, error) {
	v := a.option("sandbox")
	if v == nil {
		return nil, nil
	}
	if !strings.HasPrefix(*v, "{") {
		return new(protocol.SandboxMode(*v).Policy()), nil
	}
	p := new(protocol.SandboxPolicy)
	return p, json.Unmarshal([]byte(*v), p)
}

// userInput returns the text and the images of a command.
func userInput(a arguments) []protocol.UserInput {
	in := []protocol.UserInput{}
	add := func(v protocol.UserInputVariant) { in = append(in, protocol.UserInput{UserInputVariant: v}) }
	for _, text := range a.words[1:] {
		add(&protocol.TextInput{Text: text, TextElements: []protocol.TextElement{}})
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

// imagesOf returns the local images. Those whose path begins with /none cannot be read.
func imagesOf(a arguments) map[string]core.LocalImage {
	images := map[string]core.LocalImage{}
	for _, path := range a.all("local") {
		images[path] = core.LocalImage{URL: "data:image/png;base64," + strings.TrimPrefix(path, "/")}
		if strings.HasPrefix(path, "/none") {
			images[path] = core.LocalImage{Problem: "no such file or directory"}
		}
	}
	return images
}

func turnStartInput(m *machine, a arguments) (core.Input, error) {
	policy, err := policyOf(a)
	if err != nil {
		return nil, err
	}
	sandbox, err := sandboxOf(a)
	if err != nil {
		return nil, err
	}
	p := &protocol.TurnStartParams{
		ThreadID: threadID, Input: userInput(a), ClientUserMessageID: a.option("id"), ApprovalPolicy: policy,
		SandboxPolicy: sandbox,
		Cwd:           a.option("cwd"), Model: a.option("model"), Effort: a.option("effort"),
	}
	if v := a.option("schema"); v != nil {
		p.OutputSchema = json.RawMessage(*v)
	}
	if v := a.option("mode"); v != nil {
		p.CollaborationMode = &protocol.CollaborationMode{Mode: *v,
			Settings: protocol.CollaborationModeSettings{DeveloperInstructions: a.option("mode-text"),
				ReasoningEffort: a.option("effort")}}
	}
	return core.TurnStart{To: m.caller(), Params: p, Images: imagesOf(a), Skills: skillsOf(a), Env: m.world}, nil
}

// skillsOf returns the reads= of a command, NAME:TEXT.
func skillsOf(a arguments) []core.SkillText {
	v := a.option("reads")
	if v == nil {
		return nil
	}
	name, text, _ := strings.Cut(*v, ":")
	return []core.SkillText{{Name: name, Path: "/repo/.agents/skills/" + name + "/SKILL.md", Text: text}}
}

func steerInput(m *machine, a arguments) (core.Input, error) {
	turn := m.thread.ActiveTurn()
	if v := a.option("turn"); v != nil {
		turn = *v
	}
	p := &protocol.TurnSteerParams{ThreadID: threadID, Input: userInput(a), ExpectedTurnID: turn}
	return core.TurnSteer{To: m.caller(), Params: p, Images: imagesOf(a), Skills: skillsOf(a)}, nil
}

func interruptInput(m *machine, a arguments) (core.Input, error) {
	in := core.TurnInterrupt{To: m.caller()}
	if v := a.option("turn"); v != nil {
		in.TurnID = *v
	}
	return in, nil
}

func answerInput(m *machine, a arguments) (core.Input, error) {
	open := m.thread.OpenRequests()
	otherwise := uint64(0)
	if len(open) > 0 {
		otherwise = open[0]
	}
	id, err := a.number("request", otherwise)
	if err != nil {
		return nil, err
	}
	switch word := a.word(0); {
	case word == "refused":
		return core.ClientAnswer{Request: id, Err: errors.New("method not found")}, nil
	case strings.HasPrefix(word, "{"):
		return core.ClientAnswer{Request: id, Result: json.RawMessage(word)}, nil
	default:
		return core.ClientAnswer{Request: id, Result: json.RawMessage(`{"decision":` + strconv.Quote(word) + `}`)}, nil
	}
}

func readInput(m *machine, a arguments) (core.Input, error) {
	return core.Read{To: m.caller(), IncludeTurns: a.has("turns")}, nil
}

func resumeInput(m *machine, a arguments) (core.Input, error) {
	policy, err := policyOf(a)
	p := &protocol.ThreadResumeParams{ThreadID: threadID, ExcludeTurns: a.has("exclude"), Model: a.option("model"),
		ApprovalPolicy: policy}
	settings := m.thread.Settings()
	if a.has("fresh") {
		settings = settings.WithResume(p)
	}
	return core.Resume{To: m.caller(), Params: p, Env: m.world, Settings: settings,
		Fresh: a.has("fresh"), NoTurns: a.has("no-turns"), Warnings: a.all("warning")}, err
}

func setNameInput(m *machine, a arguments) (core.Input, error) {
	return core.SetName{To: m.caller(), Name: a.word(0)}, nil
}

func revertInput(m *machine, a arguments) (core.Input, error) {
	return core.Revert{To: m.caller(), Before: new(a.word(0)), ExpectedLast: a.option("last")}, nil
}

func undoRevertInput(m *machine, a arguments) (core.Input, error) {
	return core.UndoRevert{To: m.caller(), Expected: a.option("first")}, nil
}

func rollbackInput(m *machine, a arguments) (core.Input, error) {
	n, err := strconv.ParseUint(a.word(0), 10, 32)
	return core.Revert{To: m.caller(), Last: uint32(n), ExpectedLast: a.option("last")}, err
}

func injectInput(m *machine, a arguments) (core.Input, error) {
	p := protocol.ThreadInjectItemsParams{}
	for _, word := range a.words[1:] {
		p.Items = append(p.Items, json.RawMessage(word))
	}
	items, err := p.Decode()
	if err != nil {
		return nil, err
	}
	return core.InjectItems{To: m.caller(), Items: items, Env: &m.world}, nil
}

func gitInput(m *machine, a arguments) (core.Input, error) {
	return core.SetMetadata{To: m.caller(), Git: protocol.ThreadMetadataGitInfoUpdateParams{
		Sha: a.option("sha"), Branch: a.option("branch"), OriginURL: a.option("origin")}}, nil
}

func archiveInput(m *machine, a arguments) (core.Input, error) {
	in := core.Archive{To: m.caller(), Stored: a.has("stored")}
	if id := a.option("successor"); id != nil {
		in.Successor = *id
	}
	return in, nil
}

func endTurnInput(*machine, arguments) (core.Input, error) { return core.EndTurn{}, nil }

func releaseTurnInput(*machine, arguments) (core.Input, error) { return core.ReleaseTurn{}, nil }

func shutdownInput(*machine, arguments) (core.Input, error) { return core.Shutdown{}, nil }

func ownInput(m *machine, a arguments) (core.Input, error) {
	in := core.RunUserCommand{To: m.caller(), Script: a.word(0), Timeout: time.Hour, Env: m.world}
	var err error
	if v := a.option("timeout"); v != nil {
		in.Timeout, err = time.ParseDuration(*v)
	}
	return in, err
}
