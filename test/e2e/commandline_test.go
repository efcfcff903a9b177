package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// completions returns the words that the program offers for the last word.
func completions(t *testing.T, words ...string) (list []string) {
	t.Helper()
	status, out, errs := apptest.Execute(t, t.TempDir(), append([]string{"__complete", "--"}, words...)...)
	require.Zero(t, status)
	require.Empty(t, errs)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for _, line := range lines[1:] {
		word, _, _ := strings.Cut(line, "\t")
		list = append(list, word)
	}
	return list
}

// allCommands returns the words of each command, found by completion.
func allCommands(t *testing.T) (all [][]string) {
	t.Helper()
	for _, name := range completions(t, "help", "") {
		all = append(all, []string{name})
		for _, nested := range completions(t, "help", name, "") {
			all = append(all, []string{name, nested})
		}
	}
	return all
}

// TestHelpOfEachCommand compares help COMMAND with COMMAND --help, and requires the flags that completion offers.
func TestHelpOfEachCommand(t *testing.T) {
	t.Parallel()
	all := allCommands(t)
	require.Greater(t, len(all), 40)
	for _, command := range all {
		status, out, errs := apptest.Execute(t, t.TempDir(), append([]string{"help"}, command...)...)
		require.Zero(t, status, command)
		require.Empty(t, errs)
		require.True(t, strings.HasPrefix(out, "Usage: appserver "+strings.Join(command, " ")), out)
		for _, form := range []string{"--help", "-h"} {
			status, again, errs := apptest.Execute(t, t.TempDir(), append(append([]string{}, command...), form)...)
			require.Zero(t, status, command)
			require.Empty(t, errs)
			require.Equal(t, out, again, command)
		}
		if strings.Contains(out, "\nCommands:\n") {
			continue // its nested commands have the flags
		}
		for _, flag := range completions(t, append(append([]string{}, command...), "-")...) {
			if flag != "--help" {
				require.Contains(t, out, "\n  "+flag, command)
			}
		}
	}
}

// TestHelpBeginsWithWhatPeopleDo requires the commands of people before those of clients, and all before the flags.
func TestHelpBeginsWithWhatPeopleDo(t *testing.T) {
	t.Parallel()
	_, out, _ := apptest.Execute(t, t.TempDir(), "help")
	at := -1
	for _, name := range []string{"\n  web ", "\n  context ", "\n  thread ", "\n  mcp ", "\n  app-server ", "\n  generate-ts ", "\nFlags:\n"} {
		next := strings.Index(out, name)
		require.Greater(t, next, at, name)
		at = next
	}
}

// TestWrongWordsNameTheNearOne expects status 2 and no output.
func TestWrongWordsNameTheNearOne(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"wbe":                           "did you mean web?",
		"thread exprot x":               "did you mean thread export?",
		"mcp lst":                       "did you mean mcp list?",
		"rollout verfy x":               "did you mean rollout verify?",
		"store statsu":                  "did you mean store status?",
		"context --lsat list":           "did you mean --last?",
		"app-server --lsten unix://":    "did you mean --listen?",
		"-model-provder ollama context": "did you mean --model-provider?",
		"help contxt":                   "did you mean context?",
		"completion zhs":                "did you mean zsh?",
		"redact x":                      "did you mean rollout redact or store redact?",
		"web --yes":                     "flag provided but not defined: -yes\n",
	} {
		status, out, errs := apptest.Execute(t, t.TempDir(), strings.Fields(line)...)
		require.Equal(t, 2, status, line)
		require.Empty(t, out, line)
		require.Contains(t, errs, want, line)
		require.Contains(t, errs, "--help for usage.\n", line)
	}
}

// TestAKeyInTheArgumentsIsNotPrinted types the key behind --with-api-key, which reads it from a pipe.
func TestAKeyInTheArgumentsIsNotPrinted(t *testing.T) {
	t.Parallel()
	status, out, errs := apptest.Execute(t, t.TempDir(), "login", "--with-api-key", "sk-secret-key")
	require.Equal(t, 2, status)
	require.Contains(t, errs, "reads the key from a pipe")
	require.NotContains(t, out+errs, "sk-secret")
}

