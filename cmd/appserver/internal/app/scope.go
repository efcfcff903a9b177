package app

import (
	"time"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/mcp"
	"appserver/core/engine"
	"appserver/protocol"
)

// currentScope is a configuration with its scope.
type currentScope struct {
	config *config.Config
	scope  *engine.Scope
}

// Current returns the scope of the current configuration.
func (s *setup) Current() *engine.Scope {
	c, now := s.config.Current(), s.current.Load()
	if now == nil || now.config != c {
		now = &currentScope{c, s.scope(c)}
		s.current.Store(now)
	}
	return now.scope
}

// scope returns the values of a configuration, and the ports that depend on it.
func (s *setup) scope(c *config.Config) *engine.Scope {
	prices := c.Reported(s.reportedPrices)
	scope := &engine.Scope{
		Persist:         c.History.SaveHistory,
		RewriteOnUnload: c.Context.RewriteOnUnload,
		UnloadDelay:     time.Duration(c.ThreadUnloadDelaySecs) * time.Second,
		Tracking:        core.Tracking{Worktree: c.Checkpoints.Enabled, Patches: true, Keep: c.Checkpoints.Keep},
		Memory:          c.Memory.Rules(),
		Economy:         c.Context.Economy.Rules(),
		ServerGrace:     c.McpStartupGrace,
		Notify:          c.Notify,
		Warnings:        c.Warnings, ConfigWarnings: c.ProjectWarnings, Deprecations: c.Deprecations(),
		Prices: prices,
		CacheFacts: func(provider, model string) core.CacheFacts {
			p := c.WithProviders(s.config.Current()).ProviderInfo(provider, model, 0)
			return core.CacheFacts{Ratio: prices.CachedPriceRatio(provider, model), Retention: p.CacheRetention}
		},
		Servers: func(cwd string) []mcp.Definition { return definitions(s.config.Latest(c), cwd) },
		Turns:   turns{s, c}, Role: turns{s, c}.role,
	}
	if r := c.Redactor(); r != nil {
		scope.Redactor = r
	}
	scope.Join = func(p *protocol.ThreadResumeParams, now core.Settings) (core.Settings, *engine.Scope, error) {
		settings, next, err := joined(c, p, now)
		if err != nil || next == c {
			return settings, scope, err
		}
		return settings, s.scope(next), nil
	}
	return scope
}

// reportedPrices returns the prices that a provider reports for a model, as far as its list is known.
func (s *setup) reportedPrices(provider, model string) *core.ModelPrices {
	return s.models.Model(provider, model).Prices
}

// joined returns the settings and the configuration of a loaded thread after another client's thread/resume. The params
// change permissions, approvals and what else the configuration restricts, and not the model.
func joined(old *config.Config, p *protocol.ThreadResumeParams, now core.Settings) (core.Settings, *config.Config,
	error) {
	c, err := old.With(p.Config)
	if err != nil {
		return now, old, err
	}
	settings, err := c.Selected(p.Config, now)
	if err != nil {
		return now, old, err
	}
	settings, err = restricted(c, p, settings.WithResume(&protocol.ThreadResumeParams{
		ApprovalPolicy: p.ApprovalPolicy, ApprovalsReviewer: p.ApprovalsReviewer}))
	return settings, c, err
}
