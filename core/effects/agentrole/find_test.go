package agentrole_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/agentrole"
	"appserver/core/effects/config"
	"appserver/protocol"
	"appserver/test/posix"
)

// put writes a file, and creates the folders above it.
func put(t testing.TB, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// tomlRole returns a role file with more lines.
func tomlRole(name string, more ...string) string {
	return "name = \"" + name + "\"\ndescription = \"Does " + name + ".\"\ndeveloper_instructions = \"Be " + name + ".\"\n" +
		strings.Join(more, "\n")
}

// claudeRole returns a subagent of Claude Code with more lines.
func claudeRole(name string, more ...string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n" + strings.Join(more, "\n") + "\n---\nBe " + name + ".\n"
}

// places returns a home, and a trusted project in another directory.
func places(t *testing.T) (p agentrole.Places, home, project string) {
	t.Helper()
	dir := t.TempDir()
	home, project = filepath.Join(dir, "home"), filepath.Join(dir, "project")
	require.NoError(t, os.MkdirAll(project, 0o700))
	p = agentrole.Places{UserHome: home, Root: project, Folders: []string{project}, Servers: []string{"db", "my.server"}}
	p.Layers = []config.RoleSource{
		{Name: filepath.Join(home, ".codex/config.toml"), Type: protocol.LayerUser, Folder: filepath.Join(home, ".codex")},
		{Name: filepath.Join(project, ".codex/config.toml"), Type: protocol.LayerProject,
			Folder: filepath.Join(project, ".codex"), Within: project},
	}
	return p, home, project
}

// found returns the roles that are not built in, by name.
func found(p agentrole.Places) (roles map[string]core.AgentRole, warnings []string) {
	all, warnings := agentrole.Find(p)
	roles = map[string]core.AgentRole{}
	for _, r := range all {
		if r.Name != "default" && r.Name != "explorer" && r.Name != "worker" {
			roles[r.Name] = r
		}
	}
	return roles, warnings
}

func TestRolesOfTheReferenceAreRead(t *testing.T) {
	p, home, project := places(t)
	file := put(t, home+"/.codex/agents/sub/reviewer.toml", tomlRole("reviewer", `model = "m"`, `model_reasoning_effort = "low"`,
		`sandbox_mode = "read-only"`, `nickname_candidates = ["Rev One"]`, `tools = ["exec_command", "mcp__db"]`))
	put(t, home+"/.codex/agents/other.txt", "x")
	ofProject := put(t, project+"/.codex/agents/proj.toml", tomlRole("proj"))
	declared := put(t, home+"/.codex/agents/declared.toml", `developer_instructions = "Be declared."`)
	p.Layers[0].Declared = map[string]map[string]any{
		"declared": {"description": "From the table", "config_file": "agents/declared.toml", "nickname_candidates": []any{"Nick"}},
		"bare":     {"description": "Bare"},
	}
	p.Layers[1].Declared = map[string]map[string]any{"reviewer": {"description": "Another text"}}
	roles, warnings := found(p)
	require.Empty(t, warnings)
	require.Equal(t, map[string]core.AgentRole{
		"reviewer": {Name: "reviewer", Description: "Another text", Model: "m", Effort: "low", Instructions: "Be reviewer.",
			Nicknames: []string{"Rev One"}, Tools: &protocol.AgentTools{Names: []string{"mcp__db", "shell"}},
			Sandbox: "read-only", Source: file},
		"proj": {Name: "proj", Description: "Does proj.", Instructions: "Be proj.", Source: ofProject, OfProject: true},
		"declared": {Name: "declared", Description: "From the table", Instructions: "Be declared.", Nicknames: []string{"Nick"},
			Source: declared},
		"bare": {Name: "bare", Description: "Bare", Source: p.Layers[0].Name},
	}, roles)
}

func TestSubagentsOfClaudeCodeAreRead(t *testing.T) {
	p, home, project := places(t)
	put(t, home+"/.claude/agents/a.md", claudeRole("reader", "tools: Read, Grep, TodoWrite", "model: sonnet"))
	put(t, home+"/.claude/agents/b.md", claudeRole("shared"))
	file := put(t, project+"/.claude/agents/deep/b.md", claudeRole("shared", "tools: [Read, Edit]", "model: gpt-x"))
	put(t, project+"/.claude/agents/c.md", claudeRole("runner", "tools: Bash, Read, WebFetch, Task", "permissionMode: default"))
	put(t, project+"/.claude/agents/d.md", claudeRole("planner", "permissionMode: plan"))
	roles, warnings := found(p)
	require.Empty(t, warnings)
	require.Len(t, roles, 4)
	require.Equal(t, "Be reader.", roles["reader"].Instructions)
	require.Equal(t, protocol.SandboxReadOnly, roles["reader"].Sandbox)
	require.Empty(t, roles["reader"].Model, "names of another vendor's models are those of the caller")
	require.Equal(t, &protocol.AgentTools{Names: []string{"shell", "update_plan", "view_image"}, ReadOnlyCommands: true},
		roles["reader"].Tools)
	require.Equal(t, core.AgentRole{Name: "shared", Description: "Does shared.", Instructions: "Be shared.",
		Model:  "gpt-x",
		Tools:  &protocol.AgentTools{Names: []string{"apply_patch", "shell", "view_image"}, ReadOnlyCommands: true},
		Source: file, OfProject: true}, roles["shared"], "the project's is the stronger one")
	require.Equal(t, &protocol.AgentTools{Names: []string{"shell", "spawn_agent", "view_image", "web_search"}},
		roles["runner"].Tools)
	require.Empty(t, roles["runner"].Sandbox)
	require.Nil(t, roles["planner"].Tools)
	require.Equal(t, protocol.SandboxReadOnly, roles["planner"].Sandbox)
}

func TestRolesOfAProjectThatIsNotTrustedAreNotRead(t *testing.T) {
	p, _, project := places(t)
	put(t, project+"/.claude/agents/a.md", claudeRole("a"))
	put(t, project+"/.codex/agents/a.toml", "broken")
	p.Folders, p.Layers = nil, p.Layers[:1]
	roles, warnings := found(p)
	require.Empty(t, roles)
	require.Empty(t, warnings)
}

// TestUnusableRolesCostAWarning checks that each file that cannot be used is left out, and costs the others nothing.
func TestUnusableRolesCostAWarning(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, warning string }{
		"no TOML":               {"a.toml", "name = ", "it is not TOML"},
		"no instructions":       {"a.toml", "name = \"a\"\ndescription = \"x\"", "it has no instructions"},
		"no name":               {"a.toml", "description = \"x\"\ndeveloper_instructions = \"x\"", "it has no name"},
		"no description":        {"a.toml", "name = \"a\"\ndeveloper_instructions = \"x\"", "it has no description"},
		"a name with a colon":   {"a.toml", tomlRole("a: b"), "other characters"},
		"a name of two lines":   {"a.toml", tomlRole(`a\nb`), "other characters"},
		"a name with an escape": {"a.toml", tomlRole(`a\u001b[31m`), "other characters"},
		"a long name":           {"a.toml", tomlRole(strings.Repeat("ä", 65)), "longer than 64"},
		"a description that rings": {"a.toml",
			"name = \"a\"\ndescription = \"\\u0007\"\ndeveloper_instructions = \"x\"", "control characters"},
		"a model that is no name":   {"a.toml", tomlRole("a", `model = "a\nb"`), "its model is no name"},
		"an unknown sandbox":        {"a.toml", tomlRole("a", `sandbox_mode = "open"`), "sandbox_mode is"},
		"a wrong type":              {"a.toml", tomlRole("a", "model = 5"), "model: expected a text"},
		"tools in a table":          {"a.toml", tomlRole("a", "[tools]", "view_image = true"), "tools: expected a list"},
		"nicknames twice":           {"a.toml", tomlRole("a", `nickname_candidates = ["a", "a"]`), `has "a" twice`},
		"no nicknames":              {"a.toml", tomlRole("a", `nickname_candidates = []`), "has no names"},
		"a restriction":             {"a.toml", tomlRole("a", `approval_policy = "untrusted"`), "restriction approval_policy"},
		"no search":                 {"a.toml", tomlRole("a", `web_search = "disabled"`), "restriction web_search"},
		"only unknown tools":        {"a.toml", tomlRole("a", `tools = ["nope"]`), "none of its tools exists"},
		"a huge file":               {"a.toml", tomlRole("a") + strings.Repeat("#", 64<<10), "larger than 65536 bytes"},
		"no front matter":           {"a.md", "text", "missing YAML frontmatter"},
		"broken YAML":               {"a.md", "---\nname: [a\n---\nx", "invalid YAML"},
		"disallowed tools":          {"a.md", claudeRole("a", "disallowedTools: Bash"), "do not obey disallowedTools"},
		"hooks":                     {"a.md", claudeRole("a", "hooks: {PreToolUse: []}"), "do not run hooks"},
		"no body":                   {"a.md", "---\nname: a\ndescription: b\n---\n", "it has no instructions"},
		"a name with a slash n":     {"a.md", "---\nname: \"a\\nb\"\ndescription: b\n---\nx", "other characters"},
		"a limit of a tool":         {"a.md", claudeRole("a", "tools: Bash(git *)"), "none of its tools exists"},
		"a tool of another program": {"a.md", claudeRole("a", "tools: mcp__other__x"), "none of its tools exists"},
	} {
		t.Run(name, func(t *testing.T) {
			p, home, project := places(t)
			put(t, home+"/.codex/agents/good.toml", tomlRole("good"))
			folder := ".codex"
			if strings.HasSuffix(tt.file, ".md") {
				folder = ".claude"
			}
			path := put(t, filepath.Join(project, folder, "agents", tt.file), tt.text)
			roles, warnings := found(p)
			require.Len(t, roles, 1)
			require.Contains(t, roles, "good")
			require.NotEmpty(t, warnings)
			last := warnings[len(warnings)-1]
			require.Contains(t, last, path+": the agent role ")
			require.Contains(t, last, tt.warning)
			require.NotContains(t, last, "\n")
		})
	}
}

