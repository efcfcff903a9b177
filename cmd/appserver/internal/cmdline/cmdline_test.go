package cmdline

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// table returns a program with one command of each form. ran has the command that ran last, with its arguments.
func table() (p *Program, out *bytes.Buffer, ran *[]string) {
	out, ran = &bytes.Buffer{}, &[]string{}
	note := func(name string) Run {
		return func(args []string) error {
			*ran = append([]string{name}, args...)
			return nil
		}
	}
	p = &Program{Out: out, Groups: []string{"All"}, Version: func() (Run, bool) { return nil, false },
		Shared: func(flags *flag.FlagSet) { flags.String("c", "", "override `KEY=VALUE`") }}
	leaf := func(name, args string, define func(*flag.FlagSet)) Command {
		return Command{Name: name, Doc: "run " + name, Args: args, Define: func(flags *flag.FlagSet) Run {
			define(flags)
			return note(name)
		}}
	}
	none := func(*flag.FlagSet) {}
	list := leaf("list", "THREAD", func(flags *flag.FlagSet) {
		flags.Bool("all", false, "all of them")
		flags.String("format", "md", "the `FORMAT`")
		Choices(flags, "format", "md", "html")
		p.Shared(flags)
	})
	prune := leaf("prune", "THREAD ITEM...", func(flags *flag.FlagSet) {
		flags.Bool("yes", false, "do not ask")
		flags.String("category", "", "the `CATEGORIES`")
		ChoiceList(flags, "category", "user", "tool")
	})
	context := Command{Name: "context", Doc: "edit a context", Group: "All", Commands: []Command{list, prune},
		Words: []Word{{"THREAD", "an id"}, {"ITEM", "an index"}}}
	export := leaf("export", "FILE", none)
	export.Group = "All"
	hidden := leaf("secret", "", none)
	hidden.Hidden = true
	p.Root = Command{Name: "prog", Commands: []Command{context, export, p.HelpCommand("All"), hidden, p.CompleteCommand(),
		p.CompletionCommand("All")}, Define: func(flags *flag.FlagSet) Run {
		flags.Bool("stdio", false, "use pipes")
		p.Shared(flags)
		return note("root")
	}}
	return p, out, ran
}

// TestFlagsAndArgumentsCanBeInAnyOrder has flags before the command, before the nested one, between arguments and after
// them, in all forms.
func TestFlagsAndArgumentsCanBeInAnyOrder(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                     "root",
		"--stdio":                              "root",
		"-c x context list T":                  "list T",
		"context --all list T":                 "list T",
		"context --format html list T":         "list T",
		"context -format=html list --all T":    "list T",
		"context list T --all":                 "list T",
		"context list -- --all":                "list --all",
		"context prune T -yes 1 -category=a 2": "prune T 1 2",
		"secret":                               "secret",
	} {
		p, _, ran := table()
		require.NoError(t, p.Run(strings.Fields(line)), line)
		require.Equal(t, want, strings.Join(*ran, " "), line)
	}
}

// TestWrongWordsAreRefusedWithTheNearOne expects a usage error, nothing that runs, and the help that describes it.
func TestWrongWordsAreRefusedWithTheNearOne(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"contxet":                    `unknown command "contxet": did you mean context?` + "\nRun prog --help",
		"context lsit T":             `unknown command "context lsit": did you mean context list?` + "\nRun prog context --help",
		"prune T":                    `unknown command "prune": did you mean context prune?`,
		"help context pruen":         `unknown command "context pruen": did you mean context prune?`,
		"help CONTEXT":               `did you mean context?`,
		"exp":                        `did you mean export?`,
		"context list T --al":        "flag provided but not defined: -al: did you mean --all?\nRun prog context list --help",
		"context list T --yes":       "context list has no flag --yes\n",
		"context --catgory x list T": "flag provided but not defined: -catgory: did you mean --category?",
		"--stdoi":                    "-stdoi: did you mean --stdio?\nRun prog --help",
		"export a b":                 `unexpected argument "b"`,
		"completion bsah":            `unknown shell "bsah": did you mean bash?`,
		"zzz":                        "unknown command \"zzz\"\nRun prog --help",
		"secrte":                     "unknown command \"secrte\"\n",
		strings.Repeat("c", 5000):    "unknown command",
	} {
		p, out, ran := table()
		err := p.Run(strings.Fields(line))
		var usage UsageError
		require.ErrorAs(t, err, &usage, line)
		var errs bytes.Buffer
		require.Equal(t, 2, p.Report(err, &errs))
		require.Contains(t, errs.String(), want, line)
		require.Empty(t, *ran, line)
		require.Empty(t, out.String())
	}
	p, _, _ := table()
	var errs bytes.Buffer
	require.Equal(t, 1, p.Report(errors.New("failed"), &errs))
	require.Equal(t, "prog: failed\n", errs.String())
}

