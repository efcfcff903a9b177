package cli

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"appserver/cmd/appserver/internal/app"
	"appserver/test/apptest"
)

// TestAskerRequiresYes expects that only y and yes confirm.
func TestAskerRequiresYes(t *testing.T) {
	for answer, want := range map[string]error{
		"y\n": nil, "yes\n": nil, " YES \r\n": nil, "y": nil,
		"": errDeclined, "\n": errDeclined, "n\n": errDeclined, "yeah\n": errDeclined, "n\ny\n": errDeclined,
	} {
		var out bytes.Buffer
		a := asker{in: strings.NewReader(answer), out: &out, terminal: true}
		require.Equal(t, want, a.confirm("All items would be deleted."), "%q", answer)
		require.Equal(t, "All items would be deleted.\nContinue? [y/N] ", out.String())
	}
	broken := errors.New("broken")
	a := asker{in: iotest.ErrReader(broken), out: io.Discard, terminal: true}
	require.ErrorIs(t, a.confirm("x"), broken)
}

// TestAskerRequiresTerminal expects a usage error without a terminal and without --yes.
func TestAskerRequiresTerminal(t *testing.T) {
	var out bytes.Buffer
	var wrong app.UsageError
	a := asker{in: strings.NewReader("y\n"), out: &out}
	err := a.confirm("All items would be deleted.")
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "All items would be deleted.\n")
	require.ErrorContains(t, err, "--yes")
	a.yes = true
	require.NoError(t, a.confirm("All items would be deleted."))
	require.Empty(t, out.String())
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	require.False(t, isTerminal(file))
	require.Equal(t, defaultWidth, widthOf(file))
	require.NoError(t, file.Close())
	require.False(t, isTerminal(&out))
}

// atTerminal runs a context command, and answers its question.
func atTerminal(t *testing.T, answer string, args ...string) (out, asked string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	rows := contextRows()
	row := &rows[slices.IndexFunc(rows, func(r contextRow) bool { return r.name == args[0] })]
	c := &contextCall{row: row, o: contextOptions{Options: app.DefaultOptions()}, to: &stdout, errs: &stderr}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	pick(flags, c.o.define, "last json "+row.flags)
	require.NoError(t, flags.Parse(args[1:]))
	require.NoError(t, c.read(app.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, flags.Args()))
	c.asker = asker{in: strings.NewReader(answer), out: &stderr, terminal: true, yes: c.o.yes}
	err = c.serve()
	return stdout.String(), stderr.String(), err
}

// TestContextConfirmsDestructiveEdits expects the effect in the question, and no change without a yes.
func TestContextConfirmsDestructiveEdits(t *testing.T) {
	home, path := apptest.LegacyHome(t)
	t.Setenv("CODEX_HOME", home)
	for range 2 {
		out, asked, err := atTerminal(t, "no\n", "delete", apptest.LegacyID, "r7", "1")
		require.ErrorIs(t, err, errDeclined)
		require.Empty(t, out)
		require.Contains(t, asked, "This would delete 3 items of thread "+apptest.LegacyID,
			"the output is deleted with its call")
		require.Regexp(t, `would have [\d,]+ tokens, \d+ fewer\.`, asked)
		require.Contains(t, asked, "Warning: messages of the user would be left out: 1 item\n")
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, apptest.LegacyRollout, string(text))

	out, asked, err := atTerminal(t, "y\n", "delete", apptest.LegacyID, "r7", "1")
	require.NoError(t, err)
	require.Contains(t, asked, "Continue? [y/N] ")
	require.True(t, strings.HasPrefix(out, "Deleted 3 items."), out)
	_, asked, err = atTerminal(t, "n\n", "restore", apptest.LegacyID)
	require.ErrorIs(t, err, errDeclined)
	require.Regexp(t, `0 items excluded, 0 replaced, 3 deleted\. The next request would have about [\d,]+ more tokens\.`,
		asked)
	out, _, err = atTerminal(t, "yes\n", "restore", apptest.LegacyID)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out, "Restored 3 items."), out)
	out, asked, err = atTerminal(t, "", "delete", "--yes", "--json", apptest.LegacyID, "0")
	require.NoError(t, err)
	require.Empty(t, asked)
	require.True(t, strings.HasPrefix(out, "{\n"), out)
}
