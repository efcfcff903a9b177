//go:build reference

package interchange

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/schema/conform"
	"appserver/test/apptest"
)

// These tests run programs of other authors with the server. Run with REFERENCE_CLIENTS naming a
// folder in which npm has installed testdata/clients, and with REFERENCE_SCHEMA:
//
// npm ci --omit=optional && go test -tags reference -run TestReferenceClient ./test/interchange

// workshop is a folder in which a client finds the server as codex. It records their messages.
type workshop struct {
	t        *testing.T
	home     string
	project  string
	records  string
	bin      string
	recorder string // the program that runs the server
}

func newWorkshop(t *testing.T, config string) *workshop {
	t.Helper()
	w := &workshop{t: t, home: t.TempDir(), project: t.TempDir(), records: t.TempDir(), bin: t.TempDir()}
	var err error
	w.recorder, err = apptest.Build("recorder", "./test/interchange/testdata/recorder")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(w.recorder, filepath.Join(w.bin, "codex")))
	apptest.WriteConfig(t, w.home, config)
	return w
}

// scriptedWorkshop returns a workshop whose offline provider answers by a script.
func scriptedWorkshop(t *testing.T, script string) *workshop {
	t.Helper()
	w := newWorkshop(t, "model = \"offline\"\nmodel_provider = \"offline\"\n[model_providers.offline]\nscript = \"script.json\"\n")
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "script.json"), []byte(script), 0o600))
	return w
}

// command returns a command that finds the programs of bin first. The server's messages are recorded.
func (w *workshop) command(name string, args ...string) *exec.Cmd {
	w.t.Helper()
	server, err := apptest.Binary()
	require.NoError(w.t, err)
	cmd := apptest.ProcessCommand(w.t, w.home, name, args...)
	cmd.Dir = w.project
	cmd.Env = append(cmd.Env, "PATH="+w.bin+":"+os.Getenv("PATH"), "RECORD_PROGRAM="+server, "RECORD_FOLDER="+w.records,
		"HAPPY_HOME_DIR="+w.home)
	apptest.ServersUseDatabase(w.t, cmd, w.home)
	return cmd
}

// connect starts a program that speaks JSON-RPC, one message a line.
func (w *workshop) connect(cmd *exec.Cmd) *apptest.Client {
	w.t.Helper()
	c := apptest.Connect(w.t, cmd, nil)
	c.SendsVersion = true
	return c
}

// start starts a Node program that speaks JSON-RPC, one message a line.
func (w *workshop) start(program string, args ...string) *apptest.Client {
	w.t.Helper()
	cmd := w.command("node", append([]string{program}, args...)...)
	cmd.Env = append(cmd.Env, "CODEX_PATH="+filepath.Join(w.bin, "codex"), "NO_BROWSER=1")
	return w.connect(cmd)
}

// script writes a Node program beside the packages that npm installed, where Node searches for them.
func (w *workshop) script(name, source string) (path string) {
	w.t.Helper()
	folder := w.t.TempDir()
	path = filepath.Join(folder, name)
	require.NoError(w.t, os.WriteFile(path, []byte(source), 0o600))
	modules := filepath.Dir(filepath.Dir(installed(w.t, "ai/package.json")))
	require.NoError(w.t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	return path
}

// harness writes a Node program of testdata/clients.
func (w *workshop) harness(name string) (path string) {
	w.t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata/clients", name))
	require.NoError(w.t, err)
	return w.script(name, string(source))
}

// conforms validates the server's messages with the reference's schema.
func (w *workshop) conforms(client string) {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.records, "*"))
	require.NoError(w.t, err)
	require.NotEmpty(w.t, paths, "the client did not start the server")
	requested, checked, rejectedMethods := 0, 0, map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(w.t, err)
		lines := conform.ParseTranscript(string(text))
		checked += conforms(w.t, referenceSchemas(w.t), lines)
		requested += requests(lines)
		rejected(lines, rejectedMethods)
		if w.t.Failed() {
			w.t.Logf("%s", text)
		}
	}
	text := fmt.Sprintf("%s: %d processes, %d requests, rejected %v, %d messages of the server validated", client, len(paths),
		requested, apptest.SortedKeys(rejectedMethods), checked)
	w.t.Log(text)
	require.NoError(w.t, apptest.AppendReport(text))
}

// requests returns the number of the client's requests.
func requests(lines []conform.Line) (n int) {
	for _, line := range lines {
		if m := (apptest.Message{}); !line.FromServer && json.Unmarshal(line.Message, &m) == nil && m.Method != "" &&
			m.ID != nil {
			n++
		}
	}
	return n
}

// installed returns the path of a file that npm installed.
func installed(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("REFERENCE_CLIENTS")
	require.NotEmpty(t, folder, "set REFERENCE_CLIENTS to the folder in which npm has installed the clients")
	path := filepath.Join(folder, "node_modules", name)
	require.FileExists(t, path)
	return path
}

// rejected adds the methods of rejected requests to a set.
func rejected(lines []conform.Line, methods map[string]bool) {
	methodOf := map[string]string{}
	for _, line := range lines {
		var m apptest.Message
		if json.Unmarshal(line.Message, &m) != nil {
			continue
		}
		switch {
		case !line.FromServer && m.Method != "":
			methodOf[string(m.ID)] = m.Method
		case line.FromServer && m.Error != nil:
			methods[methodOf[string(m.ID)]] = true
		}
	}
}
