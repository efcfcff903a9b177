package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

// TestReadOnlyCallsRunInParallel runs the read-only calls of one answer at the same time, for any
// tool. Outputs are in the order of the calls, for the model and in the rollout.
func TestReadOnlyCallsRunInParallel(t *testing.T) {
	t.Parallel()
	c, o := apptest.StartScripted(t)
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	require.NoError(t, posix.Mkfifo(first, 0o600))
	require.NoError(t, posix.Mkfifo(second, 0o600))
	feed := func(name string) {
		t.Helper()
		require.NoError(t, os.WriteFile(name, []byte("from "+filepath.Base(name)+"\n"), 0o600))
	}
	id := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	done := 0
	for name, acts := range map[string][]apptest.ToolCall{
		"shell":        append(apptest.ShellCall("cat first"), apptest.ShellCall("cat second")...),
		"exec_command": append(apptest.ExecCall("cat first", nil), apptest.ExecCall("cat second", nil)...),
	} {
		before := len(o.Requests())
		c.BeginTurn(id, apptest.ScriptText(acts))
		for range acts {
			c.Until(func(m apptest.Message) bool {
				return m.Method == "item/started" && gjson.GetBytes(m.Params, "item.type").Str == "commandExecution"
			})
		}
		feed(second)
		require.Equal(t, "from second\n", c.UntilCommand().AggregatedOutput, name)
		require.Equal(t, done, strings.Count(toolOutputs(c, id), "from second"),
			"%s: the output waits for that of the first call", name)
		feed(first)
		require.Equal(t, "from first\n", c.UntilCommand().AggregatedOutput, name)
		require.Equal(t, "completed", c.AwaitTurn().Status)
		done++
		body := o.Requests()[before+1].Body
		require.Less(t, strings.Index(body, "from first"), strings.Index(body, "from second"), name)
		require.Contains(t, body, `"parallel_tool_calls":true`)
	}
	written := toolOutputs(c, id)
	require.Equal(t, 2, strings.Count(written, "from first"))
	require.Less(t, strings.LastIndex(written, "from first"), strings.LastIndex(written, "from second"))

	image := filepath.Join(dir, "i.png")
	require.NoError(t, os.WriteFile(image, []byte(apptest.TinyGIF), 0o600))
	c.BeginTurn(id, apptest.ScriptText(append(apptest.ShellCall("cat first"),
		apptest.OneCall("view_image", apptest.Object{"path": image})...)))
	require.Equal(t, image, apptest.UntilItem[struct{ Path string }](c, "imageView").Path)
	feed(first)
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Close()
}

// toolOutputs returns the lines of a thread's rollout with tool outputs.
func toolOutputs(c *apptest.Client, id string) string {
	c.T.Helper()
	var outputs strings.Builder
	for line := range strings.Lines(c.StoredLines(id)) {
		if gjson.Get(line, "payload.type").Str == "function_call_output" {
			outputs.WriteString(line)
		}
	}
	return outputs.String()
}
