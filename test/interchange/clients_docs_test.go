//go:build reference

package interchange

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

func clientsDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(apptest.Root("docs/clients.md"))
	require.NoError(t, err)
	return string(text)
}

// block returns the block after a comment in docs/clients.md.
func block(t *testing.T, comment string) string {
	t.Helper()
	_, rest, found := strings.Cut(clientsDoc(t), "<!-- "+comment+" -->\n```")
	require.True(t, found, comment)
	_, rest, _ = strings.Cut(rest, "\n")
	shown, _, found := strings.Cut(rest, "\n```\n")
	require.True(t, found, comment)
	return shown + "\n"
}

// recipe returns a block of docs/clients.md with the path of the recorder instead of the server's. From then on
// PATH has no codex, because the recipe alone must lead to the server.
func (w *workshop) recipe(comment string) string {
	w.t.Helper()
	text := block(w.t, comment)
	require.Contains(w.t, text, "/usr/local/bin/appserver")
	require.NoError(w.t, os.RemoveAll(filepath.Join(w.bin, "codex")))
	return strings.ReplaceAll(text, "/usr/local/bin/appserver", w.recorder)
}

// run runs a program that finds the server in its PATH as appserver.
func (w *workshop) run(name string, args ...string) (string, error) {
	w.t.Helper()
	out, err := w.command(name, args...).Output()
	return string(out), err
}

// TestReferenceClientScript runs the script of docs/clients.md.
func TestReferenceClientScript(t *testing.T) {
	w := scriptedWorkshop(t,
		`{"steps":[{"match":"folder","deltas":["Two ","files."]},{"match":"fail","error":{"status":400,"message":"no such model here"}}]}`)
	require.NoError(t, os.Rename(filepath.Join(w.bin, "codex"), filepath.Join(w.bin, "appserver")))
	script := filepath.Join(w.bin, "ask.sh")
	require.NoError(t, os.WriteFile(script, []byte(block(t, "script: ask.sh")), 0o700))
	for question, want := range map[string]string{"what is in the folder?": "Two files.\n",
		"fail": "no such model here\n"} {
		answer, err := w.run(script, question)
		require.NoError(t, err)
		require.Equal(t, want, answer)
	}
	w.conforms("ask.sh")

	require.NoError(t, os.WriteFile(filepath.Join(w.home, "config.toml"), []byte("model_provider = 1\n"), 0o600))
	_, err := w.run(script, "hello")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "a server that does not start gives no answer")
}

// TestReferenceClientEditors starts codex-acp with the settings of each editor, and runs a turn.
func TestReferenceClientEditors(t *testing.T) {
	expected := strings.ReplaceAll(clientsDoc(t), "\n", " ")
	for _, editor := range []string{"zed", "jetbrains"} {
		t.Run(editor, func(t *testing.T) {
			w := scriptedWorkshop(t, `{"steps":[{"match":"greet","deltas":["Hello, ","world."]}]}`)
			var settings struct {
				Servers map[string]struct {
					Command string
					Args    []string
					Env     map[string]string
				} `json:"agent_servers"`
			}
			require.NoError(t, json.Unmarshal([]byte(w.recipe("settings: "+editor)), &settings))
			server := settings.Servers["appserver"]
			cmd := w.command(server.Command, server.Args...)
			cmd.Dir = os.Getenv("REFERENCE_CLIENTS") // npx runs the package that is installed in its directory
			cmd.Env = append(cmd.Env, "npm_config_offline=true")
			for name, value := range server.Env {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
			a := w.acpBy(w.connect(cmd))
			modes := a.open(w.project).Modes.AvailableModes
			require.NotEmpty(t, modes)
			for _, mode := range modes {
				require.Contains(t, expected, "*"+mode.Name+"*", "a mode that the recipe names")
			}
			require.Equal(t, "Hello, world.", shownText(a.turn("greet"), "agent_message_chunk"))
			a.Client.Close()
			w.conforms("codex-acp, with the settings for " + editor)
		})
	}
}

// TestReferenceClientAISDKRecipes runs the programs of docs/clients.md. They print what the model answers.
func TestReferenceClientAISDKRecipes(t *testing.T) {
	for _, name := range []string{"ask.mjs", "ask-6.mjs"} {
		t.Run(name, func(t *testing.T) {
			w := scriptedWorkshop(t, `{"steps":[{"match":"folder","deltas":["Two ","files."]}]}`)
			source := w.recipe("script: " + name)
			if name == "ask-6.mjs" { // both versions of the AI SDK are installed, this one by another name
				source = strings.ReplaceAll(source, "from 'ai'", "from 'ai-6'")
			}
			answer, err := w.run("node", w.script(name, source))
			require.NoError(t, err)
			require.Equal(t, "Two files.\n", answer)
			w.conforms(name)
		})
	}
}

// TestReferenceClientSettings requires that the settings of the extension for Visual Studio Code name the
// server, and that docs/clients.md has the tested versions.
func TestReferenceClientSettings(t *testing.T) {
	require.JSONEq(t, `{"chatgpt.cliExecutable": "/usr/local/bin/appserver"}`, block(t, "settings: vscode"))
	var tried struct{ Dependencies map[string]string }
	text, err := os.ReadFile("testdata/clients/package.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &tried))
	doc := clientsDoc(t)
	named := regexp.MustCompile(`@agentclientprotocol/codex-acp@([0-9.]+)`).FindAllStringSubmatch(doc, -1)
	require.Len(t, named, 2)
	for _, n := range named {
		require.Equal(t, tried.Dependencies["@agentclientprotocol/codex-acp"], n[1])
	}
	module, err := os.ReadFile("testdata/gosdk/go.mod")
	require.NoError(t, err)
	required := regexp.MustCompile(`(?m)^require (\S+) (\S+)$`).FindStringSubmatch(string(module))
	require.Len(t, required, 3)
	require.Contains(t, doc, "`"+required[1]+"` | "+required[2]+" |")
	for name, version := range tried.Dependencies {
		if short := strings.TrimPrefix(name, "@agentclientprotocol/"); short != "zod" && !strings.HasPrefix(name, "ai-6") &&
			name != "ai" {
			require.Regexp(t, `(?mi)^\| `+short+`[^|]* \| `+regexp.QuoteMeta(version)+` \|`, doc)
		}
	}
}
