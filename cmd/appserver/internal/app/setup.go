package app

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync/atomic"

	"appserver/cmd/appserver/internal/fleet"
	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/workspace"
	"appserver/core/engine"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// setup supplies the settings of threads from the configuration and the system. It implements engine.Configuration
// and engine.Defaults.
type setup struct {
	*localHome
	models *model.ModelCache
	skills *skills
	// confinement reports whether the kernel confines commands.
	confinement func() protocol.SandboxDiagnostics
	// confinesReading reports whether the kernel confines commands that only read. enforced is that it confines all.
	confinesReading func(enforced bool) bool
	// current is the scope of the current configuration after its first use.
	current atomic.Pointer[currentScope]
}

// newSetup returns the settings with models and with the probes of the kernel.
func newSetup(local *localHome, models *model.ModelCache, confines *confinement) *setup {
	return &setup{localHome: local, models: models, confinement: confines.diagnose,
		confinesReading: confines.confinesReading, skills: &skills{home: local.home, userHome: os.Getenv("HOME")}}
}

// Start returns the settings and the scope of a new thread.
func (s *setup) Start(p *protocol.ThreadStartParams) (engine.Template, error) {
	var t engine.Template
	cwd, err := workspace.ResolveCwd(s.cwd, p.Cwd)
	if err != nil {
		return t, protocol.Refuse(protocol.KindCwdNotFound, "%v", err)
	}
	if err := s.checkWorkspace(cwd); err != nil {
		return t, err
	}
	c, warnings, err := s.configFor(p, cwd)
	if err != nil {
		return t, err
	}
	t.Scope, t.Warnings = s.scope(c), append(warnings, c.Warnings...)
	own := *p
	own.Config = nil // c contains these overrides
	own.Model = s.modelOf(c, p)
	if t.Settings, err = c.Settings(&own, cwd); err != nil {
		return t, err
	}
	if err := toolspec.CheckDynamicTools(p.DynamicTools, core.BuiltInTools()); err != nil {
		return t, err
	}
	t.DeveloperInstructions = p.DeveloperInstructions
	if t.DeveloperInstructions == nil {
		t.DeveloperInstructions = c.DeveloperInstructions
	}
	t.BaseInstructions, err = baseInstructions(c, p)
	return t, err
}

// modelOf returns the model of a new thread, or nil for the configured one. If the thread names only a provider that
// has none, it is one that the provider lists.
func (s *setup) modelOf(c *config.Config, p *protocol.ThreadStartParams) *string {
	c = c.WithProviders(s.config.Current())
	provider := c.ModelProvider
	protocol.Override(&provider, p.ModelProvider)
	if p.Model != nil || c.HasModel(provider) || c.Ready(provider) != nil {
		return p.Model
	}
	return protocol.OrNil(c.DefaultModel(provider, s.models.Wait(provider)))
}

// configFor returns the configuration of a new thread in cwd. If the client names the directory and permits
// the thread to write in it, the client trusts the project. Then configFor records the trust and applies
// the configuration of the project. A decision of the user takes precedence.
func (s *setup) configFor(p *protocol.ThreadStartParams, cwd string) (c *config.Config, warnings []string, err error) {
	c, err = s.config.Current().For(cwd, p.Config)
	if err != nil || p.Cwd == nil {
		return c, nil, err
	}
	permissions, err := c.Permissions(requested(p.Permissions, p.Sandbox, p.RuntimeWorkspaceRoots), cwd)
	if err != nil {
		return c, nil, err
	}
	root := c.TrustTarget()
	if _, readOnly := permissions.Sandbox.SandboxPolicyVariant.(*protocol.ReadOnly); root == "" || readOnly {
		return c, nil, nil
	}
	overrides := p.Config
	if err := s.config.Trust(root); err != nil {
		warnings = append(warnings,
			fmt.Sprintf("%s is trusted for this thread only: the trust cannot be recorded: %v", root, err))
		if overrides, err = config.TrustOverride(overrides, root); err != nil {
			return c, nil, err
		}
	}
	c, err = s.config.Current().For(cwd, overrides)
	return c, warnings, err
}

// checkWorkspace returns an error unless turns may run in a directory on this server.
func (s *setup) checkWorkspace(dir string) error {
	return fleet.CheckWorkspace(s.config.Current().Fleet.Workspaces, dir)
}

func requested(profile *string, mode *protocol.SandboxMode, roots *[]string) config.Requested {
	return config.Requested{Profile: profile, Mode: mode, Roots: roots}
}

// startWarnings returns the warnings for each client that connects.
func (s *setup) startWarnings() []string {
	c, warnings := s.config.Current(), s.config.Current().Warnings
	project, err := c.For(s.cwd, nil)
	if err != nil {
		return append(slices.Clip(warnings), err.Error())
	}
	warnings = append(slices.Clip(warnings), project.ProjectWarnings...)
	if text := project.Disabled(); text != "" {
		warnings = append(warnings, text)
	}
	return warnings
}

