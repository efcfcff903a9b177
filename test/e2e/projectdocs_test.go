package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// warningsWith returns the warnings of a client that contain a text.
func warningsWith(c *apptest.Client, text string) (list []string) {
	for _, m := range c.Notifications("warning") {
		if w := gjson.GetBytes(m.Params, "message").Str; strings.Contains(w, text) {
			list = append(list, w)
		}
	}
	return list
}

// TestProjectDocumentsReachTheModel in other encodings and with other names, the nearest one whole.
func TestProjectDocumentsReachTheModel(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("a"), apptest.TextAnswer("b"))
	home, project := p.Home(t), apptest.NewRepository(t)
	require.NoError(t, os.WriteFile(filepath.Join(home, "AGENTS.md"), []byte("rule of the user"), 0o600))
	project.Write("AGENTS.md", "rule of the root "+strings.Repeat("x", 40_000))
	sub := filepath.Join(project.Dir, "sub")
	require.NoError(t, os.Mkdir(sub, 0o755))
	project.Write("sub/CLAUDE.md", "\xff\xfer\x00u\x00l\x00e\x00 \x00\xe9\x00")
	c := apptest.StartServer(t, home, "-c", `project_doc_fallback_filenames=["CLAUDE.md"]`)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": sub})
	for range 2 {
		require.Equal(t, "completed", c.Turn(id, "hi").Status)
	}
	body := p.Requests()[1].Body
	for _, part := range []string{"rule é", "rule of the root xxx", "[cut here: all instructions together are limited to 32768 bytes]"} {
		require.Contains(t, body, part)
	}
	require.NotContains(t, body, "rule of the user")
	require.Len(t, warningsWith(c, filepath.Join(project.Dir, "AGENTS.md")+" are cut after 32761 bytes"), 1)
	require.Len(t, warningsWith(c, filepath.Join(home, "AGENTS.md")+" are left out"), 1)
	c.Close()
}

// TestProjectChoosesNoLinks has a trusted project whose configuration names a link.
func TestProjectChoosesNoLinks(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("a"), apptest.TextAnswer("b"))
	project := apptest.NewRepository(t)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("top secret"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(project.Dir, ".codex"), 0o755))
	project.Write(".codex/config.toml", fmt.Sprintf("project_doc_fallback_filenames = [\"OUT.md\", \"IN.md\", \"../up.md\", %q]\n", secret))
	project.Write("inside.md", "inside text")
	require.NoError(t, os.Symlink(secret, filepath.Join(project.Dir, "OUT.md")))
	require.NoError(t, os.Symlink("inside.md", filepath.Join(project.Dir, "IN.md")))
	home := p.Home(t)
	c := apptest.StartServer(t, home, "-c", fmt.Sprintf("projects.%q.trust_level=trusted", project.Dir))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": project.Dir})
	require.Equal(t, "completed", c.Turn(id, "hi").Status)
	require.NotContains(t, p.Requests()[0].Body, "top secret")
	require.NotContains(t, p.Requests()[0].Body, "inside text")
	require.Len(t, warningsWith(c, "a link with a name that the project chose is not followed"), 2)
	require.Len(t, warningsWith(c, "in project_doc_fallback_filenames has no effect"), 2)
	c.Close()
}
