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

// block returns the block after a comment in docs/clients.md.
func block(t *testing.T, comment string) string {
	t.Helper()
	text, err := os.ReadFile(apptest.Root("docs/clients.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "<!-- "+comment+" -->\n```")
	require.True(t, found, comment)
	_, rest, _ = strings.Cut(rest, "\n")
	shown, _, found := strings.Cut(rest, "\n```\n")
	require.True(t, found, comment)
	return shown + "\n"
}

// run runs a program that finds the server in its PATH as appserver.
func (w *workshop) run(name string, args ...string) (string, error) {
	w.t.Helper()
	server, err := apptest.Binary()
	require.NoError(w.t, err)
	cmd := apptest.ProcessCommand(w.t, w.home, name, args...)
	cmd.Dir = w.project
	cmd.Env = append(cmd.Env, "PATH="+w.bin+":"+os.Getenv("PATH"), "RECORD_PROGRAM="+server, "RECORD_FOLDER="+w.records)
	apptest.ServersUseDatabase(w.t, cmd, w.home)
	out, err := cmd.Output()
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

// TestReferenceClientSettings requires that the editors' settings are JSON, and that the tested
// versions are named.
func TestReferenceClientSettings(t *testing.T) {
	var tried struct{ Dependencies map[string]string }
	text, err := os.ReadFile("testdata/clients/package.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &tried))
	for _, editor := range []string{"zed", "jetbrains", "vscode"} {
		require.True(t, json.Valid([]byte(block(t, "settings: "+editor))), editor)
	}
	doc, err := os.ReadFile(apptest.Root("docs/clients.md"))
	require.NoError(t, err)
	named := regexp.MustCompile(`@agentclientprotocol/codex-acp@([0-9.]+)`).FindAllSubmatch(doc, -1)
	require.Len(t, named, 2)
	for _, n := range named {
		require.Equal(t, tried.Dependencies["@agentclientprotocol/codex-acp"], string(n[1]))
	}
	for name, version := range tried.Dependencies {
		if short := strings.TrimPrefix(name, "@agentclientprotocol/"); short != "zod" && !strings.HasPrefix(name, "ai-6") &&
			name != "ai" {
			require.Regexp(t, `(?m)^\| `+short+`[^|]* \| `+regexp.QuoteMeta(version)+` \|`, string(doc))
		}
	}
}
