package command

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestQuoteAsTheReferenceImplementation compares with output of the reference implementation.
func TestQuoteAsTheReferenceImplementation(t *testing.T) {
	for script, want := range map[string]string{
		"ls":                     "ls",
		"echo hi":                "'echo hi'",
		"a@b:c+d_e":              "a@b:c+d_e",
		"a]b":                    "a]b",
		"a=b":                    "'a=b'",
		"a,b":                    "'a,b'",
		"a%b":                    "'a%b'",
		"x{y":                    "'x{y'",
		"é":                      "'é'",
		`echo "it's"`:            `"echo \"it's\""`,
		`echo 'a $x'`:            `"echo 'a "'$x'"'"`,
		`echo "a 'b' $HOME"`:     `"echo \"a 'b' "'$HOME"'`,
		"echo a^b!c":             "'echo a''^b!c'",
		`ls | awk '{print $1}'`:  `"ls | awk '{print "'$1}'"'"`,
		`printf '%s' "x\y"`:      `"printf '%s' \"x\\y\""`,
		"":                       "''",
		"-":                      "-",
		"^":                      "'^'",
		"two\nlines":             "'two\nlines'",
		"'$'":                    `"'"'$'"'"`,
		"for i in 1; do x; done": "'for i in 1; do x; done'",
	} {
		require.Equal(t, "/bin/bash -lc "+want, Quote([]string{"/bin/bash", "-lc", script}))
	}
	require.Equal(t, "", Quote(nil))
}

func TestQuoteLeavesNothingForTheShell(t *testing.T) {
	require.Equal(t, "a '' b", Quote([]string{"a", "", "b"}))
	require.Equal(t, "'a b' '*' '~'", Quote([]string{"a b", "*", "~"}))
}

func TestShellsSplitQuotedWords(t *testing.T) {
	needsUnix(t)
	all := make([]byte, 0, 255)
	for c := 1; c < 256; c++ {
		all = append(all, byte(c))
	}
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	argv := []string{"printf", `%s\n`, string(all), string(reversed), "", "^^", `\'"!$` + "`"}
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		out, err := exec.Command(shell, "-c", Quote(argv)).Output()
		require.NoError(t, err)
		require.Equal(t, strings.Join(argv[2:], "\n")+"\n", string(out), shell)
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("echo", "a 'b' $c")
	f.Add("^^!", "\\\n")
	f.Add("", "é\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsAny(a+b, "\r\x00\ufffd") || !utf8.ValidString(a) || !utf8.ValidString(b) || len(a)+len(b) > 1000 {
			return // The parser, unlike shells, minds them.
		}
		argv := []string{"x", a, b}
		line := Quote(argv)
		file, ok := parse(line)
		require.True(t, ok, line)
		found, ok := calls(line, file)
		require.True(t, ok, line)
		require.Len(t, found, 1)
		require.Equal(t, argv, found[0].texts(), line)
	})
}

// needsUnix skips a test whose scripts run in shells, which Windows does not have.
func needsUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("its scripts need the shells and the git of Unix")
	}
}
