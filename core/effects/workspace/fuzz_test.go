package workspace_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/workspace"
)

var hashPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// FuzzGit: whatever the files of git hold, the answer is a hash or nothing, and
// nothing outside the repository shows up in it.
func FuzzGit(f *testing.F) {
	sha := strings.Repeat("a", 40)
	for _, seed := range [][3]string{
		{"ref: refs/heads/main\n", sha + " refs/heads/main\n", "[remote \"origin\"]\nurl = https://a:b@h/x\n"},
		{sha + "\n", "", ""},
		{"ref:\trefs/heads/../../secret\n", "# pack-refs with: peeled\n^" + sha, "[remote \"origin\"] url = x \\\n"},
		{"ref: refs/heads/.invali\n", " refs/heads/.invali\n", "["},
		{"", "", ""}, {"ref: \n", "\n", "\x00"},
		{"ref: refs/\n", sha + " refs/\n", "[remote \"origin\"]\nurl = ssh://u:p@h\n"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	root := f.TempDir()
	require.NoError(f, os.MkdirAll(filepath.Join(root, ".git"), 0o700))
	require.NoError(f, os.WriteFile(filepath.Join(root, "secret"), []byte(strings.Repeat("5", 40)), 0o600))
	f.Fuzz(func(t *testing.T, head, packed, config string) {
		if strings.Contains(head, ".invalid") {
			return // asks git
		}
		put(t, root, ".git/HEAD", head)
		put(t, root, ".git/packed-refs", packed)
		put(t, root, ".git/config", config)
		info := workspace.Git(t.Context(), root)
		require.NotNil(t, info)
		if info.CommitHash != nil {
			require.Regexp(t, hashPattern, *info.CommitHash)
			require.Contains(t, head+packed, *info.CommitHash)
		}
		if info.Branch != nil {
			require.NotContains(t, *info.Branch, "\n")
		}
	})
}

// FuzzInstructions: whatever the files hold, the texts are UTF-8 and within the
// bound, and what was left out is told.
func FuzzInstructions(f *testing.F) {
	f.Add("one", "two", 100)
	f.Add(strings.Repeat("語", 40), "\xff\xfe", 50)
	f.Add(" \n", "\ufeff", 1)
	f.Add("\x80\x80\x80\x80\x80", "x", 3)
	root := f.TempDir()
	require.NoError(f, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	f.Fuzz(func(t *testing.T, above, here string, limit int) {
		if limit < 0 || limit > 1<<16 {
			return
		}
		put(t, root, "AGENTS.md", above)
		put(t, root, "sub/AGENTS.md", here)
		o := workspace.InstructionOptions{Cwd: filepath.Join(root, "sub"), MaxBytes: limit}
		files, warnings := workspace.Instructions(o)
		total := 0
		for _, file := range files {
			text, _, _ := strings.Cut(file.Text, "\n\n[cut here: ")
			require.True(t, utf8.ValidString(file.Text))
			total += len(strings.ReplaceAll(text, "\ufffd", "?"))
		}
		require.LessOrEqual(t, total, limit)
		text := !strings.Contains(above+here, "\x00") && utf8.ValidString(above) && utf8.ValidString(here)
		if text && len(above)+len(here) <= limit {
			require.Empty(t, warnings)
		}
	})
}

// FuzzResolveCwd: what is found is absolute, clean and a folder.
func FuzzResolveCwd(f *testing.F) {
	for _, seed := range []string{"", ".", "..", "/", "a", "a/b/../..", "//", "a\x00b", "~", strings.Repeat("a/", 3000)} {
		f.Add(seed)
	}
	base := f.TempDir()
	require.NoError(f, os.MkdirAll(filepath.Join(base, "a", "b"), 0o700))
	f.Fuzz(func(t *testing.T, cwd string) {
		dir, err := workspace.ResolveCwd(base, &cwd)
		if err != nil {
			require.Empty(t, dir)
			require.ErrorContains(t, err, "working directory ")
			return
		}
		require.True(t, filepath.IsAbs(dir))
		require.Equal(t, filepath.Clean(dir), dir)
		require.DirExists(t, dir)
	})
}