// TestBashCompletesCommandLines runs bash with the script of the program. bash cuts words at "=" and ":" too.
func TestBashCompletesCommandLines(t *testing.T) {
	t.Parallel()
	program, folder := must(apptest.Binary()), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rollout.jsonl"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "folder"), 0o700))
	for _, c := range []struct {
		typed string
		words []string // what bash makes of it
		want  string
	}{
		{"con", []string{"con"}, "context"},
		{"context ex", []string{"context", "ex"}, "exclude"},
		{"context exclude --rev", []string{"context", "exclude", "--rev"}, "--revision"},
		{"thread export --format ", []string{"thread", "export", "--format", ""}, "md json html"},
		{"thread export --format=", []string{"thread", "export", "--format", "="}, "md json html"},
		{"thread export --format=h", []string{"thread", "export", "--format", "=", "h"}, "html"},
		{"--listen=unix", []string{"--listen", "=", "unix"}, "unix://"},
		{"--listen unix:/", []string{"--listen", "unix", ":", "/"}, "//"},
		{"context prune --category reasoning,tool", []string{"context", "prune", "--category", "reasoning,tool"},
			"reasoning,toolCall reasoning,toolOutput reasoning,toolDefinition"},
		{"help mcp lo", []string{"help", "mcp", "lo"}, "login logout"},
		{"nothing x", []string{"nothing", "x"}, ""},
		{"rollout verify " + folder + "/ro", []string{"rollout", "verify", folder + "/ro"}, folder + "/rollout.jsonl"},
		{"generate-ts --out " + folder + "/f", []string{"generate-ts", "--out", folder + "/f"}, folder + "/folder"},
	} {
		script := `eval "$("$0" completion bash)" || exit 9
			COMP_LINE="appserver $1" COMP_POINT=1000 COMP_WORDS=("$0" "${@:2}") COMP_CWORD=$(($# - 1))
			_appserver; echo "${COMPREPLY[@]}"; complete -p appserver`
		cmd := exec.Command("bash", append([]string{"-c", script, program, c.typed}, c.words...)...)
		cmd.Env = append(os.Environ(), "CODEX_HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", c.typed, out)
		require.Equal(t, c.want+"\ncomplete -F _appserver appserver\n", string(out), c.typed)
	}
}

// TestManualPageHasAllCommands reads the page that the program prints.
func TestManualPageHasAllCommands(t *testing.T) {
	t.Parallel()
	cmd := apptest.ServerCommand(t, t.TempDir(), "man")
	cmd.Env = append(cmd.Env, "SOURCE_DATE_EPOCH=1767323045")
	out, err := cmd.Output()
	require.NoError(t, err)
	page := string(out)
	require.True(t, strings.HasPrefix(page, `.TH APPSERVER 1 "2026-01-02" "appserver `), page[:80])
	for _, command := range allCommands(t) {
		require.Contains(t, page, `.SS "`+strings.ReplaceAll(strings.Join(command, " "), "-", `\-`))
	}
	for _, title := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "FLAGS", "EXIT STATUS", "ENVIRONMENT", "FILES"} {
		require.Contains(t, page, `.SH "`+title+"\"\n")
	}
}

// terminalOf starts the program with a terminal as its standard input. Standard error is a pipe unless it is the
// terminal, too. It returns what the program has written to standard error until its first full lines, and to
// standard output.
func terminalOf(t *testing.T, errsToo bool, args ...string) (hint string, stdout *bytes.Buffer) {
	t.Helper()
	cmd := apptest.ServerCommand(t, t.TempDir(), append([]string{"-c", "model_provider=offline"}, args...)...)
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer slave.Close()
	from, to, err := os.Pipe()
	require.NoError(t, err)
	stdout = &bytes.Buffer{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, stdout, to
	if errsToo {
		cmd.Stderr, from = slave, master
	}
	require.NoError(t, cmd.Start())
	require.NoError(t, to.Close())
	read := make(chan string, 1)
	go func() {
		buffer := make([]byte, 4096)
		text := ""
		for strings.Count(text, "\n") < 2 {
			n, err := from.Read(buffer)
			text += string(buffer[:n])
			if err != nil {
				break
			}
		}
		read <- text
	}()
	select {
	case hint = <-read:
	case <-time.After(30 * time.Second):
		t.Fatal("the program has not written two lines")
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
	return hint, stdout
}

// TestAServerOnATerminalSaysWhatItWaitsFor requires two lines on standard error and nothing on standard output, also if
// only the input is a terminal.
func TestAServerOnATerminalSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"app-server"}} {
		for _, errsToo := range []bool{false, true} {
			hint, out := terminalOf(t, errsToo, args...)
			lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(hint, "\r", "")), "\n")
			require.Len(t, lines, 2, hint)
			require.Contains(t, lines[0], "waiting for a client on standard input")
			for _, word := range []string{"appserver web", "appserver login", "appserver --help"} {
				require.Contains(t, lines[1], word)
			}
			if exists := len(completions(t, "exec")) > 0; !exists {
				require.NotContains(t, lines[1], "exec", "there is no such command")
			}
			require.Empty(t, out.String())
		}
	}
}

// TestClientsOverPipesGetNoHint starts the server as clients do.
func TestClientsOverPipesGetNoHint(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"app-server"}} {
		cmd := apptest.ServerCommand(t, t.TempDir(), append([]string{"-c", "model_provider=offline"}, args...)...)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		require.NoError(t, cmd.Start())
		_, err = io.WriteString(in, fmt.Sprintf(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":%q,"version":"1"}}}`+"\n", "me"))
		require.NoError(t, err)
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
		require.Empty(t, errs.String())
		require.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
	}
}
