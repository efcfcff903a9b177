package app

import (
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/skill"
	"appserver/protocol"
)

// catalog lists models, providers, features and skills for clients.
type catalog struct {
	*config.Live
	models *model.ModelCache
	// client returns the client of a provider, or nil.
	client func(provider string) model.Provider
	skills *skills
	// providersChanged notifies the clients that the result of modelProvider/list changed.
	providersChanged func()
}

// Write overrides that of Live. It changes the user's configuration, and the function notifies the clients if providers
// have changed.
func (c catalog) Write(p *protocol.ConfigBatchWriteParams) (protocol.ConfigWriteResponse, func(), error) {
	before := c.Current()
	answer, err := c.Live.Write(p)
	after := c.Current()
	if err != nil || before.ModelProvider == after.ModelProvider &&
		reflect.DeepEqual(before.ModelProviders, after.ModelProviders) {
		return answer, func() {}, err
	}
	return answer, c.providersChanged, nil
}

// Models lists the models of a provider, or of the default one. It requests the list from a provider that is ready. For
// other providers it lists the configured models. If the request searches for servers on this machine, it also lists
// their models.
func (c catalog) Models(p *protocol.ModelListParams, then func([]protocol.Model)) error {
	now, provider := c.Current(), ""
	protocol.Override(&provider, p.ModelProvider)
	asked := provider
	if asked == "" {
		asked = now.ModelProvider
	} else if _, err := now.Provider(asked); err != nil {
		return err
	}
	list := func(listed []core.ListedModel) []protocol.Model {
		return c.withAvailability(now, asked, now.Models(provider, listed))
	}
	switch {
	case p.FindLocal != nil && *p.FindLocal:
		c.find(p.Cursor == nil, func(found map[string][]core.ListedModel) {
			join := func(listed []core.ListedModel) { then(withFound(now, asked, list(listed), found)) }
			if slices.Contains(config.LocalServers(), asked) || now.Ready(asked) != nil {
				join(found[asked])
				return
			}
			c.models.List(asked, join)
		})
	case now.Ready(asked) != nil:
		then(list(nil))
	default:
		c.models.List(asked, func(listed []core.ListedModel) { then(list(listed)) })
	}
	return nil
}

// find calls then with the models of servers on this machine: of those that answer now, or, for a further page of a
// list, of those that answered before.
func (c catalog) find(now bool, then func(found map[string][]core.ListedModel)) {
	if now {
		c.models.Find(config.LocalServers(), then)
		return
	}
	then(c.models.Found(config.LocalServers()))
}

// withFound appends the models of found servers to those of the asked provider. They take the place of the hidden
// models of their providers.
func withFound(c *config.Config, asked string, models []protocol.Model, found map[string][]core.ListedModel,
) []protocol.Model {
	models = slices.DeleteFunc(models, func(m protocol.Model) bool {
		return m.ModelProvider != asked && found[m.ModelProvider] != nil
	})
	for _, provider := range config.LocalServers() {
		if provider == asked || len(found[provider]) == 0 {
			continue
		}
		for _, m := range c.ModelsOf(provider, found[provider]) {
			m.IsDefault, m.Available = false, new(true)
			models = append(models, m)
		}
	}
	return models
}

// withAvailability records whether a provider on this machine has answered the request for its models.
func (c catalog) withAvailability(now *config.Config, provider string, models []protocol.Model) []protocol.Model {
	answers := c.models.Answers(provider)
	for i := range models {
		m := &models[i]
		if m.ModelProvider != provider || m.Available != nil || answers == nil {
			continue
		}
		if m.Available = answers; !*answers {
			m.UnavailableReason = new("no model server answers at " + now.ShownAddress(now.ModelProviders[provider]))
		}
	}
	return models
}

// Providers returns the providers of the current configuration.
func (c catalog) Providers() protocol.ModelProviderListResponse {
	now := c.Current()
	return protocol.ModelProviderListResponse{Data: now.Summaries(), DefaultProviderID: now.ModelProvider,
		CanChangeDefault: true}
}

// PermissionProfiles returns the permission profiles of threads in cwd.
func (c catalog) PermissionProfiles(cwd string) ([]protocol.PermissionProfileSummary, error) {
	if !filepath.IsAbs(cwd) {
		return nil, protocol.InvalidParams("cwd", "`cwd` must be an absolute path: %s", cwd)
	}
	here, err := c.Current().For(filepath.Clean(cwd), nil)
	if err != nil {
		return nil, err
	}
	return here.PermissionProfiles(cwd), nil
}

// Features returns the features of the current configuration.
func (c catalog) Features() []protocol.ExperimentalFeature { return c.Current().FeatureList() }

// Skills returns the skills of working directories.
func (c catalog) Skills(cwds []string) []protocol.SkillsListEntry {
	entries := []protocol.SkillsListEntry{}
	for _, cwd := range cwds {
		e := protocol.SkillsListEntry{Cwd: cwd, Skills: []protocol.SkillMetadata{}, Errors: []protocol.SkillErrorInfo{}}
		found, problems := c.skills.of(c.Current(), cwd)
		for _, s := range found {
			e.Skills = append(e.Skills, s.SkillMetadata)
		}
		for _, p := range problems {
			e.Errors = append(e.Errors, p.SkillErrorInfo)
		}
		entries = append(entries, e)
	}
	return entries
}

// SetExtraSkills sets further folders with skills. It returns an error if one of them is not absolute.
func (c catalog) SetExtraSkills(roots []string) error {
	for _, dir := range roots {
		if !filepath.IsAbs(dir) {
			return protocol.InvalidParams("extraRoots", "`extraRoots` must be absolute paths: %s", dir)
		}
	}
	c.skills.setExtra(roots)
	return nil
}

// skills finds skills for requests and turns.
type skills struct {
	// home is CODEX_HOME. userHome is the home directory of the user, or empty.
	home, userHome string

	mu    sync.Mutex
	extra []string
	// watched has the working directories for which skills were requested, the latest last.
	watched []watchedFolder
}

func (s *skills) places() skill.Places {
	s.mu.Lock()
	defer s.mu.Unlock()
	return skill.Places{Home: s.home, UserHome: s.userHome, Extra: s.extra}
}

func (s *skills) setExtra(roots []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra = slices.Clone(roots)
}

// of returns the skills of a working directory, including the skills that the configuration disables.
func (s *skills) of(c *config.Config, cwd string) ([]skill.Skill, []skill.Problem) {
	found, problems := skill.Find(cwd, s.places())
	s.watchFolder(cwd, found)
	for i := range found {
		found[i].Enabled = c.SkillEnabled(found[i].Name, found[i].Path)
	}
	return found, problems
}
