package app

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/skill"
	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// turns supply the turns of threads with a configuration. They implement engine.Turns.
type turns struct {
	setup  *setup
	config *config.Config
}

// latest returns the configuration of the thread with the current providers.
func (t turns) latest() *config.Config { return t.config.WithProviders(t.setup.config.Current()) }

// Permissions returns the permissions that a turn/start names, or nil. Settings are those of the thread, with
// the directory of the turn.
func (t turns) Permissions(p *protocol.TurnStartParams, settings core.Settings) (*core.Permissions, error) {
	if p.Permissions != nil && p.SandboxPolicy != nil {
		return nil, protocol.InvalidParams("permissions", "`permissions` cannot be combined with `sandboxPolicy`")
	}
	if p.SandboxPolicy != nil {
		settings = settings.WithPermissions(core.Permissions{Sandbox: *p.SandboxPolicy})
	}
	return t.config.Changed(requested(p.Permissions, nil, p.RuntimeWorkspaceRoots), settings)
}

// Env returns the environment of a turn with these settings. If the provider is not ready, or turns do
// not run in the directory, it returns the environment and an error.
func (t turns) Env(settings core.Settings) (core.TurnEnv, error) {
	s, c := t.setup, t.latest()
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
	listed := t.listed(settings)
	capabilities, leftOut := t.capabilities(settings, listed)
	rules, roles := t.setup.agentRules(t.config, capabilities.Agents)
	capabilities.Agents = rules
	date, zone := workspace.Today(time.Now())
	if !c.IncludeEnvironmentContextTime {
		date, zone = "", ""
	}
	enforced := s.confinement().Enforced
	provider := c.ProviderInfo(settings.Provider, settings.Model, listed.Window)
	provider.CachedPriceRatio = c.Reported(s.reportedPrices).CachedPriceRatio(settings.Provider, settings.Model)
	return core.TurnEnv{
		Shell: workspace.Shell(os.Getenv), Date: date, Timezone: zone, Instructions: files,
		Provider:   provider,
		Compaction: c.CompactionOf(settings.Provider, settings.Model, listed.Window),
		Economy:    c.Context.Economy.Rules(),
		MaxTurns:   c.History.MaxSize, Enforced: enforced, ConfinesReading: s.confinesReading(enforced),
		Announces:     len(c.Notify) > 0,
		NoEnvironment: !c.IncludeEnvironmentContext, CommandRules: c.CommandRules,
		Environment: c.Environment(), Capabilities: capabilities, Warnings: slices.Concat(warnings, leftOut, roles),
	}, cmp.Or(c.Permits(settings), s.checkWorkspace(settings.Cwd), settings.CheckPermissions(), c.Ready(settings.Provider))
}

// capabilities returns the capabilities of a model, with the skills of the working directory. The warnings name
// skills that a link leads out of the repository.
func (t turns) capabilities(settings core.Settings, model core.ListedModel) (_ core.Capabilities, warnings []string) {
	capabilities := t.latest().Capabilities(settings.Provider, settings.Model, model)
	found, problems := t.setup.skills.of(t.config, settings.Cwd)
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
	capabilities.Skills = skillsText(t.config, listed)
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
func (t turns) Skills(cwd string, input []protocol.UserInput) []core.SkillText {
	if !skill.Names(input) {
		return nil
	}
	found, _ := t.setup.skills.of(t.config, cwd)
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

// listed returns the facts about the model from its provider's list. It awaits the first list of a local provider.
// If no window is known, it requests the list of another provider for the next turn.
func (t turns) listed(settings core.Settings) core.ListedModel {
	c, models := t.latest(), t.setup.models
	if c.Ready(settings.Provider) != nil {
		return core.ListedModel{}
	}
	models.Await(settings.Provider)
	listed := models.Model(settings.Provider, settings.Model)
	if c.ContextWindow(settings.Provider, settings.Model, listed.Window) == nil {
		models.Refresh(settings.Provider)
	}
	return listed
}
