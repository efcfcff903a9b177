package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestBinaryReadsAtTheSameTime: calls of one answer that only read run together, whichever tool they use.
// Their outputs are in the order of the calls, for the model and in the rollout.
func TestBinaryReadsAtTheSameTime(t *testing.T) {
	t.Parallel()
	c, o := startObedient(t)
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	require.NoError(t, syscall.Mkfifo(first, 0o600))
	require.NoError(t, syscall.Mkfifo(second, 0o600))
	feed := func(name string) {
		t.Helper()
		require.NoError(t, os.WriteFile(name, []byte("from "+filepath.Base(name)+"\n"), 0o600))
	}
	id := c.startThread(object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	done := 0
	for name, acts := range map[string][]act{
		"shell":        append(runsShell("cat first"), runsShell("cat second")...),
		"exec_command": append(runsExec("cat first", nil), runsExec("cat second", nil)...),
	} {
		before := len(o.asked())
		c.beginTurn(id, does(acts))
		for range acts {
			c.until(func(m message) bool {
				return m.Method == "item/started" && gjson.GetBytes(m.Params, "item.type").Str == "commandExecution"
			})
		}
		feed(second)
		require.Equal(t, "from second\n", c.untilCommand().AggregatedOutput, name)
		require.Equal(t, done, strings.Count(toolOutputs(c, id), "from second"), "%s: the output waits for that of the first call", name)
		feed(first)
		require.Equal(t, "from first\n", c.untilCommand().AggregatedOutput, name)
		require.Equal(t, "completed", c.awaitTurn().Status)
		done++
		body := o.asked()[before+1].Body
		require.Less(t, strings.Index(body, "from first"), strings.Index(body, "from second"), name)
		require.Contains(t, body, `"parallel_tool_calls":true`)
	}
	written := toolOutputs(c, id)
	require.Equal(t, 2, strings.Count(written, "from first"))
	require.Less(t, strings.LastIndex(written, "from first"), strings.LastIndex(written, "from second"))

	image := filepath.Join(dir, "i.png")
	require.NoError(t, os.WriteFile(image, []byte(aPNG), 0o600))
	c.beginTurn(id, does(append(runsShell("cat first"), call("view_image", object{"path": image})...)))
	require.Equal(t, image, untilItem[struct{ Path string }](c, "imageView").Path)
	feed(first)
	require.Equal(t, "completed", c.awaitTurn().Status)
	c.close()
}

// toolOutputs are the lines of a thread's rollout with what the model was given by its tools.
func toolOutputs(c *client, id string) string {
	c.t.Helper()
	path := gjson.GetBytes(c.call("thread/read", object{"threadId": id}), "thread.path").Str
	text, err := os.ReadFile(path)
	require.NoError(c.t, err)
	var outputs strings.Builder
	for line := range strings.Lines(string(text)) {
		if gjson.Get(line, "payload.type").Str == "function_call_output" {
			outputs.WriteString(line)
		}
	}
	return outputs.String()
}
