package worktree

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStats(t *testing.T) {
	t.Parallel()
	zero, one := strings.Repeat("0", 40), strings.Repeat("1", 40)
	out := strings.Join([]string{
		":100644 100644 " + one + " " + zero + " M", ":odd name",
		":100644 100644 " + one + " " + one + " R100", "from", "to",
		":120000 100644 " + one + " " + one + " T", "type",
		":000000 100644 " + zero + " " + one + " A", "binary",
		":100644 000000 " + one + " " + zero + " D", "1\t2\tname",
		"3\t4\t:odd name", "0\t0\t", "from", "to", "1\t1\ttype", "-\t-\tbinary", "0\t9\t1\t2\tname", "",
	}, "\x00")
	require.Equal(t, []FileStat{
		{Path: ":odd name", Kind: Modified, Additions: 3, Deletions: 4},
		{Path: "to", OldPath: "from", Kind: Renamed},
		{Path: "type", Kind: Modified, Additions: 1, Deletions: 1},
		{Path: "binary", Kind: Created, Binary: true},
		{Path: "1\t2\tname", Kind: Deleted, Deletions: 9},
	}, parseStats([]byte(out)))
	require.Empty(t, parseStats(nil))
}

func TestParseStaged(t *testing.T) {
	t.Parallel()
	one := strings.Repeat("1", 40)
	out := "100644 " + one + " 0\ta\tb\x00160000 " + one + " 0\tmodule\x00100644 " + one + " 2\tconflict\x00" +
		"120000 " + one + " 0\tlink\x00odd\x00"
	require.Equal(t, map[string]File{"a\tb": {ModeFile, one}, "link": {ModeLink, one}}, parseStaged([]byte(out)))
}

func TestLimited(t *testing.T) {
	t.Parallel()
	l := limited{most: 5}
	n, err := l.Write([]byte("abc"))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	n, err = l.Write([]byte("def"))
	require.ErrorIs(t, err, errTooLong)
	require.Equal(t, 2, n)
	require.True(t, l.cut)
	require.Equal(t, "abcde", l.kept.String())

	l = limited{most: 100, names: 2}
	_, err = l.Write([]byte("a\x00b\x00"))
	require.NoError(t, err)
	_, err = l.Write([]byte("c\x00"))
	require.ErrorIs(t, err, errTooLong)
}

func TestWholeFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"diff --git a/x b/x\n+x\ndiff --git a/y b/y\n+": "diff --git a/x b/x\n+x\n",
		"diff --git a/x b/x\n+diff --git a/y b/y\n+":    "",
		"": "",
	} {
		require.Equal(t, want, string(wholeFiles([]byte(text))))
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	require.Equal(t, `"/a:b\"c\\d\ne"`, quote("/a:b\"c\\d\ne"))
	require.Equal(t, `a\*b\?c\[d\ e\\`, escapePattern(`a*b?c[d e\`))
}

func TestCheckPath(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", "a/b", ".gitignore", "a/.github/x", "\xff", "-", "a b\n"} {
		require.NoError(t, checkPath(good), good)
	}
	for _, bad := range []string{"", ".", "..", "../a", "/a", "a/../b", "a//b", "a/", "./a", ".git", "a/.git/b",
		".GIT/config", "a\x00"} {
		require.Error(t, checkPath(bad), bad)
	}
}

// TestEnviron requires that our git ignores the variables that configure the user's git.
func TestEnviron(t *testing.T) {
	t.Setenv("GIT_DIR", "/elsewhere")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_TRACE", "/tmp/trace")
	t.Setenv("LD_PRELOAD", "evil.so")
	seen := map[string]string{}
	for _, pair := range (git{dir: "/ours"}).environ() {
		name, value, _ := strings.Cut(pair, "=")
		seen[name] = value
	}
	require.Equal(t, "/ours", seen["GIT_DIR"])
	for _, name := range []string{"GIT_CONFIG_COUNT", "GIT_TRACE", "LD_PRELOAD", "GIT_INDEX_FILE",
		"GIT_OBJECT_DIRECTORY"} {
		require.NotContains(t, seen, name)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &TooLargeError{Root: "/w", Files: 6, MaxFiles: 5},
		"/w has more than 5 files, and is not captured")
	require.EqualError(t, &TooLargeError{Root: "/w", Bytes: 6, MaxBytes: 5},
		"a capture of /w would store 6 bytes, more than 5")
	require.EqualError(t, &ConflictError{Paths: []string{"a", "b"}},
		"these files were changed since, and are not restored: a, b")
	_, err := git{program: "/bin/false", dir: os.DevNull, work: "/"}.run(context.Background(), nil, "version")
	require.EqualError(t, err, "git version failed: exit status 1")
}
