package workbench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// halfAnswer returns an answer in two halves. The second one follows when proceed is closed.
func halfAnswer(first, second string, proceed <-chan struct{}) func(w io.Writer) {
	return func(w io.Writer) {
		fmt.Fprint(w, apptest.ChatChunk(object{"role": "assistant", "content": first}, nil))
		w.(http.Flusher).Flush()
		<-proceed
		fmt.Fprint(w, apptest.ChatChunk(object{"content": second}, nil), apptest.ChatChunk(object{}, "stop"),
			"data: [DONE]\n\n")
	}
}

// servedBy starts a server whose model is a provider, with commands that need no approval.
func servedBy(t *testing.T, p *apptest.Provider) *server {
	return serve(t, p.Home(t), "-c", `model="test"`, "-c", `model_provider="test"`, "-c", "approval_policy=never", "-c",
		"sandbox_mode=danger-full-access")
}

// TestContextFollowsATurn shows the items of the first turn of a thread, and their tokens in the gauge and in the map,
// while the turn runs: after a command, and before the answer.
func TestContextFollowsATurn(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	p := apptest.NewProvider(t, apptest.ShellAnswer("call_1", "seq 100"), halfAnswer("Half an ", "answer.", proceed))
	w := servedBy(t, p).open(t)
	w.start(t.TempDir())
	w.send("count for me")
	w.seeText(".message.agent", "Half an")
	w.seeText(".context-item", "count for me")
	w.await(`document.querySelectorAll(".context-item").length >= 4`) // environment, message, call and output
	w.see(".gauge")
	during := eval[string](w, `document.querySelector(".gauge").textContent`)
	w.clickText("Map")
	w.see(".map canvas, .map svg, .map-box")
	close(proceed)
	w.seeText(".message.agent", "Half an answer.")
	w.await(fmt.Sprintf(`document.querySelector(".gauge").textContent !== %q`, during)) // the answer counts now
	w.requireNoProblems()
}

// TestReloadKeepsAHalfAnswer reloads the page while an answer streams. The first half is there, and the second follows.
func TestReloadKeepsAHalfAnswer(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	p := apptest.NewProvider(t, halfAnswer("First half, ", "second half.", proceed))
	w := servedBy(t, p).open(t)
	w.start(t.TempDir())
	w.send("go")
	w.seeText(".message.agent", "First half")
	w.reload()
	w.seeText(".message.agent", "First half")
	close(proceed)
	w.seeText(".message.agent", "First half, second half.")
	require.Equal(t, 1, w.count(".message.agent"))
	w.requireNoProblems()
}

// TestReloadKeepsTheOutputOfARunningCommand reloads the page while commands of the model and of the user run. Their
// outputs so far are there, and the rest follows.
func TestReloadKeepsTheOutputOfARunningCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	until := func(file string) string {
		return fmt.Sprintf("echo one; until [ -e %s ]; do sleep 0.05; done; echo two", file)
	}
	p := apptest.NewProvider(t, apptest.ShellAnswer("call_1", until("model")), apptest.TextAnswer("Done."))
	w := servedBy(t, p).open(t)
	w.start(folder)
	for _, c := range []struct{ text, file string }{{"go", "model"}, {"!" + until("user"), "user"}} {
		w.send(c.text)
		w.seeText("pre.output", "one")
		w.reload()
		w.seeText("pre.output", "one")
		require.NoError(t, os.WriteFile(filepath.Join(folder, c.file), nil, 0o600))
		w.await(`[...document.querySelectorAll("pre.output")].at(-1).textContent.trim() === "one\ntwo"`)
		w.see(".composer .send:not(:disabled), .composer textarea")
	}
	w.seeText(".message.agent", "Done.")
	w.requireNoProblems()
}
