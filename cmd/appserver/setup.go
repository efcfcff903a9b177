package main

import (
	"os"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/config"
	"appserver/core/engine"
	"appserver/core/workspace"
	"appserver/protocol"
)

// setup decides what threads run with, by configuration and the machine.
type setup struct {
	config *config.Config
	home   string
	cwd    string
	log    *zap.Logger
}

// Template is what a new thread begins with.
func (s *setup) Template(p *protocol.ThreadStartParams) (engine.Template, error) {
	var t engine.Template
	cwd, err := workspace.ResolveCwd(s.cwd, p.Cwd)
	if err != nil {
		return t, protocol.Refuse(protocol.KindCwdNotFound, "%v", err)
	}
	c, err := s.config.With(p.Config)
	if err != nil {
		return t, err
	}
	if t.Settings, err = s.config.Settings(p, cwd); err != nil {
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

// baseInstructions is the client's system prompt, the configured one, or nil.
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

// Defaults are settings that a stored thread does not tell.
func (s *setup) Defaults() core.Settings {
	settings, err := s.config.Settings(&protocol.ThreadStartParams{}, s.cwd)
	if err != nil { // no provider or model by default; threads that tell theirs can be used
		settings = core.Settings{Provider: s.config.ModelProvider, Cwd: s.cwd, ApprovalPolicy: s.config.ApprovalPolicy,
			Reviewer: s.config.ApprovalsReviewer, Sandbox: s.config.SandboxPolicy(s.config.SandboxMode)}
	}
	return settings
}

// World is what a turn with these settings is to know.
func (s *setup) World(settings core.Settings) (core.World, error) {
	if _, err := s.config.Provider(settings.Provider); err != nil {
		return core.World{}, err
	}
	files, warnings := workspace.Instructions(s.home, settings.Cwd, s.config.ProjectDocMaxBytes)
	for _, w := range warnings {
		s.log.Warn(w)
	}
	date, zone := workspace.Today(time.Now())
	return core.World{
		Shell: workspace.Shell(os.Getenv), Date: date, Timezone: zone, Instructions: files,
		Provider: s.config.ProviderInfo(settings.Provider, settings.Model),
	}, nil
}

// Ready tells what is missing before the provider can be used.
func (s *setup) Ready(settings core.Settings) error { return s.config.Ready(settings.Provider) }
