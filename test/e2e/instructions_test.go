package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestFolderChangeEndsInstructions changes the working folder by turn/start and by thread/resume.
func TestFolderChangeEndsInstructions(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("1"), apptest.TextAnswer("2"), apptest.TextAnswer("3"),
		apptest.TextAnswer("4"),
		apptest.TextAnswer("5"), apptest.TextAnswer("6"))
	home, root := p.Home(t), t.TempDir()
	for dir, rules := range map[string]string{"a": "RULES A", "b": "RULES B", "none": ""} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir, ".git"), 0o700))
		if rules != "" {
			require.NoError(t, os.WriteFile(filepath.Join(root, dir, "AGENTS.md"), []byte(rules), 0o600))
		}
	}
	file := func(dir string) string { return "# " + filepath.Join(root, dir, "AGENTS.md") + "\n\nRULES " }
	const replace = "These instructions replace all earlier ones from AGENTS.md files.\n\n"
	const cleared = "<user_instructions>\nThe earlier instructions from AGENTS.md files no longer apply.\n</user_instructions>"
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": filepath.Join(root, "a")})
	wants := []struct{ dir, text string }{
		{"a", "<user_instructions>\n" + file("a") + "A\n\n</user_instructions>"},
		{"b", "<user_instructions>\n" + replace + file("b") + "B\n\n</user_instructions>"},
		{"b", ""},
		{"none", cleared},
		{"none", ""},
	}
	for n, want := range wants {
		c.Call("turn/start",
			apptest.Object{"threadId": id, "cwd": filepath.Join(root, want.dir), "input": apptest.TextInput("go")})
		c.AwaitTurn()
		require.Equal(t, want.text, newInstructions(p.Requests()[n].Body), "turn %d in %s", n, want.dir)
	}
	c.Call("turn/start", apptest.Object{"threadId": id, "cwd": filepath.Join(root, "a"), "input": apptest.TextInput("go")})
	c.AwaitTurn()
	c.Close()

	p = apptest.NewProvider(t, apptest.TextAnswer("1"))
	p.Configure(t, home)
	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": id, "cwd": filepath.Join(root, "none")})
	c.Turn(id, "go")
	require.Equal(t, cleared, newInstructions(p.Requests()[0].Body))
	var marks []bool
	for _, item := range c.CallJSON("context/getItems",
		apptest.Object{"threadId": id}).Get(`items.#(category=="userInstructions")#`).Array() {
		marks = append(marks, item.Get("superseded").Bool())
		require.True(t, item.Get("inPrompt").Bool(), item.Raw)
	}
	require.Equal(t, []bool{true, true, true, true, false}, marks)
	c.Close()
}

// newInstructions returns the instructions after the last answer in a request.
func newInstructions(body string) (text string) {
	for _, m := range gjson.Get(body, "messages").Array() {
		content := m.Get("content").Str
		switch {
		case m.Get("role").Str == "assistant":
			text = ""
		case strings.Contains(content, "<user_instructions>"):
			text = content[strings.Index(content, "<user_instructions>"):]
			end := "</user_instructions>"
			text = text[:strings.Index(text, end)+len(end)]
		}
	}
	return text
}
