package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// homeWithNotify returns a home whose notify program is a script.
func homeWithNotify(t *testing.T, script string) (home string) {
	t.Helper()
	home = t.TempDir()
	program := filepath.Join(home, "notify.sh")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ncd '"+home+"'\n"+script), 0o700))
	apptest.WriteConfig(t, home, fmt.Sprintf("notify = [%q, \"extra\"]\n", program))
	return home
}

func TestNotifyProgramRunsAfterEachCompletedTurn(t *testing.T) {
	home := homeWithNotify(t,
		"cat >> input\necho noise; echo noise >&2\nprintf '%s\\n' \"$#\" \"$1\" \"$2\" >> said.$$.part && mv said.$$.part said.$$\n")
	c := apptest.StartOffline(t, home)
	dir := t.TempDir()
	thread := c.StartThread(apptest.Object{"cwd": dir})
	first := c.Turn(thread, "hello")
	c.Call("thread/shellCommand", apptest.Object{"threadId": thread, "command": "true"})
	c.UntilMethod("turn/completed")
	second := c.Turn(thread, "more")
	said := func() []string {
		files, err := filepath.Glob(filepath.Join(home, "said.*[0-9]"))
		require.NoError(t, err)
		return files
	}
	require.Eventually(t, func() bool { return len(said()) >= 2 }, apptest.Timeout, apptest.Timeout/1000)
	c.Close() // it would kill a program that still runs

	files := said()
	require.Len(t, files, 2, "one per turn, none for the user's command")
	var arguments []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		arguments = append(arguments, string(text))
	}
	require.ElementsMatch(t, []string{
		fmt.Sprintf("2\nextra\n{\"type\":\"agent-turn-complete\",\"thread-id\":%q,\"turn-id\":%q,\"cwd\":%q,\"client\":\"test\",\"input-messages\":[\"hello\"],"+
			"\"last-assistant-message\":%q}\n", thread, first.ID, dir, announcedAnswer(t, arguments, "\"hello\"],")),
		fmt.Sprintf("2\nextra\n{\"type\":\"agent-turn-complete\",\"thread-id\":%q,\"turn-id\":%q,\"cwd\":%q,\"client\":\"test\",\"input-messages\":[\"hello\",\"more\"],"+
			"\"last-assistant-message\":%q}\n", thread, second.ID, dir, announcedAnswer(t, arguments, "\"more\"],")),
	}, arguments)
	input, err := os.ReadFile(filepath.Join(home, "input"))
	require.NoError(t, err)
	require.Empty(t, input)
}

// announcedAnswer returns the agent's message in the argument that contains a text.
func announcedAnswer(t *testing.T, arguments []string, has string) string {
	t.Helper()
	for _, s := range arguments {
		if _, rest, found := strings.Cut(s, has+"\"last-assistant-message\":"); found {
			text, err := strconv.Unquote(strings.TrimSuffix(rest, "}\n"))
			require.NoError(t, err)
			require.NotEmpty(t, text)
			return text
		}
	}
	t.Fatalf("nothing was announced with %s: %q", has, arguments)
	return ""
}

func TestNotifyProgramNeverBlocksOrFailsTurn(t *testing.T) {
	sample.Long(t)
	home := homeWithNotify(t, "echo $$ > pid\ntrap '' TERM\nwhile :; do sleep 1; done\n")
	c := apptest.StartOffline(t, home)
	thread := c.StartThread(apptest.Object{})
	require.Equal(t, "completed", c.Turn(thread, "one").Status)
	require.Equal(t, "completed", c.Turn(thread, "two").Status)
	pid := pidOf(t, filepath.Join(home, "pid"))
	c.Close()
	require.False(t, apptest.IsAlive(pid), "the program still runs")
}

func TestNotifyWithoutProgramFailsNoTurn(t *testing.T) {
	home := t.TempDir()
	apptest.WriteConfig(t, home, "notify = [\"/nowhere/program\"]\n")
	c := apptest.StartOffline(t, home)
	thread := c.StartThread(apptest.Object{})
	require.Equal(t, "completed", c.Turn(thread, "one").Status)
	require.Equal(t, "completed", c.Turn(thread, strings.Repeat("long ", 60_000)).Status)
	c.Close()
}
