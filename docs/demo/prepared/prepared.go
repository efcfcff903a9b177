// Package prepared makes the conversation that the workbench shows in its documentation and its
// tests: turns with commands, patches, a plan and reasoning, a trim point, a compaction, and edits of
// the context. The offline provider answers from a script; the commands run in a real project.
package prepared

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"appserver/docs/demo/session"
)

// Home is the result of Make.
type Home struct {
	// Path is the value of CODEX_HOME, Project the folder of the agent.
	Path, Project string
	// Thread is the id of the conversation.
	Thread string
}

//go:embed project script.json
var files embed.FS

// configuration has a small context window, so that the conversation fills a part that can be seen. By default the
// last ten outputs are never suggested, which are more than the conversation has.
const configuration = `model = "demo"
model_provider = "offline"
model_context_window = 12000

[context.economy]
mode = "suggest"
keep_last_outputs = 1

[memory]
summarize_on_prune = true

[model_prices.offline]
input = 1.25
cached_input = 0.125
output = 10

[model_providers.offline]
script = %q
`

// Make writes a home and a project into an existing folder, and runs the conversation there with a
// server. The server has ended when Make returns.
func Make(binary, dir string) (Home, error) {
	home := Home{Path: filepath.Join(dir, "home"), Project: filepath.Join(dir, "slugs")}
	if err := home.write(filepath.Join(dir, "script.json")); err != nil {
		return home, err
	}
	c, err := session.Dial(&session.Printer{Out: io.Discard}, binary, home.Path)
	if err != nil {
		return home, err
	}
	defer c.Kill()
	if err := c.Initialize(); err != nil {
		return home, err
	}
	if err := others(c, home.Project); err != nil {
		return home, err
	}
	if home.Thread, err = converse(c, home.Project); err != nil {
		return home, fmt.Errorf("preparing the conversation: %w", err)
	}
	return home, c.Close()
}

// write writes the configuration, the script of the provider and the project.
func (h Home) write(scriptPath string) error {
	project, err := fs.Sub(files, "project")
	if err != nil {
		return err
	}
	script, err := files.ReadFile("script.json")
	if err != nil {
		return err
	}
	script = bytes.ReplaceAll(script, []byte("$PROJECT"), []byte(h.Project)) // for findings of a review
	config := fmt.Sprintf(configuration, scriptPath)
	return errors.Join(
		os.Mkdir(h.Path, 0o700),
		os.WriteFile(filepath.Join(h.Path, "config.toml"), []byte(config), 0o600),
		os.WriteFile(scriptPath, script, 0o600),
		os.CopyFS(h.Project, project),
	)
}

// others makes further threads, so that the list of threads has more than one row.
func others(c *session.Client, cwd string) error {
	for _, t := range []struct{ name, text string }{
		{"Release notes for 2.3", "Hello, which files changed since the last release?"},
		{"Explain the retry policy", "Please think about it: when do we retry an upload?"},
		{"", "How long may a slug be?"},
	} {
		id, err := start(c, cwd)
		if err != nil {
			return err
		}
		if err := c.Turn(id, t.text); err != nil {
			return err
		}
		if t.name == "" {
			continue
		}
		if _, err := c.Call("thread/name/set", session.Object{"threadId": id, "name": t.name}); err != nil {
			return err
		}
	}
	return nil
}

func start(c *session.Client, cwd string) (id string, err error) {
	started, err := c.Call("thread/start",
		session.Object{"cwd": cwd, "approvalPolicy": "on-request", "sandbox": "workspace-write"})
	id, _ = session.Dig(started, "thread", "id").(string)
	return id, err
}

// converse runs the conversation. The order of the turns is that of the script.
func converse(c *session.Client, cwd string) (thread string, err error) {
	if thread, err = start(c, cwd); err != nil {
		return thread, err
	}
	turn := func(text string) func() error { return func() error { return c.Turn(thread, text) } }
	call := func(method string, params session.Object) func() error {
		params["threadId"] = thread
		return func() error {
			_, err := c.Call(method, params)
			return err
		}
	}
	for _, step := range []func() error{
		turn(`Our slugs lose their umlauts: "Äpfel & Birnen" becomes "pfel-birnen". Find out why.`),
		call("thread/name/set", session.Object{"name": "Slugs lose umlauts"}),
		turn("Fix it, and add the titles with umlauts to the tests."),
		call("thread/context/trim", session.Object{"keepLastNTurns": 1}),
		turn("How do the slugs of all our titles look now?"),
		func() error { return c.Compact(thread) },
		turn("Do two titles have the same slug?"),
		turn("Add a section about letters outside ASCII to the README."),
		turn("Run all the tests once more."),
		call("context/prune", session.Object{"categories": []string{"reasoning"}}),
	} {
		if err := step(); err != nil {
			return thread, err
		}
	}
	return thread, nil
}