// TestHelpIsTheSameInAllForms compares help COMMAND with COMMAND --help.
func TestHelpIsTheSameInAllForms(t *testing.T) {
	t.Parallel()
	help := func(line string) string {
		p, out, ran := table()
		require.NoError(t, p.Run(strings.Fields(line)), line)
		require.Empty(t, *ran)
		return out.String()
	}
	for _, command := range []string{"", "context", "context list", "context prune", "export", "help", "completion"} {
		want := help("help " + command)
		require.Contains(t, want, strings.TrimSpace("Usage: prog "+command))
		for _, line := range []string{command + " --help", command + " -h"} {
			require.Equal(t, want, help(line), line)
		}
	}
	require.Contains(t, help("help context prune"), "ITEM is an index.\n")
	require.NotContains(t, help("help context list"), "ITEM")
	require.NotContains(t, help("help"), "secret")
	require.Equal(t, help("help context"), help("context"))
}

// TestCompletionFollowsTheTable completes commands, nested commands, flags and values.
func TestCompletionFollowsTheTable(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                "words context export help completion",
		"con":                             "words context",
		"context ":                        "words list prune",
		"-c x context p":                  "words prune",
		"context list --":                 "words --all --format --help",
		"context list -":                  "words --all -c --format --help",
		"context list --format ":          "words md html",
		"context list --format=h":         "words --format=html",
		"context list --all --format m":   "words md",
		"context prune --category user,t": "words user,tool",
		"context prune --category=user,":  "words --category=user,user --category=user,tool",
		"context list -- --":              "words",
		"export ":                         "files",
		"export a ":                       "words",
		"help ":                           "words context export help completion",
		"help context ":                   "words list prune",
		"help lost ":                      "words",
		"completion f":                    "words fish",
		"lost x":                          "words",
	} {
		p, _, _ := table()
		got := p.Complete(strings.Split(line, " "))
		words := []string{got.Kind}
		for _, w := range got.Words {
			words = append(words, w.Name)
		}
		require.Equal(t, want, strings.Join(words, " "), line)
	}
}

// TestTheScriptsCallTheProgram also requires a line about the use of each.
func TestTheScriptsCallTheProgram(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		p, out, _ := table()
		require.NoError(t, p.Run([]string{"completion", shell}))
		require.NotContains(t, out.String(), "PROGRAM")
		require.Contains(t, out.String(), "__complete")
		require.Contains(t, out.String(), "prog completion "+shell)
	}
}

// TestTheManualHasAllCommandsAndFlags also protects what roff would interpret.
func TestTheManualHasAllCommandsAndFlags(t *testing.T) {
	t.Parallel()
	p, _, _ := table()
	p.Root.Commands[1].Text = ".so /etc/passwd\n'x \\fB-- a\n\n  kept\n  as it is"
	page := p.Manual(Page{Version: "1.2", Date: "2026-01-02", Summary: "a program", Description: "First.\n\nSecond.",
		Sections: []Section{{"FILES", []Word{{"~/.x", "a \"file\"."}}}}})
	require.Contains(t, page, `.TH PROG 1 "2026-01-02" "prog 1.2" "User Commands"`)
	for _, want := range []string{".SS \"context list THREAD\"\n", ".B \"\\-\\-format FORMAT\"\n", "\n\\&.so /etc/passwd\n",
		"\n\\(aqx \\efB\\-\\- a\n", ".nf\n  kept\n  as it is\n.fi\n", ".B \"\\(ti/.x\"\n"} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "secret")
}
