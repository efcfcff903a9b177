//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

const (
	outsideText = "text from outside of the repository"
	homeKey     = "key-of-the-home"
	serverKey   = "key-in-the-environment"
)

// planted is a repository in which somebody has left a link or a special file.
type planted struct {
	name string
	// plant puts the file into dir. Outside has AGENTS.md, SKILL.md and a folder skill.
	plant func(t *testing.T, dir, outside, home string)
	// sub is the directory of the thread, below the repository.
	sub string
	// warning is a part of the warning that the client gets.
	warning string
}

func link(t *testing.T, target, name string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.Symlink(target, name))
}

var plantedFiles = []planted{
	{"the environment of the server", func(t *testing.T, dir, _, _ string) {
		link(t, "/proc/self/environ", dir+"/AGENTS.md")
	}, "", "AGENTS.md"},
	{"the environment by a thread", func(t *testing.T, dir, _, _ string) {
		link(t, "/proc/thread-self/environ", dir+"/AGENTS.md")
	}, "", "AGENTS.md"},
	{"the configuration", func(t *testing.T, dir, _, home string) {
		link(t, home+"/config.toml", dir+"/AGENTS.md")
	}, "", "AGENTS.md"},
	{"an override", func(t *testing.T, dir, outside, _ string) {
		link(t, outside+"/AGENTS.md", dir+"/AGENTS.override.md")
	}, "",
		"AGENTS.override.md"},
	{"a chain of links", func(t *testing.T, dir, outside, _ string) {
		link(t, outside+"/AGENTS.md", dir+"/one")
		link(t, "one", dir+"/AGENTS.md")
	}, "", "AGENTS.md"},
	{"a relative link", func(t *testing.T, dir, outside, _ string) {
		target, err := filepath.Rel(dir, outside+"/AGENTS.md")
		require.NoError(t, err)
		link(t, target, dir+"/AGENTS.md")
	}, "", "AGENTS.md"},
	{"a file in a folder above", func(t *testing.T, dir, outside, _ string) {
		link(t, outside+"/AGENTS.md", dir+"/AGENTS.md")
	}, "a/b",
		"AGENTS.md"},
	{"a FIFO", func(t *testing.T, dir, _, _ string) {
		require.NoError(t, syscall.Mkfifo(dir+"/AGENTS.md", 0o644))
	}, "", "AGENTS.md"},
	{"a device", func(t *testing.T, dir, _, _ string) {
		link(t, "/dev/zero", dir+"/AGENTS.md")
	}, "", "AGENTS.md"},
	{"a skill", func(t *testing.T, dir, outside, _ string) {
		link(t, outside+"/SKILL.md", dir+"/.agents/skills/x/SKILL.md")
	}, "",
		"skills"},
	{"a folder of a skill", func(t *testing.T, dir, outside, _ string) {
		link(t, outside+"/skill", dir+"/.codex/skills/x")
	}, "", "skills"},
	{"all skills", func(t *testing.T, dir, outside, _ string) {
		link(t, outside, dir+"/.agents/skills")
	}, "", "skills"},
}

