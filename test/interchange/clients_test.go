//go:build reference

package interchange

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/schema/conform"
	"appserver/test/apptest"
)

// Programs that nobody here wrote use the server. Run with REFERENCE_CLIENTS naming a
// folder in which npm has installed what testdata/clients asks for, and with
// REFERENCE_SCHEMA:
//
//	npm ci --omit=optional && go test -tags reference -run TestReferenceClient ./test/interchange

// workshop is where a client finds the server, as codex, and where all that both say to
// each other is kept.
type workshop struct {
	t       *testing.T
	home    string
	project string
	records string
	bin     string
}

func newWorkshop(t *testing.T, config string) *workshop {
	t.Helper()
	w := &workshop{t: t, home: t.TempDir(), project: t.TempDir(), records: t.TempDir(), bin: t.TempDir()}
	recorder, err := apptest.Build("recorder", "./test/interchange/testdata/recorder")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(recorder, filepath.Join(w.bin, "codex")))
	apptest.WriteConfig(t, w.home, config)
	return w
}

// scriptedWorkshop is a workshop whose model says what a script of the offline provider has.
func scriptedWorkshop(t *testing.T, script string) *workshop {
	t.Helper()
	w := newWorkshop(t, "model = \"offline\"\nmodel_provider = \"offline\"\n[model_providers.offline]\nscript = \"script.json\"\n")
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "script.json"), []byte(script), 0o600))
	return w
}

// start runs a program of node, which speaks JSON-RPC line by line, as the server does.
func (w *workshop) start(program string, args ...string) *apptest.Client {
	w.t.Helper()
	server, err := apptest.Binary()
	require.NoError(w.t, err)
	cmd := apptest.ProcessCommand(w.t, w.home, "node", append([]string{program}, args...)...)
	cmd.Dir = w.project
	cmd.Env = append(cmd.Env, "PATH="+w.bin+":"+os.Getenv("PATH"), "CODEX_PATH="+filepath.Join(w.bin, "codex"),
		"RECORD_PROGRAM="+server, "RECORD_FOLDER="+w.records, "NO_BROWSER=1")
	c := apptest.Connect(w.t, cmd, nil)
	c.SendsVersion = true
	return c
}

// conforms holds what the server has said to the client against the reference's schema.
func (w *workshop) conforms(client string) {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.records, "*"))
	require.NoError(w.t, err)
	require.NotEmpty(w.t, paths, "the client has not started the server")
	asked, checked, no := 0, 0, map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(w.t, err)
		lines := conform.ParseTranscript(string(text))
		checked += conforms(w.t, referenceSchemas(w.t), lines)
		asked += requests(lines)
		refused(lines, no)
		if w.t.Failed() {
			w.t.Logf("%s", text)
		}
	}
	text := fmt.Sprintf("%s: %d processes, %d requests, refused %v, %d messages of the server checked", client, len(paths),
		asked, apptest.SortedKeys(no), checked)
	w.t.Log(text)
	require.NoError(w.t, apptest.AppendReport(text))
}

// requests counts what the client asked for.
func requests(lines []conform.Line) (n int) {
	for _, line := range lines {
		if m := (apptest.Message{}); !line.FromServer && json.Unmarshal(line.Message, &m) == nil && m.Method != "" &&
			m.ID != nil {
			n++
		}
	}
	return n
}

// installed is a file of what npm has installed.
func installed(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("REFERENCE_CLIENTS")
	require.NotEmpty(t, folder, "set REFERENCE_CLIENTS to the folder in which npm has installed the clients")
	path := filepath.Join(folder, "node_modules", name)
	require.FileExists(t, path)
	return path
}

// refused adds the methods that the server has refused to a set.
func refused(lines []conform.Line, methods map[string]bool) {
	asked := map[string]string{}
	for _, line := range lines {
		var m apptest.Message
		if json.Unmarshal(line.Message, &m) != nil {
			continue
		}
		switch {
		case !line.FromServer && m.Method != "":
			asked[string(m.ID)] = m.Method
		case line.FromServer && m.Error != nil:
			methods[asked[string(m.ID)]] = true
		}
	}
}
