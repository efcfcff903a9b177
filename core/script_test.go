package core_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the scripts in testdata print instead of comparing it")

// TestScripts runs testdata/*.txt. A script is a list of blocks:
//
//	# the shown behaviour
//	command word "some text" key=value key="some text"
//	another command
//	----
//	what they print
//
// A blank line ends a block. The commands are in the table of commands_test.go.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := runScript(t, string(text))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

// runScript returns the script with the current output of its commands.
func runScript(t *testing.T, text string) string {
	m := newMachine(func(format string, args ...any) {
		t.Helper()
		t.Errorf(format, args...)
	})
	return runScriptOn(t, m, text)
}

func runScriptOn(t *testing.T, m *machine, text string) string {
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		commands, _, found := strings.Cut(block+"\n", "----\n")
		if !found { // a comment alone
			out.WriteString(block + "\n\n")
			continue
		}
		out.WriteString(commands + "----\n")
		printed, err := runBlock(m, commands)
		require.NoError(t, err, "block %d:\n%s", i+1, commands)
		out.WriteString(printed + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// runBlock runs the commands of a block. After "quiet" only ok is printed.
func runBlock(m *machine, lines string) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line == "quiet" {
			continue
		}
		if err := runCommand(m, line, &b); err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
	}
	if strings.HasPrefix(lines, "quiet\n") || strings.Contains(lines, "\nquiet\n") || b.Len() == 0 {
		return "ok\n", nil
	}
	return b.String(), nil
}

// arguments are the words of a command, and its options in order.
type arguments struct {
	words   []string
	options []option
}

type option struct{ name, value string }

var optionName = regexp.MustCompile(`^[a-z-]+=`)

// parse splits a command. Words and values may be quoted as in Go.
func parse(line string) (arguments, error) {
	a := arguments{}
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		name := optionName.FindString(line)
		line = line[len(name):]
		value, rest, err := cutValue(line)
		if err != nil {
			return a, err
		}
		if line = rest; name == "" {
			a.words = append(a.words, value)
		} else {
			a.options = append(a.options, option{strings.TrimSuffix(name, "="), value})
		}
	}
	if len(a.words) == 0 {
		return a, errors.New("no command")
	}
	return a, nil
}

func cutValue(line string) (value, rest string, err error) {
	if line == "" || (line[0] != '"' && line[0] != '`') {
		value, rest, _ = strings.Cut(line, " ")
		return value, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", "", fmt.Errorf("the quotes in %s do not match", line)
	}
	value, err = strconv.Unquote(quoted)
	return value, line[len(quoted):], err
}

// has reports whether the command has the word.
func (a arguments) has(word string) bool { return slices.Contains(a.words[1:], word) }

// word returns the i-th word after the command, "" without one.
func (a arguments) word(i int) string {
	if i+1 < len(a.words) {
		return a.words[i+1]
	}
	return ""
}

// all returns the values of an option, in order.
func (a arguments) all(name string) []string {
	var values []string
	for _, o := range a.options {
		if o.name == name {
			values = append(values, o.value)
		}
	}
	return values
}

// option returns the last value of an option; nil without one.
func (a arguments) option(name string) *string {
	values := a.all(name)
	if len(values) == 0 {
		return nil
	}
	return &values[len(values)-1]
}

// number returns an option's value, or the default.
func (a arguments) number(name string, otherwise uint64) (uint64, error) {
	v := a.option(name)
	if v == nil {
		return otherwise, nil
	}
	return strconv.ParseUint(*v, 10, 64)
}
