package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/posix"
	"appserver/test/sample"
)

// TestContextEditorAppliesPlan toggles items, reads the price, applies the plan, undoes it, and leaves the
// terminal as it was.
func TestContextEditorAppliesPlan(t *testing.T) {
	t.Parallel()
	home, path := apptest.LegacyHome(t)
	p := startPane(t, home, 80, 24, nil, "context", "edit", apptest.LegacyID)
	p.await("list the files", "> [x]    environment", "? keys  q quit")
	p.press("Down", "Down", "Down", "Down", "Space", "Down", "p")
	p.await("[ ]*   tool output", "> [x]*P  agent", "Plan of 2 changes: ", "tokens leave the cache")
	p.press("a")
	p.await("exclude  1 item", "pin      1 item", "The plan becomes one edit.")
	p.press("Enter")
	p.await("Applied the plan to 2 items. u undoes it.", "No plan")
	out, _ := apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID)
	require.Contains(t, rowOf(t, out, "4 r8"), "4 r8 tool output N excluded")
	require.Contains(t, rowOf(t, out, "5 r10"), "5 r10 agent N pinned There")
	apptest.RequireBackup(t, path)

	p.press("u")
	p.await("Undone: apply of 2 items. U redoes it.", "[x]    tool output")
	p.press("U")
	p.await("Redone: apply of 2 items.", "[ ]    tool output")
	p.press("u")
	p.await("Undone: ")
	p.press("Escape", "?") // the terminal sends them as one key
	p.await("The list", "sort: by turn, by price")
	p.press("q")
	p.await("item 6 of 6")
	p.press("q")
	screen := p.awaitEnd(0)
	require.NotContains(t, screen, "quit", "the screen is restored")
	out, _ = apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID)
	require.NotContains(t, out, "excluded")
}

// TestContextEditorFindsInWholeTexts finds a text that no preview has, and excludes all matches.
func TestContextEditorFindsInWholeTexts(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	p := startPane(t, home, 80, 24, nil, "context", "edit", "--last")
	p.await("> [x]    environment")
	p.tmux("set-buffer", "ONE AFTER\nq")
	p.tmux("paste-buffer", "-p") // a paste is no key
	p.press("/")
	p.await("Find (text): _")
	p.tmux("set-buffer", "ONE AFTER")
	p.tmux("paste-buffer", "-p")
	p.write(" the other")
	p.await("Find (text): ONE AFTER the other_")
	p.press("Enter")
	p.await(">/[x]    tool output", "1 item, ")
	p.press("x")
	p.await(">/[ ]*   tool output", "The plan excludes 1 match.")
	p.press("q")
	p.await("Quit and discard the plan of 1 change?")
	p.press("y")
	p.awaitEnd(0)
	out, _ := apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID)
	require.NotContains(t, out, "excluded")
}

// TestContextEditorWorksOnOldTerminals fits into 60 columns, shows the same without colours, and follows
// the size of the terminal.
func TestContextEditorWorksOnOldTerminals(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	var shown []string
	terminals := []string{"TERM=vt100", "TERM=dumb", "NO_COLOR=1", "TERM=xterm-256color", "LC_ALL=de_DE.ISO-8859-1"}
	for i := 0; i < len(terminals); i += sample.Stride(3) {
		env := terminals[i]
		p := startPane(t, home, 60, 15, []string{env}, "context", "edit", apptest.LegacyID)
		p.await("> [x]    environment", "q quit")
		p.press("Down", "Down", "Down", "d")
		screen := p.await("> [D]*   tool call", "Plan of 1 change: 45 tokens fewer (")
		colours := regexp.MustCompile("\x1b\\[[0-9;]*3[0-7]m").MatchString(p.tmux("capture-pane", "-p", "-e"))
		require.Equal(t, env == "TERM=xterm-256color" || env[:2] == "LC", colours, env)
		if env[:2] != "LC" {
			shown = append(shown, screen)
		}
		p.tmux("resize-window", "-x", "50", "-y", "15")
		p.await("The terminal has 50 x 15.", "The editor needs 60 x 12.")
		p.tmux("resize-window", "-x", "100", "-y", "30")
		p.await("> [D]*   tool call    ls", "Plan of 1 change")
		p.press("C-c")
		p.await("Quit and discard")
		p.press("C-c")
		p.awaitEnd(0)
	}
	for _, screen := range shown {
		require.Equal(t, shown[0], screen)
	}
}

