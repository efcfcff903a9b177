package core

import (
	"time"

	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/core/pure/state"
)

// Settings are the settings of turns. They hold until a client changes them.
type Settings = state.Settings

// Permissions are a sandbox policy with its permission profile.
type Permissions = state.Permissions

// Options do not change while a thread is loaded.
type Options struct {
	// Ephemeral threads keep no rollout.
	Ephemeral bool
	// Visited is set if the thread is loaded for one input only.
	Visited bool
	// Path is the path of the rollout, or "" for ephemeral threads.
	Path string
	// Began is the time in the rollout's file name, for rollouts without a first line.
	Began time.Time
	// Written is the modification time of the file, for rollouts without a readable time.
	Written time.Time
	// Name is the name that other programs have stored, or "". NamedAt is its time. The newer of it
	// and the rollout's name counts.
	Name    string
	NamedAt time.Time
	// Next is the lowest ordinal of the next line. Damaged lines have ordinals as well.
	Next int64
	// CompletedFloor is the minimum time between the response to turn/start or turn/interrupt and
	// turn/completed. A turn that a crash cut off, and that was not continued, is completed at once.
	CompletedFloor time.Duration
	// Tokens counts tokens. A nil counter counts one for four bytes.
	Tokens Tokenizer
	// Capabilities returns the capabilities of a model until a turn brings its own. It can be nil.
	Capabilities func(provider, model string) Capabilities
	// Memory and Economy have rules until a turn brings its own.
	Memory  MemoryRules
	Economy EconomyRules
}

// TurnEnv has the facts outside of the core that a turn needs.
type TurnEnv struct {
	// Shell is the path of the user's shell.
	Shell string
	// Date is the local date, YYYY-MM-DD, and Timezone its zone.
	Date, Timezone string
	// Instructions are the AGENTS.md files that apply, from the root of the repository down to the
	// working directory.
	Instructions []InstructionFile
	// NoEnvironment is set if the model gets no description of the environment.
	NoEnvironment bool
	// Warnings are about files of the working directory that are left out. The client gets each once.
	Warnings []string
	// Enforced is set if the kernel can confine commands to the sandbox policy.
	Enforced bool
	// ConfinesReading is set if the kernel can confine commands to reading. That needs less than Enforced.
	ConfinesReading bool
	// CommandRules are the user's rules for commands.
	CommandRules CommandRules
	// Environment selects the environment variables of commands.
	Environment EnvironmentPolicy
	// Provider describes the model provider.
	Provider ProviderInfo
	// Capabilities select the tools that depend on model and configuration.
	Capabilities Capabilities
	// Compaction has the rules of automatic compaction.
	Compaction compaction.Rules
	// Economy has the rules of automatic edits.
	Economy EconomyRules
	// Tools are the tools of MCP servers. ToolsPending is set while servers connect.
	Tools        []ServerTool
	ToolsPending bool
	// MaxTurns bounds the turns in the context. 0 is no bound.
	MaxTurns int
	// Announces is set if a program of the user is notified of completed turns.
	Announces bool
	// Tracking selects which file changes are recorded.
	Tracking Tracking
	// Memory has the rules of memory.
	Memory MemoryRules
}

// Capabilities are the parts of a prompt that depend on the model, the provider and the
// configuration.
type Capabilities struct {
	// Images is set if the model takes images.
	Images bool
	// NoTools is set if the model calls no tools, NoThinking if it does not reason. Providers refuse requests that
	// ask for either.
	NoTools, NoThinking bool
	// NoImages is set if the provider reports that the model takes no images. Some providers drop them without an error.
	NoImages bool
	// Terminals is set if commands may run in the background.
	Terminals bool
	// Skills is the list of skills for the model, or "".
	Skills string
	// Questions is set if the model may ask the user in every mode.
	Questions bool
	// Responses is set if the provider speaks the Responses API. It takes back encrypted reasoning
	// and its own items.
	Responses bool
	// Verbosity is the length of the model's text: low, medium or high. "" is the model's default.
	Verbosity string
	// WebSearch configures the provider's search of the web.
	WebSearch WebSearch
	// Limits are restrictions of the configuration.
	Limits Limits
	// Agents are the rules for agents that the model starts.
	Agents AgentRules
}

// Limits restrict what a model may do, beside the policies. The zero value restricts nothing.
type Limits struct {
	// NoShell is set if the model runs no commands, NoPlan if it has no plan, and NoQuestions if it asks the user nothing.
	NoShell, NoPlan, NoQuestions bool
	// NoLogin is set if commands of the model run in no login shell.
	NoLogin bool
	// NoAbortedNote is set if the context gets no message about an interrupted turn.
	NoAbortedNote bool
	// Output bounds the output of a call for the model, in tokens. 0 is the bound of each tool.
	Output int
	// ToolSearch decides which tools of servers are found by a search.
	ToolSearch ToolSearch
}

// InstructionFile is an AGENTS.md file.
type InstructionFile struct{ Path, Text string }

// MemoryRules configure what a thread stores in the memory and receives from it. The zero value does
// neither.
type MemoryRules struct {
	// Summarize is set if removed items are summarised and stored, ByModel if the model summarises them.
	Summarize, ByModel bool
	// Items and Chars bound the reminder in a request. An Items of 0 turns reminders off.
	Items, Chars int
	// Tool is set if the model has the recall tool.
	Tool bool
}

// EconomyRules configure the economy of the context.
type EconomyRules struct {
	// Mode is one of protocol's Economy constants; "" is off.
	Mode string
	// MinPercent is the least share of the next request that an edit must save, in percent.
	MinPercent int
	// KeepOutputs is the number of the last tool outputs that stay.
	KeepOutputs int
}

// CacheFacts describe the cache of a provider.
type CacheFacts struct {
	// Ratio is the price of a cached token over that of another one. Retention is the time for which the
	// provider keeps the prefix of a request.
	Ratio     float64
	Retention time.Duration
}

// Tokenizer counts tokens.
type Tokenizer = history.Tokenizer

// Tracking selects which file changes of turns are recorded.
type Tracking struct {
	// Worktree is set if the worktree is captured before each turn and around commands that may
	// write. Patches is set if the changes of patches are recorded.
	Worktree, Patches bool
	// Keep is the largest number of checkpoints of a thread.
	Keep int
}