func TestToolsThatDoNotExistAreLeftOut(t *testing.T) {
	p, home, _ := places(t)
	path := put(t, home+"/.claude/agents/a.md", claudeRole("a", "tools: Read, Nope, Bash(git *), mcp__my.server__ask, mcp__gone"))
	roles, warnings := found(p)
	require.Equal(t, &protocol.AgentTools{Names: []string{"mcp__my.server__ask", "shell", "view_image"},
		ReadOnlyCommands: true}, roles["a"].Tools)
	require.Equal(t, protocol.SandboxReadOnly, roles["a"].Sandbox)
	require.Len(t, warnings, 3)
	for i, name := range []string{`"Nope"`, `"Bash(git *)"`, `"mcp__gone"`} {
		require.Contains(t, warnings[i], path+": the agent role \"a\" names the tool "+name)
	}
	require.Contains(t, warnings[1], "Limits of single commands are not supported")
}

func TestOtherKeysOfARoleHaveNoEffect(t *testing.T) {
	p, home, _ := places(t)
	put(t, home+"/.codex/agents/a.toml", tomlRole("a", `model_verbosity = "low"`, "[mcp_servers.x]", `command = "y"`))
	roles, warnings := found(p)
	require.Len(t, roles, 1)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "these keys have no effect in an agent role: mcp_servers, model_verbosity")
}

