//go:build linux || darwin

package tool_test

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/tool"
)

func connect(t *testing.T, script string, stderr func(string)) *tool.Link {
	t.Helper()
	l, err := (&tool.Shell{}).Connect(tool.Program{Argv: []string{"sh", "-c", script}, Dir: t.TempDir(),
		Env: []string{"PATH=" + os.Getenv("PATH")}, Stderr: stderr})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		awaitEnd(t, l)
	})
	return l
}

func awaitEnd(t *testing.T, l *tool.Link) {
	t.Helper()
	select {
	case <-l.Ended():
	case <-time.After(10 * time.Second):
		require.Fail(t, "the program still runs")
	}
}

func TestLinkPassesInputAndOutput(t *testing.T) {
	stderr := make(chan string, 10)
	l := connect(t, `echo ready >&2; while read line; do echo "got $line"; done; exit 3`,
		func(line string) { stderr <- line })
	require.Equal(t, "ready", <-stderr)
	_, err := io.WriteString(l, "one\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(l).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "got one\n", line)
	require.NoError(t, l.Close())
	awaitEnd(t, l)
	require.EqualError(t, l.Outcome(), "it ended with exit code 3", "the program ends with its input")
}

func TestLinkThatIgnoresCloseIsKilled(t *testing.T) {
	l := connect(t, `trap '' TERM; echo up; while :; do sleep 1; done`, nil)
	_, err := bufio.NewReader(l).ReadString('\n')
	require.NoError(t, err)
	begin := time.Now()
	require.NoError(t, l.Close())
	require.Less(t, time.Since(begin), 100*time.Millisecond, "Close does not wait")
	awaitEnd(t, l)
	require.Less(t, time.Since(begin), 3*time.Second)
	require.ErrorContains(t, l.Outcome(), "signal 9")
}

func TestStderrOfALinkIsBounded(t *testing.T) {
	var lines []string
	l := connect(t, `head -c 100000 /dev/zero | tr '\0' x >&2; echo >&2; i=0; while [ $i -lt 1500 ]; do echo $i >&2; i=$((i+1)); done; exec 2>&-; echo done`, func(line string) { lines = append(lines, line) })
	_, err := bufio.NewReader(l).ReadString('\n')
	require.NoError(t, err)
	awaitEnd(t, l)
	require.NoError(t, l.Outcome())
	require.LessOrEqual(t, len(lines), 1000)
	require.Equal(t, strings.Repeat("x", 1024), lines[0])
	require.Equal(t, "0", lines[1])
}

func TestConnectReportsWhyAProgramDoesNotStart(t *testing.T) {
	for want, p := range map[string]tool.Program{
		"command is empty":           {},
		"was not found in PATH":      {Argv: []string{"no-such-program"}},
		"does not exist":             {Argv: []string{"sh"}, Dir: "/no/such/dir"},
		"cannot start \"/dev/null\"": {Argv: []string{"/dev/null"}},
	} {
		_, err := (&tool.Shell{}).Connect(p)
		require.ErrorContains(t, err, want)
	}
}