// TestContextEditorShowsHostileTextsEscaped opens texts with sequences that set titles, colours and
// positions. The terminal must receive none.
func TestContextEditorShowsHostileTextsEscaped(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	text := `\u001b]0;owned\u0007\u001b[2J\u001b[31mred \u009b5;5H \u202egnp.exe\u202c \u001bP+q544e\u001b\\ \r\tend 世界 👩‍💻 e\u0301\u0301`
	rollout := strings.ReplaceAll(apptest.LegacyRollout, "There is README.md.", text)
	rollout = strings.ReplaceAll(rollout, `"name":"shell"`, `"name":"sh\u001b]0;owned\u0007ell"`)
	apptest.PutRollout(t, home, apptest.LegacyID, rollout)
	p := startPane(t, home, 80, 24, nil, "context", "edit", apptest.LegacyID)
	p.await("> [x]    environment")
	p.press("End")
	p.await("> [x]    agent")
	p.press("Enter")
	p.await(`\x1b]0;owned\x07\x1b[2J\x1b[31mred`, `\x9b5;5H`, `\u202egnp.exe\u202c`, `\x1bP+q544e\x1b\`, "end 世界")
	p.press("Escape")
	p.await("> [x]    agent")
	p.press("Up", "Up", "Enter")
	p.await("tool call of sh", `\x1b]0;owned`)
	require.NotContains(t, p.tmux("display-message", "-p", "#{pane_title}"), "owned")
	require.NotContains(t, p.tmux("capture-pane", "-p", "-e"), "\x1b[31m")
	p.press("q")
	p.await("> [x]    tool call")
	p.press("q")
	p.awaitEnd(0)
}

// TestContextEditorOfLockedThread shows a thread that a server has open, and cannot change it. The plan stays
// until the server ends.
func TestContextEditorOfLockedThread(t *testing.T) {
	t.Parallel()
	home, id, _ := newStoredThread(t)
	c := apptest.StartOffline(t, home)
	c.CallThread("thread/resume", apptest.Object{"threadId": id})
	p := startPane(t, home, 80, 24, nil, "context", "edit", id)
	p.await("> [x]")
	p.press("End", "Space", "a")
	p.await("exclude  1 item", "The plan becomes one edit.")
	p.press("Enter")
	p.await("Nothing was changed: another process has the thread open.", "> [ ]*")
	c.Close()
	p.press("a")
	p.await("The plan becomes one edit.")
	p.press("Enter")
	p.await("Applied the plan to 1 item.")
	p.press("q")
	p.awaitEnd(0)
}

// TestContextEditorEditsThroughServer edits a thread that a server has open, also after the server
// was started again.
func TestContextEditorEditsThroughServer(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	start := func() (*apptest.Daemon, *apptest.Client) {
		d := apptest.LaunchDaemon(t, apptest.OfflineCommand(t, home, "--listen", "unix://"), home)
		return d, d.ConnectInitialized().Client
	}
	d, c := start()
	id := c.StartTrusted()
	c.Turn(id, "hello")
	p := startPane(t, home, 80, 24, nil, "context", "edit", id)
	p.await("> [x]")
	p.press("End", "Space", "a")
	p.await("exclude  1 item", "The plan becomes one edit.")
	p.press("Enter")
	p.await("Applied the plan to 1 item.")
	items := c.ContextList(id).Items
	require.False(t, items[len(items)-1].Included)

	d.Terminate()
	_, c = start()
	c.CallThread("thread/resume", apptest.Object{"threadId": id})
	p.press("u")
	p.await("Undone: apply of 1 item.")
	require.True(t, c.ContextList(id).Items[len(items)-1].Included)
	p.press("q")
	p.awaitEnd(0)
}

// TestContextEditorEndsBySignal restores the terminal, and reports the plan that is lost.
func TestContextEditorEndsBySignal(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	p := startPane(t, home, 80, 24, nil, "context", "edit", apptest.LegacyID)
	p.await("> [x]    environment")
	p.press("Space")
	p.await("Plan of 1 change")
	shell, err := strconv.Atoi(strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_pid}")))
	require.NoError(t, err)
	for _, pid := range apptest.WithDescendants(t, shell) {
		if pid != shell {
			require.NoError(t, posix.Kill(pid, syscall.SIGTERM))
		}
	}
	screen := p.awaitEnd(1)
	require.Contains(t, screen, "context edit: ended by signal: terminated: the plan is lost")
	require.NotContains(t, screen, "? keys")
}

// TestContextEditorNeedsTerminal names the commands that work without one.
func TestContextEditorNeedsTerminal(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	_, errs := apptest.ContextCommand(t, home, 2, "edit", apptest.LegacyID)
	require.Contains(t, errs, "context edit needs a terminal")
	require.Contains(t, errs, "context list, exclude, include")
	_, errs = apptest.ContextCommand(t, home, 2, "edit", apptest.LegacyID, "--json")
	require.Contains(t, errs, "context edit has no flag --json")
	p := startPane(t, home, 80, 24, nil, "context", "edit", "0199ffff")
	require.Contains(t, p.awaitEnd(1), "no thread below")
}

// TestContextEditorOfLongThread moves through 10,000 items.
func TestContextEditorOfLongThread(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	id := apptest.LongRollout{Turns: 2500, Output: 4}.Write(t, home)
	p := startPane(t, home, 80, 24, nil, "context", "edit", id)
	screen := p.await("item 1 of ")
	var items int
	place := regexp.MustCompile(`item 1 of [\d,]+`).FindString(screen)
	_, err := fmt.Sscanf(strings.ReplaceAll(place, ",", ""), "item 1 of %d", &items)
	require.NoError(t, err)
	require.Greater(t, items, 7500)
	p.press("End", "v", "PgUp", "PgUp", "Space")
	p.await("Plan of 31 changes: ", "tokens fewer", "> [ ]*")
	p.press("Home")
	p.await("item 1 of ", "> [x]")
	p.press("q", "y")
	p.awaitEnd(0)
}

// TestContextEditorChangesTheWholeContext sorts, replaces a text in the user's editor, trims and compacts with a draft,
// each after its price, and undoes it.
func TestContextEditorChangesTheWholeContext(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartTrusted()
	c.Turn(id, "run: echo the words of the first turn")
	c.Turn(id, "run: echo the words of the second turn")
	c.Close()
	editor := filepath.Join(t.TempDir(), "editor")
	require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\necho rewritten by the editor > \"$1\"\n"), 0o700))
	p := startPane(t, home, 110, 30, []string{"EDITOR=" + editor}, "context", "edit", id)
	p.await("Turn 1  ", "Turn 2  ", "> [x]    environment")
	p.press("s")
	p.await("Sorted by price.")
	p.press("s", "s")
	p.await("Sorted by turn.", "Turn 1  ")

	p.press("Home", "Down", "Down", "Down", "R")
	p.await(">", "* R tool output", "Plan of 1 change: ", "leave the cache")
	p.press("a")
	p.await("replace  1 item", "The plan becomes one edit.")
	p.press("Enter")
	p.await("Applied the plan to 1 item.", "→ rewritten by the editor")

	p.press("T")
	p.await("Turns to keep: 2_")
	p.press("BSpace", "1", "Enter")
	p.await("Trim the context to the last 1 turn?", "1 turn with ", "tokens fewer", "Enter trims")
	p.press("Enter")
	p.await("Trimmed to the last 1 turn. u undoes it.")
	require.NotContains(t, p.screen(), "user         run: echo the words of the first turn")
	p.press("u")
	p.await("Undone: trim", "user         run: echo the words of the first turn")

	p.press("C")
	p.await("The compaction replaces ", "The next request has ", "Summary:", "e edits the summary")
	p.press("e")
	p.await("Summary:", "rewritten by the editor")
	p.press("Escape")
	p.await("item ")
	p.press("C")
	p.await("The compaction replaces ")
	p.press("Enter")
	p.await("Compacted the context. u undoes it.", "summary")
	p.press("u")
	p.await("Undone: compact")
	p.press("S")
	p.await("uggestions")
	p.press("q", "q")
	p.awaitEnd(0)
}