func TestTablesThatAreNoRolesCostAWarning(t *testing.T) {
	p, _, project := places(t)
	outside := put(t, t.TempDir()+"/outside.toml", tomlRole("outside"))
	p.Layers[1].Declared = map[string]map[string]any{
		"a": {"description": int64(5)}, "b": {"description": "x", "other": true}, "c": {"nickname_candidates": []any{"N"}},
		"d": {"description": "x", "config_file": "gone.toml"}, "e": {"description": "x", "config_file": outside},
		"f:\n": {"description": "x"},
	}
	roles, warnings := found(p)
	require.Empty(t, roles)
	require.Len(t, warnings, 6)
	for i, want := range []string{"description: expected a text", "unknown key other", "has no description", "gone.toml: no such file",
		"outside", "other characters"} {
		require.Contains(t, warnings[i]+" "+strings.Join(warnings, " "), want)
		require.Contains(t, warnings[i], project+"/.codex/config.toml: ")
	}
}

// TestFilesOfAProjectStayInIt checks that no link leads out of a project, and that no pipe and no device blocks.
func TestFilesOfAProjectStayInIt(t *testing.T) {
	p, home, project := places(t)
	outside := put(t, t.TempDir()+"/agents/x.toml", tomlRole("x"))
	require.NoError(t, os.MkdirAll(project+"/.codex/agents", 0o700))
	require.NoError(t, os.Symlink(outside, project+"/.codex/agents/link.toml"))
	require.NoError(t, os.Symlink("/dev/zero", project+"/.codex/agents/zero.toml"))
	require.NoError(t, posix.Mkfifo(project+"/.codex/agents/pipe.toml", 0o600))
	require.NoError(t, os.MkdirAll(project+"/.claude", 0o700))
	require.NoError(t, os.Symlink(filepath.Dir(outside), project+"/.claude/agents"))
	require.NoError(t, os.MkdirAll(home+"/.claude", 0o700))
	require.NoError(t, posix.Mkfifo(home+"/.claude/agents", 0o600))
	put(t, home+"/.codex/agents/sub/good.toml", tomlRole("good"))
	require.NoError(t, os.Symlink(outside, home+"/.codex/agents/mine.toml"))
	roles, warnings := found(p)
	require.Len(t, roles, 2, "links of the user are followed")
	require.Contains(t, roles, "good")
	require.Contains(t, roles, "x")
	require.Len(t, warnings, 4)
}