// general returns the configuration of threads in cwd without overrides.
func (s *setup) general(cwd string) *config.Config {
	if c, err := s.config.Current().For(cwd, nil); err == nil {
		return c
	}
	return s.config.Current()
}

// Resume returns a stored thread's settings with the client's overrides. The params take precedence
// over the params' config.
func (s *setup) Resume(p *protocol.ThreadResumeParams, stored core.Settings) (core.Settings, *engine.Scope, error) {
	if p.Cwd != nil {
		cwd, err := workspace.ResolveCwd(s.cwd, p.Cwd)
		if err != nil {
			return stored, nil, protocol.Refuse(protocol.KindCwdNotFound, "%v", err)
		}
		own := *p
		own.Cwd, p = &cwd, &own
	}
	dir := stored.Cwd
	if p.Cwd != nil {
		dir = *p.Cwd
	}
	c, err := s.config.Current().For(dir, p.Config)
	if err != nil {
		return stored, nil, err
	}
	if p.ModelProvider != nil {
		if _, err := c.Provider(*p.ModelProvider); err != nil {
			return stored, nil, err
		}
	}
	settings, err := c.Selected(p.Config, overridden(stored, s.defaults(s.general(dir)), s.defaults(c)).WithResume(p))
	if err != nil {
		return stored, nil, err
	}
	settings, err = restricted(c, p, settings.WithResume(p))
	return settings, s.scope(c), err
}

// restricted returns settings with the permissions that the params select. It fails if the requirements do not permit
// what the params select.
func restricted(c *config.Config, p *protocol.ThreadResumeParams, settings core.Settings) (core.Settings, error) {
	permissions, err := c.Changed(requested(p.Permissions, p.Sandbox, p.RuntimeWorkspaceRoots), settings)
	if permissions != nil {
		settings = settings.WithPermissions(*permissions)
	}
	if err == nil && (permissions != nil || p.ApprovalPolicy != nil) {
		err = c.Permits(settings)
	}
	return settings, err
}

// overridden returns stored settings with the changes of the thread's own configuration.
func overridden(stored, general, own core.Settings) core.Settings {
	override(&stored.Model, general.Model, own.Model)
	override(&stored.Provider, general.Provider, own.Provider)
	override(&stored.ApprovalPolicy, general.ApprovalPolicy, own.ApprovalPolicy)
	override(&stored.Reviewer, general.Reviewer, own.Reviewer)
	if !reflect.DeepEqual(general.Sandbox, own.Sandbox) || !reflect.DeepEqual(general.Profile, own.Profile) {
		stored = stored.WithPermissions(core.Permissions{Sandbox: own.Sandbox, Profile: own.Profile})
	}
	override(&stored.Effort, general.Effort, own.Effort)
	override(&stored.Summary, general.Summary, own.Summary)
	override(&stored.ServiceTier, general.ServiceTier, own.ServiceTier)
	return stored
}

func override[T any](to *T, general, own T) {
	if !reflect.DeepEqual(general, own) {
		*to = own
	}
}

// baseInstructions returns the client's system prompt, the configured one, or nil.
func baseInstructions(c *config.Config, p *protocol.ThreadStartParams) (*string, error) {
	if p.BaseInstructions != nil {
		return p.BaseInstructions, nil
	}
	text, err := c.BaseInstructions()
	if err != nil || text == "" {
		return nil, err
	}
	return &text, nil
}

// Settings returns the settings for a stored thread that has none of its own.
func (s *setup) Settings() core.Settings { return s.defaults(s.config.Current()) }

func (s *setup) defaults(c *config.Config) core.Settings {
	settings, err := c.Settings(&protocol.ThreadStartParams{}, s.cwd)
	if err == nil {
		return settings
	}
	// no default provider, model or permissions; threads with settings of their own can be used
	settings = core.Settings{Provider: c.ModelProvider, Cwd: s.cwd, ApprovalPolicy: c.ApprovalPolicy,
		Reviewer: c.ApprovalsReviewer, Sandbox: protocol.SandboxReadOnly.Policy()}
	if p, err := c.Permissions(config.Requested{}, s.cwd); err == nil {
		settings = settings.WithPermissions(p)
	}
	return settings
}

// Capabilities returns the capabilities of a model by the configuration of the server.
func (s *setup) Capabilities(provider, model string) core.Capabilities {
	current := s.config.Current()
	c := current.Capabilities(provider, model, s.models.Model(provider, model))
	c.Agents, _ = s.agentRules(current, c.Agents)
	return c
}
