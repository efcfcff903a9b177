package workbench

import (
	"os"
	"strings"
	"testing"

	"appserver/test/apptest"
	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// TestPageOutlastsItsServer kills the server in the middle of a turn. The page keeps what it shows, and
// reports the lost connection. After a restart on the same port it explains how to get a new session, because
// this browser keeps no keys; the new page shows the interrupted turn and the draft.
func TestPageOutlastsItsServer(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	address := apptest.FreeAddress(t)
	free := []string{"--listen", address, "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access"}
	s := serve(t, home, free...)
	w := s.open(t)
	w.start(folder)
	w.send("run: echo started; sleep 600")
	w.unfold("echo started")
	w.seeText("pre.output", "started")
	w.write("a draft")
	s.stop()
	w.seeText(".banner", "The connection to the server is lost")
	w.seeText("pre.output", "started")
	require.True(t, eval[bool](w, `document.querySelector(".composer button[type=submit]").disabled`))

	s = serve(t, home, free...)
	w.seeText("main", "This page has no session")
	w.seeText("main", "appserver web --ticket")
	w.follow(s.file)
	w.see(".status-open")
	w.show("run: echo started")
	w.seeText(".turn-end", "Interrupted")
	require.Equal(t, "a draft", eval[string](w, `document.querySelector(".composer textarea").value`))
}

// TestFileWorksOnce rejects a second use of the file that opens the page.
func TestFileWorksOnce(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir())
	text, err := os.ReadFile(s.file)
	require.NoError(t, err)
	w := s.open(t)
	copied := s.file + ".copy.html"
	require.NoError(t, os.WriteFile(copied, text, 0o600))
	s.file = copied
	second := s.openFile(t)
	second.seeText("main", "This page has no session")
	require.NotContains(t, eval[string](second, "location.href"), "ticket=")
	require.False(t, strings.Contains(eval[string](w, "location.href"), "ticket="))
}
