package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
	"appserver/protocol"
)

// projectTree is a folder with a home and a repository.
type projectTree struct {
	t          *testing.T
	home, repo string
}

func newProjectTree(t *testing.T) *projectTree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &projectTree{t: t, home: filepath.Join(root, "home"), repo: filepath.Join(root, "repo")}
	p.put("repo/.git/HEAD", "ref: refs/heads/main\n")
	p.put("home/config.toml", "")
	return p
}

// put writes a file below the folder.
func (p *projectTree) put(name, text string) string {
	p.t.Helper()
	file := filepath.Join(filepath.Dir(p.home), name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(p.t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// trust sets the trust level of a folder.
func (p *projectTree) trust(dir, level string) {
	p.t.Helper()
	p.put("home/config.toml", "[projects.'"+dir+"']\ntrust_level = \""+level+"\"\n")
}

func (p *projectTree) in(dir string, flags ...string) *config.Config {
	p.t.Helper()
	base, err := config.Load(config.Source{Home: p.home, Overrides: flags})
	require.NoError(p.t, err)
	c, err := base.For(dir, nil)
	require.NoError(p.t, err)
	return c
}

func TestStrengthOfProjectLayers(t *testing.T) {
	p := newProjectTree(t)
	p.trust(p.repo, "trusted")
	p.put("repo/.codex/config.toml", "model = \"root\"\nmodel_reasoning_effort = \"low\"\nservice_tier = \"root\"\n")
	p.put("repo/a/.codex/config.toml", "model = \"a\"\nmodel_instructions_file = \"../inst.md\"\n")
	p.put("repo/a/b/.codex/notes", "no configuration")
	c := p.in(filepath.Join(p.repo, "a", "b"), "service_tier=flag")
	require.Equal(t, "a", c.Model)
	require.Equal(t, "low", *c.ModelReasoningEffort)
	require.Equal(t, "flag", *c.ServiceTier)
	require.Equal(t, filepath.Join(p.repo, "a", "inst.md"), c.ModelInstructionsFile)
	require.Equal(t, "root", p.in(p.repo).Model)
	require.NotEqual(t, "root", p.in(filepath.Dir(p.repo)).Model, "the enclosing folder is another project")
	require.Equal(t, protocol.SandboxWorkspaceWrite, c.SandboxMode)
}

func TestProjectLayersCannotSetKeysOfTheUser(t *testing.T) {
	p := newProjectTree(t)
	p.trust(p.repo, "trusted")
	p.put("repo/.codex/config.toml", "openai_base_url = \"http://x\"\nmodel_provider = \"offline\"\nnotify = [\"x\"]\n"+
		"[model_providers.x]\nbase_url = \"http://x\"\n[history]\nredactSecrets = false\n[memory.embeddings]\nbase_url = \"http://x\"\n[mcp_servers.a]\ncommand = \"a\"\n")
	c := p.in(p.repo)
	require.Empty(t, c.OpenAIBaseURL)
	require.Equal(t, "openai", c.ModelProvider)
	require.NotContains(t, c.ModelProviders, "x")
	require.True(t, c.History.RedactSecrets)
	require.Empty(t, c.Memory.Embeddings.BaseURL)
	require.Contains(t, c.McpServers, "a")
	require.Equal(t, []string{filepath.Join(p.repo, ".codex", "config.toml") +
		": project configuration cannot set these keys: openai_base_url, model_provider, " +
		"model_providers, notify, history, memory.embeddings. They have no effect. To use them, set them in " + p.home +
		"/config.toml."}, c.ProjectWarnings)
}

func TestLinkedWorktreeHasTheTrustOfTheMainOne(t *testing.T) {
	p := newProjectTree(t)
	linked := filepath.Join(filepath.Dir(p.repo), "linked")
	p.put("linked/.git", "gitdir: "+p.repo+"/.git/worktrees/linked\n")
	p.put("linked/.codex/config.toml", "model = \"linked\"\n")
	p.put("repo/.git/worktrees/linked/HEAD", "ref: refs/heads/x\n")
	p.put("repo/.git/worktrees/linked/commondir", "../..\n")
	p.put("repo/.git/worktrees/linked/gitdir", linked+"/.git\n")
	require.Equal(t, p.repo, p.in(linked).TrustTarget())
	p.trust(p.repo, "trusted")
	c := p.in(linked)
	require.Equal(t, "linked", c.Model)
	require.Empty(t, c.TrustTarget())
	p.put("repo/.git/worktrees/linked/gitdir", "/elsewhere/.git\n")
	require.NotEqual(t, "linked", p.in(linked).Model, "the repository does not confirm the worktree")
}

func TestProjectTrustFollowsLinks(t *testing.T) {
	p := newProjectTree(t)
	p.put("repo/.codex/config.toml", "model = \"project\"\n")
	link := filepath.Join(filepath.Dir(p.repo), "link")
	require.NoError(t, os.Symlink(p.repo, link))
	p.trust(p.repo, "trusted")
	require.Equal(t, "project", p.in(link).Model)
	p.trust(link, "untrusted")
	require.Equal(t, protocol.ApprovalUntrusted, p.in(link).ApprovalPolicy.Mode)
	require.Equal(t, p.repo, p.in(p.repo).TrustTarget(), "the entry of a link does not apply to the folder")
}

func TestHomeIsNoProjectLayer(t *testing.T) {
	p := newProjectTree(t)
	p.home = filepath.Join(p.repo, ".codex")
	p.put(".codex/config.toml", "model = \"home\"\n[projects.'"+p.repo+"']\ntrust_level = \"trusted\"\n")
	c := p.in(p.repo)
	require.Equal(t, "home", c.Model)
	require.Len(t, c.View(true).Layers, 1)
	require.Empty(t, c.ProjectWarnings)
}

// TestAnEmptyFolderIsNoProjectLayer: a sandbox puts one in the place of a missing folder while a command runs.
func TestAnEmptyFolderIsNoProjectLayer(t *testing.T) {
	p := newProjectTree(t)
	require.NoError(t, os.MkdirAll(filepath.Join(p.repo, ".codex"), 0o755))
	c := p.in(p.repo)
	require.Empty(t, c.Disabled())
	require.Empty(t, c.ProjectWarnings)
}

func TestExplicitSettingsOverrideTrust(t *testing.T) {
	p := newProjectTree(t)
	p.trust(p.repo, "untrusted")
	c := p.in(p.repo, "sandbox_mode=read-only", "approval_policy=never")
	require.Equal(t, protocol.SandboxReadOnly, c.SandboxMode)
	require.Equal(t, protocol.ApprovalNever, c.ApprovalPolicy.Mode)
	c = p.in(p.repo)
	require.Equal(t, protocol.SandboxWorkspaceWrite, c.SandboxMode)
	require.Equal(t, protocol.ApprovalUntrusted, c.ApprovalPolicy.Mode)
}

func TestUnknownProjectIsNotApplied(t *testing.T) {
	p := newProjectTree(t)
	p.put("repo/.codex/config.toml", "model = = 1\n")
	c := p.in(p.repo)
	require.Equal(t, protocol.SandboxReadOnly, c.SandboxMode)
	require.Equal(t, p.repo+"/.codex is not applied: "+p.repo+
		" is not a trusted project. To apply its project configuration, "+
		"set trust_level = \"trusted\" in [projects.\""+p.repo+"\"] of "+p.home+"/config.toml.", c.Disabled())
	p.trust(p.repo, "trusted")
	base, err := config.Load(config.Source{Home: p.home})
	require.NoError(t, err)
	_, err = base.For(p.repo, nil)
	require.ErrorContains(t, err, "the project configuration cannot be used: "+p.repo+"/.codex/config.toml:1: ")
}

func TestTrustIsWrittenToTheUsersFile(t *testing.T) {
	p := newProjectTree(t)
	p.put("home/config.toml", "# mine\nmodel = \"m\"\n")
	source := config.Source{Home: p.home}
	c, err := config.Load(source)
	require.NoError(t, err)
	live := config.NewLive(source, c)
	require.NoError(t, live.Trust(p.repo+`/a "quoted" name`))
	text, err := os.ReadFile(filepath.Join(p.home, "config.toml"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "# mine\nmodel = \"m\"\n"), string(text))
	require.Equal(t, "trusted", live.Current().Projects[p.repo+`/a "quoted" name`].TrustLevel)
	over, err := config.TrustOverride(map[string]json.RawMessage{"model": json.RawMessage(`"o"`)}, p.repo)
	require.NoError(t, err)
	own, err := live.Current().For(p.repo, over)
	require.NoError(t, err)
	require.Equal(t, "o", own.Model)
	require.Equal(t, protocol.SandboxWorkspaceWrite, own.SandboxMode)
}

func TestSystemLayerIsWeakest(t *testing.T) {
	p := newProjectTree(t)
	p.put("home/config.toml", "model = \"user\"\n")
	system := p.put("etc/config.toml",
		"model = \"system\"\nmodel_reasoning_effort = \"low\"\nmodel_instructions_file = \"inst.md\"\n")
	c, err := config.Load(config.Source{Home: p.home, System: system})
	require.NoError(t, err)
	require.Equal(t, "user", c.Model)
	require.Equal(t, "low", *c.ModelReasoningEffort)
	require.Equal(t, filepath.Join(filepath.Dir(system), "inst.md"), c.ModelInstructionsFile)
	layers := c.View(true).Layers
	require.Equal(t, protocol.ConfigLayerSource{Type: protocol.LayerSystem, File: system}, layers[1].Name)
	require.NoError(t, os.WriteFile(system, []byte("model_reasoning_effort = 5\n"), 0o600))
	_, err = config.Load(config.Source{Home: p.home, System: system})
	require.EqualError(t, err, system+":1: model_reasoning_effort: expected a string, got an integer")
}
