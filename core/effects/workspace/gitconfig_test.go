package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var gitConfigs = map[string]string{
	"[remote \"origin\"]\n\turl = https://h/x.git\n":                   "https://h/x.git",
	"[REMOTE \"origin\"]\nURL=x\n":                                     "x",
	"[remote \"ORIGIN\"]\nurl = x\n":                                   "",
	"[remote \"other\"]\nurl = y\n[remote \"origin\"]\nurl = x\n":      "x",
	"[remote \"origin\"]\nurl = x # comment\n":                         "x",
	"[remote \"origin\"]\nurl = x ; comment\n":                         "x",
	"[remote \"origin\"]\n# url = y\n; url = z\nurl = x\n":             "x",
	"[remote \"origin\"]\nurl = \"a # b\" c   \n":                      "a # b c",
	"[remote \"origin\"]\nurl = \"  a  \"\n":                           "  a  ",
	"[remote \"origin\"]\nurl = a\\\\b\\\"c\\td\n":                     "a\\b\"c\td",
	"[remote \"origin\"]\nurl = a\\\nb\n":                              "ab",
	"[remote \"origin\"] url = x\n":                                    "x",
	"[remote \"origin\"]\r\nurl = x\r\n":                               "x",
	"[core]\nbare = false\n[remote \"origin\"]\nfetch = +a:b\nurl=x\n": "x",
	"[remote \"a]b\"]\nurl = y\n[remote \"origin\"]\nurl = x\n":        "x",
	"[remote \"origin\"]\npushurl = y\n":                               "",
	"[core]\nurl = y\n":                                                "",
	"":                                                                 "",
}

func TestOriginURL(t *testing.T) {
	for text, want := range gitConfigs {
		require.Equal(t, want, originURL(text), "%q", text)
	}
}

// git itself agrees with the table.
func TestOriginURLAsGitReadsIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	for text, want := range gitConfigs {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		out, err := exec.Command("git", "config", "--file", file, "remote.origin.url").Output()
		if want == "" {
			require.Error(t, err, "%q", text)
			continue
		}
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, strings.TrimSuffix(string(out), "\n"), "%q", text)
	}
}

func FuzzOriginURL(f *testing.F) {
	for text := range gitConfigs {
		f.Add(text)
	}
	f.Add("[remote \"origin\"")
	f.Add("[remote \"origin\\")
	f.Add("[remote \"origin\"]url=\\")
	f.Fuzz(func(t *testing.T, text string) {
		require.LessOrEqual(t, len(originURL(text)), len(text))
	})
}
