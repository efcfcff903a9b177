package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"appserver/core"
	"appserver/core/engine"
	"appserver/protocol"
)

// agent is a model and a shell that follow the user's text and the commands.
type agent struct {
	// released ends what ignores its cancellation.
	released chan struct{}
	once     sync.Once
	// emitted counts pieces of floods, running what is under way.
	emitted, running, tries atomic.Int64

	mu      sync.Mutex
	prompts []*core.Prompt
	// sent are the prompts as they were when they came.
	sent     []string
	commands []core.Command
}

func newAgent() *agent { return &agent{released: make(chan struct{})} }

func (a *agent) release() { a.once.Do(func() { close(a.released) }) }

// Stream answers the last message of the user. Its first word selects the action:
//
//	say TEXT     answers the text
//	run COMMAND  calls the shell
//	call NAME X  calls that tool with the arguments X
//	fail, error  fails
//	flaky        fails within its answer and can be retried; the next request answers "passed"
//	panic        panics
//	hang         emits text, then waits for its cancellation
//	flood        emits text each millisecond until it is cancelled
//	linger       like hang, but runs for a second after its cancellation, and succeeds
//	ignore       like hang, but ignores its cancellation before release
//
// After a command it answers "done".
func (a *agent) Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	a.running.Add(1)
	defer a.running.Add(-1)
	a.mu.Lock()
	a.prompts, a.sent = append(a.prompts, p), append(a.sent, encode(p.Items))
	a.mu.Unlock()
	word, rest, _ := strings.Cut(lastWords(p), " ")
	say := func(text string) { emit(core.Piece{Text: text}) }
	switch word {
	case "run":
		arguments, err := json.Marshal(map[string]string{"command": rest})
		return core.Answer{Calls: []core.ToolCall{{ID: "call", Name: "shell", Arguments: string(arguments)}}}, err
	case "call":
		name, arguments, _ := strings.Cut(rest, " ")
		return core.Answer{Calls: []core.ToolCall{{ID: "call", Name: name, Arguments: arguments}}}, nil
	case "stay":
		arguments, err := json.Marshal(map[string]any{"cmd": rest, "yield_time_ms": 250})
		return core.Answer{Calls: []core.ToolCall{{ID: "call", Name: "exec_command", Arguments: string(arguments)}}}, err
	case "fail":
		return core.Answer{}, &core.ModelError{Message: "503", Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
	case "error":
		return core.Answer{}, errors.New("no error of the core's")
	case "flaky":
		if a.tries.Add(1)%2 == 1 {
			return core.Answer{},
				&core.ModelError{Message: "503", Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}, Retry: true,
					Streaming: true}
		}
		say("passed")
	case "say":
		say(rest)
	default:
		if err := a.misbehave(ctx, word, say); err != nil {
			return core.Answer{}, err
		}
	}
	return core.Answer{Usage: &protocol.TokenUsageBreakdown{InputTokens: 7, OutputTokens: 3, TotalTokens: 10}}, nil
}

func lastWords(p *core.Prompt) string {
	if len(p.Items) == 0 { // all of them are excluded
		return ""
	}
	last := p.Items[len(p.Items)-1]
	switch v := last.ResponseItemVariant.(type) {
	case *protocol.FunctionCallOutput:
		return "say done"
	case *protocol.Message:
		return v.Content[0].Text
	}
	return ""
}

// Run executes the command's first word: those of Stream, and
//
//	touch FILE   prints it and succeeds
func (a *agent) Run(ctx context.Context, c core.Command, _ <-chan string, started func(string),
	output func(string)) core.ToolResult {
	a.running.Add(1)
	defer a.running.Add(-1)
	script := c.Argv[len(c.Argv)-1]
	a.mu.Lock()
	a.commands = append(a.commands, c)
	a.mu.Unlock()
	word, rest, _ := strings.Cut(script, " ")
	started("7")
	if word == "touch" {
		output("touched " + rest + "\n")
	} else if err := a.misbehave(ctx, word, output); err != nil {
		return core.ToolResult{Failure: err.Error()}
	}
	return core.ToolResult{Output: "touched\n", ExitCode: new(0)}
}