func TestRolesAreBounded(t *testing.T) {
	p, home, _ := places(t)
	for i := range 600 {
		name := strings.Repeat("a", 1+i%30) + strings.Repeat("b", 1+i/30)
		put(t, filepath.Join(home, ".codex/agents", name+".toml"), tomlRole(name))
	}
	put(t, home+"/.claude/agents"+strings.Repeat("/d", 6)+"/deep.md", claudeRole("deep"))
	roles, warnings := agentrole.Find(p)
	require.Len(t, roles, 64)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[0], "more than 500 files")
	require.Contains(t, warnings[1], "more than 64 roles")
}

func TestTextHasALineForEachRole(t *testing.T) {
	p, home, _ := places(t)
	put(t, home+"/.codex/agents/a.toml",
		"name = \"a\"\ndescription = \"\"\"\nTwo\nlines: x\n\"\"\"\ndeveloper_instructions = \"x\"")
	roles, _ := agentrole.Find(p)
	lines := strings.Split(agentrole.Text(roles), "\n")
	require.Len(t, lines, 4)
	require.Equal(t, "a: Two lines: x", lines[0])
	_, known := agentrole.Named(roles, "nope")
	require.False(t, known)
}

// FuzzRole checks that each file is a role of one line for the model, or a warning.
func FuzzRole(f *testing.F) {
	for _, seed := range []string{tomlRole("a"), claudeRole("a"), "", "---\n---\n", "name = 1"} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		put(t, dir+"/.claude/agents/a.md", text)
		put(t, dir+"/.codex/agents/a.toml", text)
		roles, _ := agentrole.Find(agentrole.Places{UserHome: dir,
			Layers: []config.RoleSource{{Type: protocol.LayerUser, Folder: dir + "/.codex"}}})
		require.Len(t, strings.Split(agentrole.Text(roles), "\n"), len(roles))
	})
}
