package core

import (
	"time"

	"appserver/core/compaction"
	"appserver/core/history"
	"appserver/protocol"
)

// Settings are what a turn runs with. They stick until a client changes them.
type Settings struct {
	Model          string
	Provider       string
	Cwd            string
	ApprovalPolicy protocol.AskForApproval
	Reviewer       protocol.ApprovalsReviewer
	Sandbox        protocol.SandboxPolicy
	Effort         *string
	Summary        string
	ServiceTier    *string
	// Mode is plan, or "" for the default; ModeText is what the client has the model told
	// of it, nil for our own words.
	Mode     string
	ModeText *string
}

// Options are fixed for the life of a loaded thread.
type Options struct {
	// Ephemeral threads keep no rollout.
	Ephemeral bool
	// Visited is set where the thread is loaded for one input only.
	Visited bool
	// Path is the rollout's, "" for ephemeral threads.
	Path string
	// Began is when the thread began as the file's name tells, for rollouts that have
	// lost their first line.
	Began time.Time
	// Written is the time of the file, for rollouts without a readable time in their lines.
	Written time.Time
	// Name is the thread's where other programs keep names, "" where they keep none,
	// and NamedAt when it got it. The newer of it and the rollout's counts.
	Name    string
	NamedAt time.Time
	// Next is the least ordinal of the next line: damaged lines have ordinals too.
	Next int64
	// CompletedFloor is the least time between the answer of turn/start or
	// turn/interrupt and the turn's turn/completed.
	CompletedFloor time.Duration
	// Tokens counts tokens; nil counts one for every four bytes.
	Tokens history.Tokenizer
	// Capabilities are the tools for a model until a world tells them; nil are none.
	Capabilities func(provider, model string) Capabilities
	// Memory says what is remembered until a world tells it.
	Memory MemoryRules
}

// TurnEnv is what the machine is to know of the world outside when a turn starts.
type TurnEnv struct {
	// Shell is the path of the user's shell.
	Shell string
	// Date is the local date, YYYY-MM-DD, and Timezone its zone.
	Date, Timezone string
	// Instructions are the AGENTS.md files that apply, from the repository's root
	// down to the working directory.
	Instructions []InstructionFile
	// Enforced is set where the kernel can confine commands to the sandbox policy.
	Enforced bool
	// Environment is what commands get of the server's.
	Environment EnvironmentPolicy
	// Provider describes the provider of the turn's settings.
	Provider ProviderInfo
	// Capabilities are the tools beside those that all models have.
	Capabilities Capabilities
	// Compaction says when and how the context is compacted.
	Compaction compaction.Rules
	// Tools are those of MCP servers, ToolsPending is set while more may come soon.
	Tools        []ServerTool
	ToolsPending bool
	// MaxTurns bounds the turns in the context; 0 is no bound.
	MaxTurns int
	// Announces is set if completed turns are announced to a program of the user's.
	Announces bool
	// Tracking says what is kept of the files that turns change.
	Tracking Tracking
	// Memory says what is remembered, and what the model is reminded of.
	Memory MemoryRules
}

// Capabilities are what a model is offered only where it makes sense.
type Capabilities struct {
	// Images is set where the model takes images.
	Images bool
	// Terminals is set where commands may go on in the background.
	Terminals bool
	// Skills is what the model is told of the skills that there are, "" without any.
	Skills string
	// Questions is set where the model may ask the user in every mode.
	Questions bool
	// Responses is set if the provider speaks the Responses API, which takes back encrypted reasoning
	// and items of its own.
	Responses bool
	// Verbosity is how long the model's text is to be: low, medium or high; "" leaves it to the model.
	Verbosity string
	// WebSearch is how the provider may search the web for the model.
	WebSearch WebSearch
}

// InstructionFile is an AGENTS.md file.
type InstructionFile struct{ Path, Text string }

// ProviderInfo is what the machine needs to know of a model provider.
type ProviderInfo struct {
	// RequestMaxRetries counts silent retries of requests that got no answer, or a server's
	// error, StreamMaxRetries those that the client is told of.
	RequestMaxRetries, StreamMaxRetries int
	// ContextWindow is the model's, in tokens; nil where it is not known.
	ContextWindow *int64
}

// WithTurn are the settings with the overrides of a turn/start.
func (s Settings) WithTurn(p *protocol.TurnStartParams) Settings {
	set(&s.Cwd, p.Cwd)
	set(&s.Model, p.Model)
	set(&s.ApprovalPolicy, p.ApprovalPolicy)
	set(&s.Reviewer, p.ApprovalsReviewer)
	set(&s.Sandbox, p.SandboxPolicy)
	set(&s.Summary, p.Summary)
	setOptional(&s.Effort, p.Effort)
	setOptional(&s.ServiceTier, p.ServiceTier)
	return s.withMode(p.CollaborationMode)
}

// withMode are the settings with those of a mode, which are stronger; nil is no change.
func (s Settings) withMode(m *protocol.CollaborationMode) Settings {
	if m == nil {
		return s
	}
	s.Mode = ""
	if m.Mode == protocol.ModePlan {
		s.Mode = m.Mode
	}
	set(&s.Model, optional(m.Settings.Model))
	s.Effort, s.ModeText = m.Settings.ReasoningEffort, m.Settings.DeveloperInstructions
	return s
}

// WithResume are the settings with the overrides of a thread/resume.
func (s Settings) WithResume(p *protocol.ThreadResumeParams) Settings {
	set(&s.Cwd, p.Cwd)
	set(&s.Model, p.Model)
	set(&s.Provider, p.ModelProvider)
	set(&s.ApprovalPolicy, p.ApprovalPolicy)
	set(&s.Reviewer, p.ApprovalsReviewer)
	if p.Sandbox != nil {
		s.Sandbox = p.Sandbox.Policy()
	}
	setOptional(&s.ServiceTier, p.ServiceTier)
	return s
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func setOptional[T any](to **T, from *T) {
	if from != nil {
		*to = from
	}
}
