package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

// callAnswer returns an answer that calls a tool.
func callAnswer(id, tool string, arguments apptest.Object) func(w io.Writer) {
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // impossible: strings and numbers
	}
	call := apptest.Object{"index": 0, "id": id, "type": "function",
		"function": apptest.Object{"name": tool, "arguments": string(text)}}
	return func(w io.Writer) {
		fmt.Fprint(w, apptest.ChatChunk(apptest.Object{"role": "assistant", "tool_calls": []apptest.Object{call}}, nil),
			apptest.ChatChunk(apptest.Object{}, "tool_calls"), "data: [DONE]\n\n")
	}
}

// TestViewedImageFollowsOutput lets the model view an image. The next request has it after the
// output, also after a restart.
func TestViewedImageFollowsOutput(t *testing.T) { apptest.OnBothWires(t, testViewedImageFollowsOutput) }

func testViewedImageFollowsOutput(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, callAnswer("a", "view_image", apptest.Object{"path": "a.png"}), apptest.TextAnswer("seen"),
		apptest.TextAnswer("still there"))
	home, project := p.Home(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "a.png"), []byte(apptest.TinyGIF), 0o600))
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": project})
	c.Turn(id, "look")
	c.Close()
	c = apptest.StartServer(t, home)
	c.Initialize()
	item := c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns[0].Items[1]
	require.Equal(t, "imageView", gjson.GetBytes(item, "type").Str)
	c.Turn(id, "again")
	c.Close()
	for _, request := range p.Requests()[1:] {
		messages := gjson.Parse("[" + strings.Join(apptest.RawStrings(request.Messages), ",") + "]")
		if on == apptest.ChatWire { // the Responses API has images in outputs
			require.Equal(t, "(the image is in the next message)", messages.Get(`#(role=="tool").content`).Str)
		}
		require.Equal(t, apptest.TinyGIFURL, messages.Get(`#(content.0.type=="image_url").content.0.image_url.url`).Str,
			request.Body)
	}
}

// TestInvalidImagesAreRejected views files that are no images, that do not end, or that the sandbox
// policy hides.
func TestInvalidImagesAreRejected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, posix.Mkfifo(filepath.Join(dir, "fifo.png"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "large.png"), []byte(apptest.TinyGIF), 0o600))
	require.NoError(t, os.Truncate(filepath.Join(dir, "large.png"), 1<<30))
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "secret.png"), []byte(apptest.TinyGIF), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(home, "secret.png"), filepath.Join(dir, "link.png")))
	cases := []struct{ path, why string }{
		{"none.png", "no such file"}, {"fifo.png", "not a regular file"}, {".", "not a regular file"},
		{"/dev/zero", "not a regular file"},
		{"large.png", "larger than 20 MiB"}, {"/etc/passwd", "not an image"}, {"link.png", "which the sandbox policy closes"},
	}
	answers := []func(io.Writer){}
	for _, c := range cases {
		answers = append(answers, callAnswer("call "+c.path, "view_image", apptest.Object{"path": c.path}))
	}
	p := apptest.NewProvider(t, append(answers, apptest.TextAnswer("I cannot"))...)
	p.Configure(t, home)
	c := apptest.StartServer(t, home)
	c.Initialize()
	c.Turn(c.StartThread(apptest.Object{"cwd": dir, "sandbox": "read-only"}), "look")
	c.Close()
	for i, c := range cases {
		require.Contains(t, p.Requests()[i+1].LastMessage(t).Content, c.why, c.path)
	}
}