// TestFilesOfRepositoriesLeadNowhereElse starts turns in repositories with links to secrets and with files that block.
// Nothing of them is sent to the model or written to the rollout, and the client gets a warning with the name.
func TestFilesOfRepositoriesLeadNowhereElse(t *testing.T) {
	t.Parallel()
	for _, p := range plantedFiles {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			home, dir, outside := t.TempDir(), t.TempDir(), t.TempDir()
			skill := "---\nname: x\ndescription: " + outsideText + "\n---\n" + outsideText
			for name, text := range map[string]string{home + "/config.toml": "developer_instructions = \"" + homeKey + "\"",
				outside + "/AGENTS.md": outsideText, outside + "/SKILL.md": skill, outside + "/skill/SKILL.md": skill} {
				require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
				require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
			}
			require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, p.sub), 0o755))
			p.plant(t, dir, outside, home)

			cmd := apptest.OfflineCommand(t, home, "-c", `developer_instructions=""`)
			cmd.Env = append(cmd.Env, "SERVER_API_KEY="+serverKey)
			c := apptest.StartProcess(t, cmd)
			c.Initialize()
			id := c.StartThread(apptest.Object{"cwd": filepath.Join(dir, p.sub)})
			require.Equal(t, "completed", c.Turn(id, "say hello, $x").Status)
			for _, secret := range []string{outsideText, homeKey, serverKey} {
				require.NotContains(t, string(c.Call("context/getPrompt", apptest.Object{"threadId": id})), secret)
				read := apptest.Object{"threadId": id, "includeTurns": true}
				require.NotContains(t, string(c.Call("thread/read", read)), secret)
			}
			warned := 0
			for _, w := range c.Warnings() {
				if strings.Contains(w, p.warning) && strings.Contains(w, dir) {
					warned++
				}
			}
			require.Equal(t, 1, warned, "%q", c.Warnings())
			c.Close()
		})
	}
}

// TestLinksWithinARepositoryAreFollowed has documents and skills behind links that stay in the repository, and the
// user's own behind links to anywhere.
func TestLinksWithinARepositoryAreFollowed(t *testing.T) {
	t.Parallel()
	home, dir, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		dir + "/docs/agents.md": "rules of the repository", outside + "/mine.md": "rules of the user",
		dir + "/docs/skill/SKILL.md": "---\nname: here\ndescription: skill of the repository\n---\n",
		outside + "/skill/SKILL.md":  "---\nname: there\ndescription: skill of the user\n---\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
	link(t, "docs/agents.md", dir+"/AGENTS.md")
	link(t, dir+"/docs/skill", dir+"/.agents/skills/here")
	link(t, outside+"/mine.md", home+"/AGENTS.md")
	link(t, outside+"/skill", home+"/skills/there")
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{"cwd": dir})
	c.Turn(id, "say hello")
	prompt := string(c.Call("context/getPrompt", apptest.Object{"threadId": id}))
	for _, text := range []string{
		"rules of the repository", "rules of the user", "skill of the repository", "skill of the user",
	} {
		require.Contains(t, prompt, text)
	}
	require.Empty(t, c.Warnings())
	c.Close()
}

// TestConfigurationOfAProjectLeadsNowhereElse has links in the project folder of a trusted project, and instructions
// that its configuration names.
func TestConfigurationOfAProjectLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(t *testing.T, dir, outside string){
		"a file":   func(t *testing.T, dir, outside string) { link(t, outside+"/config.toml", dir+"/.codex/config.toml") },
		"a folder": func(t *testing.T, dir, outside string) { link(t, outside, dir+"/.codex") },
		"the environment": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.MkdirAll(dir+"/.codex", 0o755))
			text := `model_instructions_file = "/proc/self/environ"`
			require.NoError(t, os.WriteFile(dir+"/.codex/config.toml", []byte(text), 0o644))
		},
		"instructions elsewhere": func(t *testing.T, dir, outside string) {
			require.NoError(t, os.MkdirAll(dir+"/.codex", 0o755))
			require.NoError(t, os.WriteFile(dir+"/.codex/config.toml",
				[]byte(fmt.Sprintf("model_instructions_file = %q", outside+"/config.toml")), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir, outside := t.TempDir(), t.TempDir(), t.TempDir()
			text := "developer_instructions = \"" + outsideText + "\""
			require.NoError(t, os.WriteFile(outside+"/config.toml", []byte(text), 0o644))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
			plant(t, dir, outside)
			trust := fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", dir)
			require.NoError(t, os.WriteFile(home+"/config.toml", []byte(trust), 0o644))
			c := apptest.StartOffline(t, home)
			err := c.CallRejected("thread/start", apptest.Object{"cwd": dir})
			require.NotContains(t, err.Message, outsideText)
			require.Regexp(t, "a link leads out of|a file of the kernel", err.Message)
			c.Close()
		})
	}
}
