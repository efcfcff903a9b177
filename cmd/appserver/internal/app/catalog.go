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

// Models lists the models of a provider, or of the default one for "". It requests the list from a
// provider that is ready. For other providers it lists the configured models.
func (c catalog) Models(provider string, then func([]protocol.Model)) error {
	now := c.Current()
	asked := provider
	if asked == "" {
		asked = now.ModelProvider
	} else if _, err := now.Provider(asked); err != nil {
		return err
	}
	if now.Ready(asked) != nil {
		then(now.Models(provider, nil))
		return nil
	}
	c.models.List(asked, func(listed []core.ListedModel) { then(now.Models(provider, listed)) })
	return nil
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
