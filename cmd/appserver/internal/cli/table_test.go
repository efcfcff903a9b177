package cli

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/test/apptest"
)

func program() *cmdline.Program {
	return Program(app.Streams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, app.DefaultOptions())
}

// TestEachCommandAndFlagIsDocumented compares the last section of docs/cli.md with the table. The text before it must
// describe each command of the program.
func TestEachCommandAndFlagIsDocumented(t *testing.T) {
	const title = "## All commands and flags\n\n"
	path := apptest.Root("docs", "cli.md")
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	text, reference, found := strings.Cut(string(page), title)
	require.True(t, found, title)
	p := program()
	if *apptest.Update {
		require.NoError(t, os.WriteFile(path, []byte(text+title+p.Reference()), 0o600))
		return
	}
	require.Equal(t, p.Reference(), reference, "go test ./cmd/appserver/internal/cli -run Documented -update writes it")
	for _, c := range p.Root.Commands {
		if !c.Hidden {
			require.Contains(t, text, "`appserver "+c.Name, "a section of docs/cli.md describes the command")
		}
	}
}

// TestTheTableIsSound requires what the parser and the texts rely on: names once, a heading and a line for each
// command, and flags that are alike in all commands of a group, because they may come before the name of the command.
func TestTheTableIsSound(t *testing.T) {
	t.Parallel()
	p := program()
	names := map[string]bool{}
	for _, c := range p.Root.Commands {
		require.False(t, names[c.Name], c.Name)
		names[c.Name] = true
		require.True(t, c.Hidden || slices.Contains(p.Groups, c.Group), c.Name)
		forms := map[string]bool{}
		for _, n := range slices.Concat(c.Commands, []cmdline.Command{c}) {
			require.Regexp(t, `^[a-z].*[^.]$`, n.Doc, n.Name)
			if n.Define == nil {
				continue
			}
			flags := flag.NewFlagSet("", flag.ContinueOnError)
			n.Define(flags)
			flags.VisitAll(func(f *flag.Flag) {
				b, ok := f.Value.(interface{ IsBoolFlag() bool })
				isBool := ok && b.IsBoolFlag()
				form, known := forms[f.Name]
				require.False(t, known && form != isBool, "%s --%s", n.Name, f.Name)
				forms[f.Name] = isBool
				require.Regexp(t, `[^.]$`, f.Usage, "%s --%s", n.Name, f.Name)
			})
		}
	}
}
