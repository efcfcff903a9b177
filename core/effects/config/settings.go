package config

import (
	"appserver/core"
	"appserver/protocol"
)

// Settings returns the settings of a new thread in cwd, an absolute path. Params
// override the thread's overrides, and these override c. An error is a *protocol.Error.
func (c *Config) Settings(p *protocol.ThreadStartParams, cwd string) (core.Settings, error) {
	c, err := c.With(p.Config)
	if err != nil {
		return core.Settings{}, err
	}
	provider, model, err := c.choose(p.ModelProvider, p.Model)
	if err != nil {
		return core.Settings{}, err
	}
	permissions, err := c.Permissions(Requested{p.Permissions, p.Sandbox, p.RuntimeWorkspaceRoots}, cwd)
	if err != nil {
		return core.Settings{}, err
	}
	settings := core.Settings{
		Model:          model,
		Provider:       provider,
		Cwd:            cwd,
		ApprovalPolicy: or(p.ApprovalPolicy, c.ApprovalPolicy),
		Reviewer:       or(p.ApprovalsReviewer, c.ApprovalsReviewer),
		Effort:         c.ModelReasoningEffort,
		Summary:        or(c.ModelReasoningSummary, "auto"),
		ServiceTier:    firstSet(p.ServiceTier, c.ServiceTier),
	}
	return settings.WithPermissions(permissions), nil
}

// choose returns an existing provider, and a model.
func (c *Config) choose(wantedProvider, wantedModel *string) (provider, model string, err error) {
	provider = or(wantedProvider, c.ModelProvider)
	if _, err := c.Provider(provider); err != nil {
		return "", "", err
	}
	model = or(wantedModel, c.DefaultModel(provider, nil))
	if model == "" {
		return "", "", protocol.Refuse(protocol.KindConfig,
			"model provider %s has no default model: set model in %s, or name one in the request", provider, c.file())
	}
	return provider, model, nil
}

// Permits returns an error if the requirements of the machine do not permit turns with the settings.
func (c *Config) Permits(s core.Settings) error {
	return c.required.permits(&s.ApprovalPolicy, s.Sandbox)
}

// PermitsSandbox reports the same as Permits, for a sandbox policy alone.
func (c *Config) PermitsSandbox(policy protocol.SandboxPolicy) error {
	return c.required.permits(nil, policy)
}

// Environment returns the policy for the environment of commands.
func (c *Config) Environment() core.EnvironmentPolicy {
	p := c.ShellEnvironmentPolicy
	excluded, included := p.filtered()
	return core.EnvironmentPolicy{Inherit: p.Inherit, KeepSecrets: p.IgnoreDefaultExcludes, Keep: p.Keep,
		Exclude: excluded, IncludeOnly: included, Set: p.Set, NoProfile: p.UseProfile != nil && !*p.UseProfile}
}

// ProjectChoosesDocuments reports whether a file of the project sets project_doc_fallback_filenames.
func (c *Config) ProjectChoosesDocuments() bool {
	n := c.root.find("project_doc_fallback_filenames")
	return n != nil && n.position.layer != nil && n.position.layer.name.Type == protocol.LayerProject
}

// BaseInstructions returns the configured system prompt: the text of model_instructions_file, else
// instructions, else empty. A file that a project names is in the project. If the file cannot be read, the error is a
// *protocol.Error of kind config.
func (c *Config) BaseInstructions() (string, error) {
	if c.ModelInstructionsFile == "" {
		return or(c.Instructions, ""), nil
	}
	within := ""
	if n := c.root.find("model_instructions_file"); n.position.layer.name.Type == protocol.LayerProject {
		within = c.projectRoot(c.project.cwd)
	}
	text, err := readFile(c.ModelInstructionsFile, within)
	if err != nil {
		return "", protocol.Refuse(protocol.KindConfig, "model_instructions_file: %v",
			fileError(c.ModelInstructionsFile, err))
	}
	return string(text), nil
}
