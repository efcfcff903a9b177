package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// calls answers with a call of a tool.
func calls(id, tool string, arguments object) func(w io.Writer) {
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // of strings and numbers
	}
	call := object{"index": 0, "id": id, "type": "function", "function": object{"name": tool, "arguments": string(text)}}
	return func(w io.Writer) {
		fmt.Fprint(w, streamed(object{"role": "assistant", "tool_calls": []object{call}}, nil), streamed(object{}, "tool_calls"), "data: [DONE]\n\n")
	}
}

const aPNG, asURL = "\x89PNG\r\n\x1a\n", "data:image/png;base64,iVBORw0KGgo="

// TestBinaryViewsImages has the model look at an image: the next request has it behind the
// output, that of a restarted server, too.
func TestBinaryViewsImages(t *testing.T) { onBothWires(t, binaryViewsImages) }

func binaryViewsImages(t *testing.T, on wireAPI) {
	t.Parallel()
	p := on.provider(t, calls("a", "view_image", object{"path": "a.png"}), says("seen"), says("still there"))
	home, project := p.home(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "a.png"), []byte(aPNG), 0o600))
	c := startServer(t, home)
	c.initialize()
	id := c.startThread(object{"cwd": project})
	c.turn(id, "look")
	c.close()
	c = startServer(t, home)
	c.initialize()
	item := c.threadOf("thread/resume", object{"threadId": id}).Turns[0].Items[1]
	require.Equal(t, "imageView", gjson.GetBytes(item, "type").Str)
	c.turn(id, "again")
	c.close()
	for _, request := range p.asked()[1:] {
		messages := gjson.Parse("[" + strings.Join(raws(request.Messages), ",") + "]")
		if on == chatWire { // the other takes images in outputs
			require.Equal(t, "(the image is in the next message)", messages.Get(`#(role=="tool").content`).Str)
		}
		require.Equal(t, asURL, messages.Get(`#(content.0.type=="image_url").content.0.image_url.url`).Str, request.Body)
	}
}

// TestBinaryRefusesImages that are none, that do not end, or that the sandbox policy hides.
func TestBinaryRefusesImages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo.png"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "large.png"), []byte(aPNG), 0o600))
	require.NoError(t, os.Truncate(filepath.Join(dir, "large.png"), 1<<30))
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "secret.png"), []byte(aPNG), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(home, "secret.png"), filepath.Join(dir, "link.png")))
	cases := []struct{ path, why string }{
		{"none.png", "no such file"}, {"fifo.png", "not a regular file"}, {".", "not a regular file"}, {"/dev/zero", "not a regular file"},
		{"large.png", "larger than 20 MiB"}, {"/etc/passwd", "not an image"}, {"link.png", "which the sandbox policy closes"},
	}
	answers := []func(io.Writer){}
	for _, c := range cases {
		answers = append(answers, calls("call "+c.path, "view_image", object{"path": c.path}))
	}
	p := newProvider(t, append(answers, says("I cannot"))...)
	p.configure(t, home)
	c := startServer(t, home)
	c.initialize()
	c.turn(c.startThread(object{"cwd": dir, "sandbox": "read-only"}), "look")
	c.close()
	for i, c := range cases {
		require.Contains(t, p.asked()[i+1].last(t).Content, c.why, c.path)
	}
}
