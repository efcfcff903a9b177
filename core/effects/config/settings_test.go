package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/protocol"
	"appserver/test/posix"
)

func TestSettingsWithoutParams(t *testing.T) {
	s, err := load(t, "").Settings(&protocol.ThreadStartParams{}, "/w")
	require.NoError(t, err)
	require.Equal(t, core.Settings{
		Model: "gpt-5", Provider: "openai", Cwd: "/w",
		ApprovalPolicy: protocol.AskForApproval{Mode: protocol.ApprovalOnRequest},
		Reviewer:       protocol.ReviewerUser,
		Sandbox:        protocol.SandboxPolicy{SandboxPolicyVariant: &protocol.ReadOnly{}},
		Profile:        &protocol.ActiveProfile{ID: protocol.ProfileReadOnly},
		Summary:        "auto",
	}, s)
}

func TestParamsOverrideOverridesAndFile(t *testing.T) {
	c := load(t, `
model = "file"
approval_policy = "untrusted"
sandbox_mode = "danger-full-access"
model_reasoning_effort = "low"
service_tier = "flex"
`)
	p := &protocol.ThreadStartParams{
		Model:  new("params"),
		Config: overrides(t, `{"model": "override", "approval_policy": "never", "model_reasoning_effort": "high"}`),
	}
	s, err := c.Settings(p, "/w")
	require.NoError(t, err)
	require.Equal(t, "params", s.Model)
	require.Equal(t, protocol.ApprovalNever, s.ApprovalPolicy.Mode)
	require.Equal(t, "high", *s.Effort)
	require.Equal(t, "flex", *s.ServiceTier)
	require.IsType(t, &protocol.DangerFullAccess{}, s.Sandbox.SandboxPolicyVariant)

	p.Sandbox, p.ServiceTier = new(protocol.SandboxReadOnly), new("priority")
	p.ApprovalPolicy = &protocol.AskForApproval{Mode: protocol.ApprovalOnRequest}
	p.ApprovalsReviewer = new(protocol.ApprovalsReviewer("auto_review"))
	s, err = c.Settings(p, "/w")
	require.NoError(t, err)
	require.IsType(t, &protocol.ReadOnly{}, s.Sandbox.SandboxPolicyVariant)
	require.Equal(t, "priority", *s.ServiceTier)
	require.Equal(t, protocol.ApprovalOnRequest, s.ApprovalPolicy.Mode)
	require.EqualValues(t, "auto_review", s.Reviewer)
}

func TestSettingsOfWorkspaceWrite(t *testing.T) {
	c := load(t, "[sandbox_workspace_write]\nwritable_roots = [\"/x\"]\nnetwork_access = true\nexclude_tmpdir_env_var = true\nexclude_slash_tmp = true\n")
	s, err := c.Settings(&protocol.ThreadStartParams{Sandbox: new(protocol.SandboxWorkspaceWrite)}, "/w")
	require.NoError(t, err)
	require.Equal(t, &protocol.WorkspaceWrite{
		WritableRoots: []string{"/x"}, NetworkAccess: true, ExcludeTmpdirEnvVar: true, ExcludeSlashTmp: true,
	}, s.Sandbox.SandboxPolicyVariant)

	plain := load(t, "sandbox_mode = \"workspace-write\"\n")
	s, err = plain.Settings(&protocol.ThreadStartParams{}, "/w")
	require.NoError(t, err)
	require.Equal(t, &protocol.WorkspaceWrite{WritableRoots: []string{}}, s.Sandbox.SandboxPolicyVariant)
}

func TestModelDependsOnTheProvider(t *testing.T) {
	c := load(t, "model = \"qwen3\"\nmodel_provider = \"ollama\"\n")
	for provider, model := range map[string]string{
		"ollama": "qwen3", "offline": "offline", "openai": config.DefaultModel, "lmstudio": "qwen3",
	} {
		s, err := c.Settings(&protocol.ThreadStartParams{ModelProvider: &provider}, "/w")
		require.NoError(t, err)
		require.Equal(t, provider, s.Provider)
		require.Equal(t, model, s.Model)
		s, err = c.Settings(&protocol.ThreadStartParams{Config: overrides(t, `{"model_provider": "`+provider+`"}`)}, "/w")
		require.NoError(t, err)
		require.Equal(t, model, s.Model, "by override")
	}
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	c, file := loadWith(t, "model_provider = \"ollama\"\n", nil)
	_, err := c.Settings(&protocol.ThreadStartParams{}, "/w")
	require.EqualError(t, err, "model provider ollama has no default model: set model in "+file+
		", or name one in the request")
	requireKind(t, err, protocol.KindConfig)

	_, err = c.Settings(&protocol.ThreadStartParams{ModelProvider: new("nope")}, "/w")
	require.ErrorContains(t, err, "Model provider `nope` not found")
	requireKind(t, err, protocol.KindProviderNotFound)

	_, err = c.Settings(&protocol.ThreadStartParams{Config: overrides(t, `{"sandbox_mode": 5}`)}, "/w")
	require.ErrorContains(t, err, "`config.sandbox_mode`")
	requireKind(t, err, protocol.KindInvalidParams)
}

func TestBaseInstructions(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "p.md"), []byte("from the file"), 0o600))
	require.NoError(t, posix.Mkfifo(filepath.Join(home, "pipe"), 0o600))
	instructions := func(overrides ...string) (string, error) {
		c, err := config.Load(config.Source{Home: home, Overrides: overrides})
		require.NoError(t, err)
		return c.BaseInstructions()
	}
	text, err := instructions()
	require.NoError(t, err)
	require.Empty(t, text)

	text, err = instructions("instructions=inline")
	require.NoError(t, err)
	require.Equal(t, "inline", text)

	text, err = instructions("instructions=inline", "model_instructions_file="+filepath.Join(home, "p.md"))
	require.NoError(t, err)
	require.Equal(t, "from the file", text)

	_, err = instructions("model_instructions_file=" + filepath.Join(home, "missing"))
	require.EqualError(t, err, "model_instructions_file: "+filepath.Join(home, "missing")+": no such file or directory")
	requireKind(t, err, protocol.KindConfig)

	_, err = instructions("model_instructions_file=" + filepath.Join(home, "pipe"))
	require.ErrorContains(t, err, "not a regular file")
}

func TestEnvironmentOfCommands(t *testing.T) {
	require.Equal(t, core.EnvironmentPolicy{Inherit: core.InheritAll}, load(t, "").Environment())
	c := load(t, `
[shell_environment_policy]
inherit = "none"
ignore_default_excludes = true
exclude = ["A*"]
include_only = ["B?"]
set = { B1 = "file", B2 = "file" }
experimental_use_profile = true
`)
	require.Empty(t, c.Warnings)
	want := core.EnvironmentPolicy{Inherit: core.InheritNone, KeepSecrets: true, Exclude: []string{"A*"},
		IncludeOnly: []string{"B?"}, Set: map[string]string{"B1": "file", "B2": "file"}}
	require.Equal(t, want, c.Environment())
	own, err := c.With(overrides(t,
		`{"shell_environment_policy": {"inherit": "core", "exclude": [], "set": {"B2": "thread"}}}`))
	require.NoError(t, err)
	want.Inherit, want.Exclude, want.Set = core.InheritCore, []string{}, map[string]string{"B1": "file", "B2": "thread"}
	require.Equal(t, want, own.Environment())
	_, err = c.With(overrides(t, `{"shell_environment_policy.inherit": "some"}`))
	require.ErrorContains(t, err, "expected one of `all`, `core`, `none`")
}
