package workbench

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestPagesCommandsAndClientsEditTogether edits one thread of a client on pipes from two pages, from the
// command line and from the client. All of them see each edit and who made it; a plan that no longer fits
// says what it lost.
func TestPagesCommandsAndClientsEditTogether(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	needChromium(t)
	home := t.TempDir()
	c := apptest.StartOffline(t, home, "--web", "127.0.0.1:0")
	thread := c.StartTrusted()
	for _, text := range []string{"first", "second", "third", "fourth"} {
		c.Turn(thread, text)
	}
	s := &server{home: home}
	one, two := s.openTab(t), s.openTab(t)
	one.show("first")
	two.show("first")
	one.seeText(".context-item", "fourth")
	two.seeText(".context-item", "fourth")
	one.check("first")
	one.check("second")
	one.seeText(".footer .primary", "Apply 2 changes")

	apptest.ContextCommand(t, home, 0, "delete", "--yes", thread, itemWith(c, thread, "first"))
	awaitRevision(c, 1)
	one.seeText(".banner", "The plan lost 1 item")
	one.seeText(".footer .primary", "Apply 1 change")

	two.click(".footer .mode input")
	two.check("third")
	awaitRevision(c, 2)
	fourth := itemWith(c, thread, "fourth")
	c.Call("context/pin", apptest.Object{"threadId": thread, "ids": []string{fourth}, "pinned": true})
	awaitRevision(c, 3)
	one.seeText(".context-item .badge", "pinned")
	one.clickText("Apply 1 change")
	awaitRevision(c, 4)

	for _, w := range []*workbench{one, two} {
		w.press("2", alt)
		w.await(`document.querySelectorAll(".history .age").length === 4`)
		w.await(`[...document.querySelectorAll(".history .age")].map((e) => e.textContent.split(" · ")[0]).join() ===
			"workbench,test,workbench,appserver"`)
		w.requireNoProblems()
	}
}

// openTab opens the page of a running server by the command line.
func (s *server) openTab(t *testing.T) *workbench {
	t.Helper()
	out, err := apptest.OfflineCommand(t, s.home, "web", "--no-open").Output()
	require.NoError(t, err)
	s.url, s.file = readAddress(t, bytes.NewReader(out))
	return s.open(t)
}

// itemWith returns the id of the context item whose preview is a text.
func itemWith(c *apptest.Client, thread, preview string) string {
	for _, item := range c.ContextList(thread).Items {
		if item.Preview == preview {
			return item.ID
		}
	}
	require.Fail(c.T, "no item", preview)
	return ""
}

// awaitRevision waits until the client is notified of a revision of the context.
func awaitRevision(c *apptest.Client, revision int64) {
	c.T.Helper()
	c.Until(func(m apptest.Message) bool {
		return m.Method == "ContextItems" && gjson.GetBytes(m.Params, "revision").Int() == revision
	})
}
