package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestBinaryEndsInstructionsOfAnotherFolder when the working directory changes, by turn/start
// and by thread/resume.
func TestBinaryEndsInstructionsOfAnotherFolder(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("1"), says("2"), says("3"), says("4"), says("5"), says("6"))
	home, root := p.home(t), t.TempDir()
	for dir, rules := range map[string]string{"a": "RULES A", "b": "RULES B", "none": ""} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir, ".git"), 0o700))
		if rules != "" {
			require.NoError(t, os.WriteFile(filepath.Join(root, dir, "AGENTS.md"), []byte(rules), 0o600))
		}
	}
	file := func(dir string) string { return "# " + filepath.Join(root, dir, "AGENTS.md") + "\n\nRULES " }
	const replace = "These instructions replace all earlier ones from AGENTS.md files.\n\n"
	const gone = "<user_instructions>\nThe earlier instructions from AGENTS.md files no longer apply.\n</user_instructions>"
	c := startServer(t, home)
	c.initialize()
	id := c.startThread(object{"cwd": filepath.Join(root, "a")})
	wants := []struct{ dir, text string }{
		{"a", "<user_instructions>\n" + file("a") + "A\n\n</user_instructions>"},
		{"b", "<user_instructions>\n" + replace + file("b") + "B\n\n</user_instructions>"},
		{"b", ""},
		{"none", gone},
		{"none", ""},
	}
	for n, want := range wants {
		c.call("turn/start", object{"threadId": id, "cwd": filepath.Join(root, want.dir), "input": textInput("go")})
		c.awaitTurn()
		require.Equal(t, want.text, newInstructions(p.asked()[n].Body), "turn %d in %s", n, want.dir)
	}
	c.call("turn/start", object{"threadId": id, "cwd": filepath.Join(root, "a"), "input": textInput("go")})
	c.awaitTurn()
	c.close()

	p = newProvider(t, says("1"))
	p.configure(t, home)
	c = startServer(t, home)
	c.initialize()
	c.call("thread/resume", object{"threadId": id, "cwd": filepath.Join(root, "none")})
	c.turn(id, "go")
	require.Equal(t, gone, newInstructions(p.asked()[0].Body))
	var marks []bool
	for _, item := range c.get("context/getItems", object{"threadId": id}).Get(`items.#(category=="userInstructions")#`).Array() {
		marks = append(marks, item.Get("superseded").Bool())
		require.True(t, item.Get("inPrompt").Bool(), item.Raw)
	}
	require.Equal(t, []bool{true, true, true, true, false}, marks)
	c.close()
}

// newInstructions are the instructions behind the last answer in a request.
func newInstructions(body string) (text string) {
	for _, m := range gjson.Get(body, "messages").Array() {
		content := m.Get("content").Str
		switch {
		case m.Get("role").Str == "assistant":
			text = ""
		case len(content) > 18 && content[:18] == "<user_instructions":
			text = content
		}
	}
	return text
}
