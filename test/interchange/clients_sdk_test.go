//go:build reference

package interchange

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// sdkQuestions is a script with an answer, a command outside of the sandbox, and a failure.
const sdkQuestions = `{"steps":[{"match":"folder","deltas":["Two ","files."]},
	{"match":"fail","error":{"status":400,"message":"no such model here"}},`

// unavailable skips a test because a client cannot be installed, and reports it.
func unavailable(t *testing.T, client, cause string) {
	t.Helper()
	require.NoError(t, apptest.AppendReport(client+": not run, because "+cause))
	t.Skip(cause)
}

// asks runs a program of docs/clients.md, whose last argument is a question. It requires an answer, the end of a
// turn with an approval, and a failure.
func (w *workshop) asks(program ...string) {
	w.t.Helper()
	for question, want := range map[string]string{"what is in the folder?": "Two files.\n", "touch it": "Touched.\n"} {
		answer, err := w.run(program[0], append(program[1:], question)...)
		require.NoError(w.t, err)
		require.Equal(w.t, want, answer)
	}
	_, err := w.run(program[0], append(program[1:], "fail")...)
	var exit *exec.ExitError
	require.ErrorAs(w.t, err, &exit, "a failed turn is an error")
}

// TestReferenceClientGoSDK builds the Go program of docs/clients.md in a module of its own, and runs it.
func TestReferenceClientGoSDK(t *testing.T) {
	const client = "codex-sdk-go"
	w := scriptedWorkshop(t, sdkQuestions+outsideStep("touch it", "touched")+`,{"match":"touch it","text":"Touched."}]}`)
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS("testdata/gosdk")))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(w.recipe("script: ask.go")), 0o600))
	if out, err := exec.Command("go", "-C", folder, "mod", "download").CombinedOutput(); err != nil {
		require.NotContains(t, string(out), "mismatch")
		unavailable(t, client, "the Go proxy does not have it")
	}
	program := filepath.Join(folder, "ask")
	out, err := exec.Command("go", "-C", folder, "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	w.asks(program)
	require.FileExists(t, filepath.Join(w.project, "touched"), "the program accepts all approval requests")
	w.conforms(client)
}

// TestReferenceClientPythonSDK runs the Python program of docs/clients.md.
func TestReferenceClientPythonSDK(t *testing.T) {
	const client = "codex-app-server-sdk"
	if exec.Command("python3", "-c", "import codex_app_server_sdk").Run() != nil {
		unavailable(t, client, "python3 does not have it: pip install "+client)
	}
	w := scriptedWorkshop(t, sdkQuestions+outsideStep("touch it", "touched")+`,{"match":"touch it","text":"Touched."}]}`)
	program := filepath.Join(t.TempDir(), "ask.py")
	require.NoError(t, os.WriteFile(program, []byte(w.recipe("script: ask.py")), 0o600))
	w.asks("python3", program)
	require.NoFileExists(t, filepath.Join(w.project, "touched"), "without a handler, the SDK declines")
	w.conforms(client)
}
