package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
	"appserver/test/sample"
)

func in64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// TestFilesServeAnEditor lists, writes, watches, copies and removes files.
func TestFilesServeAnEditor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	c := apptest.StartOffline(t, t.TempDir())
	c.Call("fs/createDirectory", apptest.Object{"path": at("src/deep")})
	require.JSONEq(t, `{"path":"`+at("src")+`"}`,
		string(c.Call("fs/watch", apptest.Object{"watchId": "src", "path": at("src")})))
	c.Call("fs/writeFile", apptest.Object{"path": at("src/a.txt"), "dataBase64": in64("hello")})
	require.JSONEq(t, `{"watchId":"src","changedPaths":["`+at("src/a.txt")+`"]}`, string(c.AwaitNotification("fs/changed").Params))
	require.JSONEq(t, `{"dataBase64":"aGVsbG8="}`, string(c.Call("fs/readFile", apptest.Object{"path": at("src/a.txt")})))
	require.JSONEq(t, `{"entries":[{"fileName":"a.txt","isDirectory":false,"isFile":true},{"fileName":"deep","isDirectory":true,"isFile":false}]}`,
		string(c.Call("fs/readDirectory", apptest.Object{"path": at("src")})))
	c.Call("fs/copy", apptest.Object{"sourcePath": at("src"), "destinationPath": at("dst"), "recursive": true})
	require.FileExists(t, at("dst/a.txt"))
	c.Call("fs/unwatch", apptest.Object{"watchId": "src"})
	c.Call("fs/remove", apptest.Object{"path": at("src")})
	require.Equal(t, "fileNotFound", c.CallRejected("fs/getMetadata", apptest.Object{"path": at("src")}).Data.Kind)
	require.True(t, gjson.GetBytes(c.Call("fs/getMetadata", apptest.Object{"path": at("dst")}), "isDirectory").Bool())
	c.Close()
	for _, m := range c.Seen {
		require.NotContains(t, string(m.Params), "dst/a.txt", "this path is not watched")
	}
}

// TestFilesAnswerPipelinedRequests closes the input after the requests. All are answered in order,
// as scripts need it.
func TestFilesAnswerPipelinedRequests(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "file")
	var ids []string
	for i := range 20 {
		c.SendRequest("fs/writeFile", apptest.Object{"path": path, "dataBase64": in64(fmt.Sprint(i))})
		ids = append(ids, c.SendRequest("fs/readFile", apptest.Object{"path": path}))
	}
	last := c.SendRequest("command/exec",
		apptest.Object{"command": []string{"echo", "run"}, "sandboxPolicy": apptest.Object{"type": "dangerFullAccess"}})
	c.Close()
	answers := map[string]apptest.Message{}
	for _, m := range c.Seen {
		if m.Method == "" {
			answers[string(m.ID)] = m
		}
	}
	for i, id := range ids {
		require.JSONEq(t, `{"dataBase64":"`+in64(fmt.Sprint(i))+`"}`, string(answers[id].Result))
	}
	require.Equal(t, "run\n", gjson.GetBytes(answers[last].Result, "stdout").Str)
}

// TestFilesDoNotBlock reads pipes without a writer, devices and cyclic links.
func TestFilesDoNotBlock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, posix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	require.NoError(t, os.Symlink("round", filepath.Join(dir, "round")))
	c := apptest.StartOffline(t, t.TempDir())
	for _, path := range []string{filepath.Join(dir, "fifo"), filepath.Join(dir, "round"), "/dev/zero", "/dev/tty",
		"/dev/random"} {
		require.NotEmpty(t, c.CallRejected("fs/readFile", apptest.Object{"path": path}).Data.Kind, path)
		require.NotEmpty(t, c.CallRejected("fs/writeFile", apptest.Object{"path": path, "dataBase64": "aGk="}).Data.Kind,
			path)
		require.NotEmpty(t, c.CallRejected("fs/copy",
			apptest.Object{"sourcePath": path, "destinationPath": path + "/in/itself"}).Data.Kind, path)
	}
	c.Close()
}

// TestFilesLimitSize reads and writes a file of the maximum size, and rejects one more byte. Another
// request is answered meanwhile or afterwards.
func TestFilesLimitSize(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	require.NoError(t, os.WriteFile(large, []byte(strings.Repeat("0123456789abcdef", 2<<20)), 0o600))
	c := apptest.StartOffline(t, t.TempDir())
	id := c.SendRequest("fs/readFile", apptest.Object{"path": large})
	responses := c.UntilResponses(id, c.SendRequest("thread/loaded/list", apptest.Object{}))
	data := gjson.GetBytes(responses[id].Result, "dataBase64").Str
	require.Len(t, data, (32<<20+2)/3*4)
	c.Call("fs/writeFile", apptest.Object{"path": filepath.Join(dir, "again"), "dataBase64": data})
	info, err := os.Stat(filepath.Join(dir, "again"))
	require.NoError(t, err)
	require.EqualValues(t, 32<<20, info.Size())
	require.NoError(t, os.Truncate(large, 48<<20+1))
	require.Equal(t, "fileTooLarge", c.CallRejected("fs/readFile", apptest.Object{"path": large}).Data.Kind)
	c.Close()
}

// TestFileSearchSkipsIgnored searches a project with ignored files.
func TestFileSearchSkipsIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".git/HEAD", "main.go", "cmd/main_test.go", "node_modules/main/main.js",
		"build/main.o"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("node_modules\n/build/\n"), 0o600))
	c := apptest.StartOffline(t, t.TempDir())
	found := func(raw []byte) (paths []string) {
		for _, path := range gjson.GetBytes(raw, "files.#.path").Array() {
			paths = append(paths, path.Str)
		}
		return paths
	}
	require.Equal(t, []string{"cmd/main_test.go", "main.go"},
		found(c.Call("fuzzyFileSearch", apptest.Object{"query": "main", "roots": []string{dir}, "cancellationToken": nil})))
	require.Empty(t, found(c.Call("fuzzyFileSearch", apptest.Object{"query": "HEAD", "roots": []string{dir}})))

	c.Call("fuzzyFileSearch/sessionStart", apptest.Object{"sessionId": "s", "roots": []string{dir}})
	for _, query := range []string{"m", "mt"} {
		c.Call("fuzzyFileSearch/sessionUpdate", apptest.Object{"sessionId": "s", "query": query})
		c.UntilMethod("fuzzyFileSearch/sessionCompleted")
	}
	updates := slices.DeleteFunc(slices.Clone(c.Seen),
		func(m apptest.Message) bool { return m.Method != "fuzzyFileSearch/sessionUpdated" })
	last := updates[len(updates)-1]
	require.Equal(t, "mt", gjson.GetBytes(last.Params, "query").Str)
	require.Equal(t, []string{"cmd/main_test.go"}, found(last.Params))
	c.Close()
}
