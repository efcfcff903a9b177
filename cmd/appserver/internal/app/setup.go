package app

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/skill"
	"appserver/core/effects/workspace"
	"appserver/core/engine"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
	"appserver/rollout"
)

// setup supplies the settings of threads from the configuration and the system.
type setup struct {
	config *config.Live
	home   string
	cwd    string
	// rollouts are the files of the threads.
	rollouts *rollout.Store
	log      *zap.Logger
	models   *model.ModelCache
	skills   *skills
	// identity names the client in requests to providers.
	identity model.Identity
	// confinement reports whether the kernel confines commands. prepareConfinement makes its first call faster.
	confinement func() protocol.SandboxDiagnostics
	// confinesReading reports whether the kernel confines commands that only read. enforced is that it confines all.
	confinesReading    func(enforced bool) bool
	prepareConfinement func()
}

// Template returns the settings and the scope of a new thread.
func (s *setup) Template(p *protocol.ThreadStartParams) (engine.Template, error) {
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
	t.Scope, t.Warnings = c, append(warnings, c.Warnings...)
	own := *p
	own.Config = nil // c contains these overrides
	own.Model = s.modelOf(c, p)
	if t.Settings, err = c.Settings(&own, cwd); err != nil {
		return t, err
	}
	if err := toolspec.CheckDynamicTools(p.DynamicTools, core.BuiltInTools()); err != nil {
		return t, err
	}
	t.Persist = c.History.SaveHistory
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

func requested(profile *string, mode *protocol.SandboxMode, roots *[]string) config.Requested {
	return config.Requested{Profile: profile, Mode: mode, Roots: roots}
}

// TurnPermissions returns the permissions that a turn/start names, or nil. Settings are those of the thread, with
// the directory of the turn.
func (s *setup) TurnPermissions(scope engine.Scope, p *protocol.TurnStartParams,
	settings core.Settings) (*core.Permissions, error) {
	if p.Permissions != nil && p.SandboxPolicy != nil {
		return nil, protocol.InvalidParams("permissions", "`permissions` cannot be combined with `sandboxPolicy`")
	}
	if p.SandboxPolicy != nil {
		settings = settings.WithPermissions(core.Permissions{Sandbox: *p.SandboxPolicy})
	}
	return s.of(scope).Changed(requested(p.Permissions, nil, p.RuntimeWorkspaceRoots), settings)
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

// Resumed returns a stored thread's settings with the client's overrides. The params take precedence
// over the params' config.
func (s *setup) Resumed(p *protocol.ThreadResumeParams, stored core.Settings) (core.Settings, engine.Scope, error) {
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
	return settings, c, err
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

// Joined returns the settings and the scope of a loaded thread after another client's thread/resume. The params change
// permissions, approvals and what else the configuration restricts, and not the model.
func (s *setup) Joined(p *protocol.ThreadResumeParams, scope engine.Scope, now core.Settings) (core.Settings,
	engine.Scope, error) {
	old := s.of(scope)
	c, err := old.With(p.Config)
	if err != nil {
		return now, scope, err
	}
	settings, err := c.Selected(p.Config, now)
	if err != nil {
		return now, scope, err
	}
	settings, err = restricted(c, p, settings.WithResume(&protocol.ThreadResumeParams{
		ApprovalPolicy: p.ApprovalPolicy, ApprovalsReviewer: p.ApprovalsReviewer}))
	return settings, c, err
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

// RewriteOnUnload returns the value of the thread's configuration.
func (s *setup) RewriteOnUnload(scope engine.Scope) bool { return s.of(scope).Context.RewriteOnUnload }

// Redactor returns the redactor of the thread's configuration.
func (s *setup) Redactor(scope engine.Scope) engine.Redactor {
	if r := s.of(scope).Redactor(); r != nil {
		return r
	}
	return nil
}

// Persists returns the value of the thread's configuration.
func (s *setup) Persists(scope engine.Scope) bool { return s.of(scope).History.SaveHistory }

// Warnings returns the warnings about the thread's overrides, and about layers of its project.
func (s *setup) Warnings(scope engine.Scope) []string { return s.of(scope).Warnings }

// ConfigWarnings returns the warnings about the files of the thread's project.
func (s *setup) ConfigWarnings(scope engine.Scope) []string { return s.of(scope).ProjectWarnings }

// Deprecations returns the notices about the thread's configuration.
func (s *setup) Deprecations(scope engine.Scope) []protocol.DeprecationNoticeNotification {
	return s.of(scope).Deprecations()
}

// Tracking returns the rules of the thread's configuration.
func (s *setup) Tracking(scope engine.Scope) core.Tracking {
	c := s.of(scope).Checkpoints
	return core.Tracking{Worktree: c.Enabled, Patches: true, Keep: c.Keep}
}

// Memory returns the rules of the thread's configuration.
func (s *setup) Memory(scope engine.Scope) core.MemoryRules { return s.of(scope).Memory.Rules() }

// UnloadDelay returns the value of the thread's configuration.
func (s *setup) UnloadDelay(scope engine.Scope) time.Duration {
	return time.Duration(s.of(scope).ThreadUnloadDelaySecs) * time.Second
}

// of returns the configuration of a thread.
func (s *setup) of(scope engine.Scope) *config.Config {
	if c, ok := scope.(*config.Config); ok {
		return c
	}
	return s.config.Current()
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

// Defaults returns the settings for a stored thread that has none of its own.
func (s *setup) Defaults() core.Settings { return s.defaults(s.config.Current()) }

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
	return s.config.Current().Capabilities(provider, model, s.models.Model(provider, model))
}

// OutputPriceRatio returns the value of the thread's configuration.
func (s *setup) OutputPriceRatio(scope engine.Scope, model string) *float64 {
	return s.of(scope).OutputPriceRatio(model)
}

// CacheFacts describes the cache of a provider by the thread's configuration.
func (s *setup) CacheFacts(scope engine.Scope, provider, model string) core.CacheFacts {
	p := s.of(scope).ProviderInfo(provider, model, 0)
	return core.CacheFacts{Ratio: p.CachedPriceRatio, Retention: p.CacheRetention}
}

// Economy returns the rules of the thread's configuration.
func (s *setup) Economy(scope engine.Scope) core.EconomyRules {
	return s.of(scope).Context.Economy.Rules()
}

// TurnEnv returns the environment of a turn with these settings. If the provider is not ready, or turns do
// not run in the directory, it returns the environment and an error.
func (s *setup) TurnEnv(scope engine.Scope, settings core.Settings) (core.TurnEnv, error) {
	c := s.of(scope)
	if _, err := c.Provider(settings.Provider); err != nil {
		return core.TurnEnv{}, err
	}
	files, warnings := workspace.Instructions(workspace.InstructionOptions{
		Home: s.home, Cwd: settings.Cwd, MaxBytes: c.ProjectDocMaxBytes,
		Fallbacks: c.ProjectDocFallbackFilenames, NoLinks: c.ProjectChoosesDocuments(),
	})
	for _, w := range warnings {
		s.log.Warn(w)
	}
	listed := s.listed(c, settings)
	capabilities, leftOut := s.capabilitiesFor(c, settings, listed)
	date, zone := workspace.Today(time.Now())
	if !c.IncludeEnvironmentContextTime {
		date, zone = "", ""
	}
	enforced := s.confinement().Enforced
	return core.TurnEnv{
		Shell: workspace.Shell(os.Getenv), Date: date, Timezone: zone, Instructions: files,
		Provider:   c.ProviderInfo(settings.Provider, settings.Model, listed.Window),
		Compaction: c.CompactionOf(settings.Provider, settings.Model, listed.Window),
		Economy:    c.Context.Economy.Rules(),
		MaxTurns:   c.History.MaxSize, Enforced: enforced, ConfinesReading: s.confinesReading(enforced),
		Announces:     len(c.Notify) > 0,
		NoEnvironment: !c.IncludeEnvironmentContext, CommandRules: c.CommandRules,
		Environment: c.Environment(), Capabilities: capabilities, Warnings: append(warnings, leftOut...),
	}, cmp.Or(c.Permits(settings), s.checkWorkspace(settings.Cwd), settings.CheckPermissions(), c.Ready(settings.Provider))
}

// capabilitiesFor returns the capabilities of a model, with the skills of the working directory. The warnings name
// skills that a link leads out of the repository.
func (s *setup) capabilitiesFor(c *config.Config, settings core.Settings, model core.ListedModel) (
	_ core.Capabilities, warnings []string) {
	capabilities := c.Capabilities(settings.Provider, settings.Model, model)
	found, problems := s.skills.of(c, settings.Cwd)
	for _, p := range problems {
		if p.Outside {
			warnings = append(warnings, fmt.Sprintf("skills %s are left out: %s", p.Path, p.Message))
		}
	}
	var listed []core.Skill
	for _, f := range found {
		if f.Enabled && !f.OnlyNamed {
			listed = append(listed, core.Skill{Name: f.Name, Description: f.Description, Path: f.Path})
		}
	}
	capabilities.Skills = skillsText(c, listed)
	return capabilities, warnings
}

// skillsText returns the list of skills for the model, without the last ones if the configuration bounds it.
func skillsText(c *config.Config, listed []core.Skill) string {
	if !c.Skills.IncludeInstructions {
		return ""
	}
	text := core.SkillsText(listed)
	for most := c.Skills.MaxContextTokens; most != nil && int64(len(text)) > *most*4 && len(listed) > 0; {
		listed = listed[:len(listed)-1]
		text = core.SkillsText(listed)
	}
	return text
}

// Skills returns the texts of the skills that an input names.
func (s *setup) Skills(scope engine.Scope, cwd string, input []protocol.UserInput) []core.SkillText {
	if !skill.Names(input) {
		return nil
	}
	found, _ := s.skills.of(s.of(scope), cwd)
	named, missing := skill.Named(found, input)
	var texts []core.SkillText
	for _, n := range named {
		text, err := n.Text()
		if err != nil {
			text = fmt.Sprintf("The skill cannot be read: %v", err)
		}
		texts = append(texts, core.SkillText{Name: n.Name, Path: n.Path, Text: text})
	}
	for _, m := range missing {
		texts = append(texts,
			core.SkillText{Name: m.Name, Path: m.Path,
				Text: "This skill does not exist here or is disabled. Inform the user."})
	}
	return texts
}

// listed returns the facts about the model from its provider's list. It awaits the first list of a
// local provider. If no window is known, it requests the list of another provider for the next
// turn.
func (s *setup) listed(c *config.Config, settings core.Settings) core.ListedModel {
	if c.Ready(settings.Provider) != nil {
		return core.ListedModel{}
	}
	s.models.Await(settings.Provider)
	listed := s.models.Model(settings.Provider, settings.Model)
	if c.ContextWindow(settings.Provider, settings.Model, listed.Window) == nil {
		s.models.Refresh(settings.Provider)
	}
	return listed
}
