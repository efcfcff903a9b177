package engine

import (
	"time"

	"appserver/core"
	"appserver/core/effects/mcp"
	"appserver/protocol"
)

// Scope is the configuration of a thread: values, and ports whose results depend on more than the thread. It does
// not change.
type Scope struct {
	// Persist is set if threads have rollouts.
	Persist bool
	// RewriteOnUnload is set if the rollout of the thread is rewritten when the thread is unloaded.
	RewriteOnUnload bool
	// UnloadDelay is the time from the last subscriber of the thread to its unloading. A negative value
	// disables unloading.
	UnloadDelay time.Duration
	// Redactor removes secrets from the lines of the thread, or is nil.
	Redactor Redactor
	// Tracking is how file changes are tracked. Memory and Economy are the rules of the memory and of automatic edits.
	Tracking core.Tracking
	Memory   core.MemoryRules
	Economy  core.EconomyRules
	// ServerGrace is the time that a turn waits for connections to MCP servers.
	ServerGrace time.Duration
	// Notify has the program that announces completed turns and its arguments, or is empty.
	Notify []string
	// Warnings describe settings of the thread's own configuration that have no effect. ConfigWarnings describe
	// problems in the configuration files of its project.
	Warnings, ConfigWarnings []string
	// Deprecations has a notice for each deprecated setting.
	Deprecations []protocol.DeprecationNoticeNotification
	Prices       Prices
	// CacheFacts describes the cache of a model's provider.
	CacheFacts func(provider, model string) core.CacheFacts
	// Servers returns the MCP servers of the thread, with the current settings of the configuration files.
	Servers func(cwd string) []mcp.Definition
	Turns   Turns
	// Role returns the role of agents with a name. It reads the disk. Nil has no roles.
	Role func(name string) (role core.AgentRole, found bool)
	// Join returns the settings of the loaded thread after a thread/resume, and its scope, which is this one unless the
	// params have a configuration. An error rejects the request.
	Join func(p *protocol.ThreadResumeParams, now core.Settings) (core.Settings, *Scope, error)
}

// Configuration makes the scopes of threads.
type Configuration interface {
	// Current returns the scope of threads without a configuration of their own. It changes with the configuration.
	Current() *Scope
	// Start returns the settings of a new thread.
	Start(p *protocol.ThreadStartParams) (Template, error)
	// Resume returns the settings of a stored thread with the client's overrides.
	Resume(p *protocol.ThreadResumeParams, stored core.Settings) (core.Settings, *Scope, error)
}

// Defaults supply the settings that a rollout does not contain.
type Defaults interface {
	// Settings returns the settings for missing values.
	Settings() core.Settings
	// Capabilities returns the capabilities of a model without the configuration of a thread.
	Capabilities(provider, model string) core.Capabilities
}

// Turns supply the facts of a thread's configuration and of the system for a turn.
type Turns interface {
	// Permissions returns the permissions that a turn/start names, or nil. The settings have the directory of
	// the turn.
	Permissions(p *protocol.TurnStartParams, settings core.Settings) (*core.Permissions, error)
	// Env returns the environment of a turn with these settings. An error rejects the turn. An
	// error of kind providerNotReady names the missing part of the provider's configuration.
	Env(s core.Settings) (core.TurnEnv, error)
	// Skills returns the skills that an input names, with their texts. It reads the disk.
	Skills(cwd string, input []protocol.UserInput) []core.SkillText
}

// Prices are the prices of models.
type Prices interface {
	// CachedPriceRatio returns the price of a cached input token of a model over that of another one.
	CachedPriceRatio(provider, model string) float64
	// OutputPriceRatio returns the price of an output token of a model over that of an input token that is
	// not cached, or nil if it is not known.
	OutputPriceRatio(provider, model string) *float64
}

// Redactor removes secrets from lines and texts before they are written.
type Redactor interface {
	// Line returns the line without secrets. It does not change its argument.
	Line(protocol.RolloutLine) protocol.RolloutLine
	Text(string) string
}

// Template has the settings of a new thread.
type Template struct {
	Settings              core.Settings
	BaseInstructions      *string
	DeveloperInstructions *string
	// Scope is nil if the thread has no configuration of its own.
	Scope *Scope
	// Warnings describe requested settings that have no effect.
	Warnings []string
}

// config returns the configuration of the thread. Without its own one it is the current configuration of the server.
func (a *actor) config() *Scope {
	if a.scope != nil {
		return a.scope
	}
	return a.engine.parts.Config.Current()
}