func (a *agent) misbehave(ctx context.Context, word string, say func(string)) error {
	switch word {
	case "panic":
		panic("the effect has a fault")
	case "hang":
		say("…")
		<-ctx.Done()
		return ctx.Err()
	case "linger":
		say("…")
		<-ctx.Done()
		say("late")
		time.Sleep(time.Second)
		say("later")
	case "ignore":
		say("…")
		<-a.released
		say("late")
	case "flood":
		for ctx.Err() == nil {
			say("x")
			a.emitted.Add(1)
			time.Sleep(time.Millisecond)
		}
		return ctx.Err()
	}
	return nil
}

// ran returns the commands so far.
func (a *agent) ran() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	scripts := []string{}
	for _, c := range a.commands {
		scripts = append(scripts, c.Argv[len(c.Argv)-1])
	}
	return scripts
}

// last returns the last prompt as it came: its items as JSON.
func (a *agent) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sent[len(a.sent)-1]
}

// asked returns the prompts so far.
func (a *agent) asked() []*core.Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.prompts)
}

// setup has the settings of threads. It is asked for a turn's environment in the thread's goroutine,
// so enter can block a thread.
type setup struct {
	memory   core.MemoryRules
	grows    bool          // rollouts are not rewritten
	unload   time.Duration // how long unused threads stay loaded; 0 is without limit
	hide     string
	tracking core.Tracking
	policy   string
	persist  bool
	ready    error
	mu       sync.Mutex
	enter    func(model string) error
}

func (s *setup) Start(p *protocol.ThreadStartParams) (engine.Template, error) {
	settings := s.Settings()
	if p.Model != nil {
		settings.Model = *p.Model
	}
	return engine.Template{Settings: settings}, nil
}

func (s *setup) Settings() core.Settings {
	return core.Settings{
		Model: "model-1", Provider: "mock", Cwd: "/nowhere", ApprovalPolicy: protocol.AskForApproval{Mode: s.policy},
		Reviewer: protocol.ReviewerUser, Sandbox: protocol.SandboxDangerFullAccess.Policy(), Summary: "auto",
	}
}

func (s *setup) Capabilities(string, string) core.Capabilities {
	return core.Capabilities{Terminals: true}
}

// Skills returns every skill, with the directory of its lookup as its file.
func (s *setup) Skills(cwd string, input []protocol.UserInput) (texts []core.SkillText) {
	for _, in := range input {
		if v, ok := in.UserInputVariant.(*protocol.SkillInput); ok {
			texts = append(texts, core.SkillText{Name: v.Name, Path: v.Path, Text: "found from " + cwd})
		}
	}
	return texts
}

func (s *setup) Env(settings core.Settings) (core.TurnEnv, error) {
	s.mu.Lock()
	enter := s.enter
	s.mu.Unlock()
	if enter != nil {
		if err := enter(settings.Model); err != nil {
			return core.TurnEnv{}, err
		}
	}
	return core.TurnEnv{Shell: "/bin/bash", Date: "2000-01-01", Timezone: "Etc/UTC",
		Provider: core.ProviderInfo{RequestMaxRetries: 1, StreamMaxRetries: 1}, Capabilities: s.Capabilities("", "")}, s.ready
}

func (s *setup) Permissions(*protocol.TurnStartParams, core.Settings) (*core.Permissions, error) {
	return nil, nil
}

func (s *setup) Resume(p *protocol.ThreadResumeParams, stored core.Settings) (core.Settings, *engine.Scope, error) {
	if p.Sandbox != nil {
		stored = stored.WithPermissions(core.Permissions{Sandbox: p.Sandbox.Policy()})
	}
	return stored.WithResume(p), nil, nil
}

func (s *setup) join(p *protocol.ThreadResumeParams, now core.Settings) (core.Settings, *engine.Scope, error) {
	if p.Sandbox != nil {
		now = now.WithPermissions(core.Permissions{Sandbox: p.Sandbox.Policy()})
	}
	return now.WithResume(&protocol.ThreadResumeParams{ApprovalPolicy: p.ApprovalPolicy}), nil, nil
}

// onWorld sets what is called, with the thread's model, when a world is asked for.
func (s *setup) onWorld(enter func(model string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter = enter
}

// Render shows the prompt's items.
func (a *agent) Render(p *core.Prompt) (r core.RenderedPrompt, err error) {
	for _, item := range p.Items {
		raw, err := protocol.Marshal(item)
		if err != nil {
			return r, err
		}
		r.Messages = append(r.Messages, raw)
	}
	return r, nil
}
