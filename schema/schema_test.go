package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/schema"
	"appserver/schema/conform"
)

const bundle = "appserver.schemas.json"

// made returns the JSON Schema files that the program makes.
func made(t *testing.T) map[string]string {
	t.Helper()
	files, err := schema.JSONFiles()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func TestEverySchemaCompiles(t *testing.T) {
	for path, content := range made(t) {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(content))
		require.NoError(t, err, path)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource(path, document))
		_, err = compiler.Compile(path)
		require.NoError(t, err, path)
	}
}

func TestBundleDefinesEveryMessage(t *testing.T) {
	files := made(t)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(files[bundle]))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("mem:///bundle.json", document))
	delete(files, bundle)
	for file := range files {
		_, err := compiler.Compile("mem:///bundle.json#/definitions/" + strings.TrimSuffix(file, ".json"))
		require.NoError(t, err)
	}
}

func TestEveryMessageHasAFile(t *testing.T) {
	s := load(t)
	for _, m := range protocol.Methods() {
		require.True(t, s.Has(m.Params.Name()), m.Name)
		require.True(t, s.Has(conform.ResultName(m)), m.Name)
	}
	for _, n := range protocol.Notifications() {
		require.True(t, s.Has(n.Params.Name()), n.Method)
	}
	for _, r := range protocol.ServerRequests() {
		require.True(t, s.Has(r.Params.Name()), r.Name)
		require.True(t, s.Has(r.Result.Name()), r.Name)
	}
}

func load(t *testing.T) *conform.Schemas {
	t.Helper()
	s, err := conform.Own()
	require.NoError(t, err)
	return s
}

func TestMessagesThatFit(t *testing.T) {
	s := load(t)
	for name, messages := range map[string][]string{
		"ClientRequest": {
			`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"probe","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":"a","method":"thread/start"}`,
			`{"id":2,"method":"thread/list","params":null}`,
			`{"id":3,"method":"thread/list","params":{"cwd":["/a","/b"],"limit":null}}`,
			`{"id":4,"method":"turn/start","params":{"threadId":"t","input":[{"type":"text","text":"hi"}],
				"sandboxPolicy":{"type":"workspaceWrite"},
				"approvalPolicy":{"granular":{"sandbox_approval":true,"rules":true,"mcp_elicitations":false}}}}`,
		},
		"ServerNotification": {
			`{"jsonrpc":"2.0","method":"thread/status/changed","params":{"threadId":"t","status":{"type":"active","activeFlags":["waitingOnApproval"]}},"emittedAtMs":1}`,
			`{"jsonrpc":"2.0","method":"item/started","params":{"threadId":"t","turnId":"u","startedAtMs":1,"item":{"type":"sleep","id":"i","durationMs":3}},"emittedAtMs":1}`,
		},
		"ErrorResponse": {
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON","data":{"kind":"parseError"}}}`,
		},
	} {
		for _, message := range messages {
			require.NoError(t, s.Validate(name, []byte(message)), message)
		}
	}
}

func TestMessagesThatDoNotFit(t *testing.T) {
	s := load(t)
	for name, messages := range map[string][]string{
		"ClientRequest": {
			`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"probe"}}}`,
			`{"id":1,"method":"initialize"}`,
			`{"id":1,"method":"thread/begin","params":{}}`,
			`{"id":1.5,"method":"thread/start","params":{}}`,
			`{"id":3,"method":"thread/list","params":{"cwd":[1]}}`,
			`{"id":4,"method":"turn/start","params":{"threadId":"t","input":[{"type":"film","url":"x"}]}}`,
			`{"id":4,"method":"turn/start","params":{"threadId":"t","input":[],"approvalPolicy":"sometimes"}}`,
		},
		"ServerNotification": {
			`{"jsonrpc":"2.0","method":"thread/closed","params":{}}`,
			`{"method":"thread/closed","params":{"threadId":"t"}}`,
			`{"jsonrpc":"2.0","method":"item/started","params":{"threadId":"t","turnId":"u","startedAtMs":1,"item":{"type":"plan","id":"i"}}}`,
		},
		"TurnPlanUpdatedNotification": {
			`{"threadId":"t","turnId":"u","explanation":null,"plan":null}`,
			`{"threadId":"t","turnId":"u","explanation":null,"plan":[{"step":"s","status":"done"}]}`,
		},
	} {
		for _, message := range messages {
			require.Error(t, s.Validate(name, []byte(message)), message)
		}
	}
}

func TestWriteJSON(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "schemas")
	require.NoError(t, schema.WriteJSON(dir))
	requireWritten(t, dir, made(t))
}

func TestWriteTS(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, schema.WriteTS(dir))
	want, err := os.ReadFile("ts/index.ts")
	require.NoError(t, err)
	requireWritten(t, dir, map[string]string{"index.ts": string(want)})
}

func requireWritten(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		got[entry.Name()] = string(text)
	}
	require.Equal(t, want, got)
}

func TestWritingAgainReplacesOwnFilesOnly(t *testing.T) {
	dir := t.TempDir()
	own, other := filepath.Join(dir, "index.ts"), filepath.Join(dir, "mine.ts")
	require.NoError(t, os.WriteFile(own, []byte("old"), 0o644))
	require.NoError(t, os.WriteFile(other, []byte("mine"), 0o644))

	require.NoError(t, schema.WriteTS(dir))

	content, err := os.ReadFile(own)
	require.NoError(t, err)
	require.Contains(t, string(content), "export interface Methods")
	content, err = os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "mine", string(content))
}

func TestWritingNeedsADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("keep"), 0o644))
	require.ErrorContains(t, schema.WriteJSON(file), file)
	require.ErrorContains(t, schema.WriteTS(""), "no directory")
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "keep", string(content))
}

func TestWritingOverADirectory(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "index.ts"), 0o755))
	require.ErrorContains(t, schema.WriteTS(dir), "index.ts")
}
