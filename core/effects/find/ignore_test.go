package find_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/find"
)

// repository returns a tree with a repository at its root.
func repository(t *testing.T, entries ...string) string {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	root := tree(t, entries...)
	initialize(t, root)
	return root
}

func initialize(t *testing.T, dir string) {
	t.Helper()
	git := exec.Command("git", "init", "-q", dir)
	git.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
	out, err := git.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// shown returns the files that git would add.
func shown(t *testing.T, root string) []string {
	t.Helper()
	names, answered := shownBy(t, root)
	require.True(t, answered, "git ends in time")
	return names
}

// gitLimit is how long git may take. It needs milliseconds for ordinary patterns.
const gitLimit = 20 * time.Second

// shownBy does the same as shown, but returns false if git does not end in time.
func shownBy(t *testing.T, root string) (names []string, answered bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), gitLimit)
	defer cancel()
	git := exec.CommandContext(ctx, "git", "-C", root, "ls-files", "--others", "--cached", "--exclude-standard", "-z")
	git.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
	out, err := git.Output()
	if ctx.Err() != nil {
		return nil, false
	}
	require.NoError(t, err)
	names = []string{}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names, true
}

// files returns the paths of a walk without the folders.
func files(t *testing.T, root string) []string {
	t.Helper()
	return slices.DeleteFunc(walked(t, root), func(name string) bool { return strings.HasSuffix(name, "/") })
}

// TestWalkIgnoresWhatGitIgnores compares with git itself.
func TestWalkIgnoresWhatGitIgnores(t *testing.T) {
	for name, entries := range map[string][]string{
		"names":        {".gitignore: *.log\nbuild\n", "a.log", "a.go", "build/x", "src/build/y", "src/a.log", "src/buildx"},
		"folders only": {".gitignore: build/\n", "build/x", "src/build", "other/build/y"},
		"anchored": {".gitignore: /build\n/docs/*.txt\nsrc/gen\n", "build", "src/build", "docs/a.txt", "docs/in/b.txt",
			"src/gen/x", "in/src/gen/y"},
		"negation":    {".gitignore: *.log\n!keep.log\n", "a.log", "keep.log", "in/keep.log", "in/b.log"},
		"shut folder": {".gitignore: out/\n!out/keep\n", "out/keep", "out/other"},
		"open folder": {".gitignore: out/*\n!out/keep\n", "out/keep", "out/other"},
		"stars": {".gitignore: **/tmp\nfoo/**\na/**/z\n", "tmp", "x/y/tmp", "foo/a", "foo/b/c", "a/z", "a/b/c/z",
			"b/z"},
		"nested": {".gitignore: *.tmp\n", "in/.gitignore: !*.tmp\n*.go\n", "a.tmp", "in/a.tmp", "in/b.go", "b.go",
			"in/deep/c.go"},
		"scoped":       {"in/.gitignore: /only\nsub/dir\n", "only", "in/only", "in/deep/only", "in/sub/dir/x", "sub/dir/x"},
		"brackets":     {".gitignore: [ab].x\n?.y\nc[!0-9].z\n", "a.x", "c.x", "d.y", "dd.y", "c1.z", "ca.z"},
		"escapes":      {".gitignore: \\#hash\n\\!bang\n#comment\n", "#hash", "!bang", "#comment"},
		"spaces":       {".gitignore: a b\nc \n", "a b", "c", "c d"},
		"crlf":         {".gitignore: *.log\r\nout\r\n", "a.log", "out", "b"},
		"hidden":       {".gitignore: .env\n", ".env", ".envrc", ".github/ci.yml"},
		"exclude file": {"secret", "a", "in/secret"},
		"everything":   {".gitignore: *\n!*.go\n!*/\n", "a.go", "b.txt", "in/c.go", "in/d.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			root := repository(t, entries...)
			if name == "exclude file" {
				grow(t, root, ".git/info/exclude: secret\n")
			}
			require.Equal(t, shown(t, root), files(t, root))
		})
	}
}

func TestWalkTakesTheUsersOwnRules(t *testing.T) {
	for _, place := range []struct{ variable, path string }{{"HOME", ".config/git/ignore"},
		{"XDG_CONFIG_HOME", "git/ignore"}} {
		t.Run(place.variable, func(t *testing.T) {
			root := repository(t, "a.swp", "a.go", ".gitignore: !kept.swp\n", "kept.swp")
			home := tree(t, place.path+": *.swp\n")
			t.Setenv(place.variable, home)
			require.Equal(t, []string{".gitignore", "a.go", "kept.swp"}, files(t, root))
			require.Equal(t, shown(t, root), files(t, root))
		})
	}
}

func TestWalkKnowsTheRulesAboveItsRoot(t *testing.T) {
	root := repository(t, ".gitignore: *.log\n/src/gen\nout/\n", "src/.gitignore: !keep.log\nlocal\n",
		"src/a.log", "src/keep.log", "src/in/a.log", "src/in/keep.log", "src/gen/x", "src/in/local", "src/in/file",
		"src/in/out/x")
	require.Equal(t, []string{"file", "keep.log"}, files(t, filepath.Join(root, "src/in")))
	require.Equal(t, []string{".gitignore", "in/file", "in/keep.log", "keep.log"}, files(t, filepath.Join(root, "src")))
}

func TestWalkOfAnIgnoredFolderFindsItsFiles(t *testing.T) {
	root := repository(t, ".gitignore: /vendor/\n", "vendor/a.go", "vendor/in/b.go")
	require.Empty(t, slices.DeleteFunc(files(t, root), func(n string) bool { return n == ".gitignore" }))
	require.Contains(t, walkedBy(find.New(), filepath.Join(root, "vendor/in")), "b.go", "who asks for it gets it")
}

func TestWalkOutsideOfARepositoryKnowsNoGitignore(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	root := tree(t, ".gitignore: *.log\n", "a.log")
	require.Equal(t, []string{".gitignore", "a.log"}, walked(t, root),
		"a .gitignore of the home folder says nothing of a project in it")
}

func TestWalkKnowsRepositoriesInside(t *testing.T) {
	root := repository(t, ".gitignore: *.log\n", "inner/.gitignore: *.tmp\n", "inner/a.log", "inner/a.tmp", "inner/a",
		"b.tmp", "b.log")
	initialize(t, filepath.Join(root, "inner"))
	require.Equal(t, []string{".gitignore", "b.tmp", "inner/.gitignore", "inner/a", "inner/a.log"}, files(t, root),
		"each has rules of its own")
}

func TestWalkLeavesGitOut(t *testing.T) {
	root := repository(t, "a", "worktree/.git: gitdir: elsewhere\n", "worktree/b", "sub/.github/c")
	require.Equal(t, []string{"a", "sub/", "sub/.github/", "sub/.github/c", "worktree/", "worktree/b"}, walked(t, root))
}

func TestWalkKnowsIgnoreFiles(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	root := tree(t, ".ignore: *.min.js\n/data/\n", "a.min.js", "a.js", "data/x", "in/data/y", "in/.ignore: !b.min.js\n",
		"in/b.min.js", "in/c.min.js")
	require.Equal(t, []string{".ignore", "a.js", "in/.ignore", "in/b.min.js", "in/data/y"}, files(t, root))
}

func TestIgnoreFilesAreStrongerThanGits(t *testing.T) {
	root := repository(t, ".gitignore: *.gen\nhidden\n", ".ignore: !*.gen\nshown\n", "a.gen", "hidden", "shown")
	require.Equal(t, []string{".gitignore", ".ignore", "a.gen"}, files(t, root))
}

func TestWalkPassesOverRulesThatAreNone(t *testing.T) {
	root := repository(t, "a", ".gitignore/dir/file", "in/.gitignore: [\n\\\n*.log\n", "in/a.log", "in/b")
	require.Equal(t, []string{".gitignore/dir/file", "a", "in/.gitignore", "in/b"}, files(t, root))

	grow(t, root, "huge/.gitignore: "+strings.Repeat("x\n", 1<<20), "huge/x")
	require.Contains(t, files(t, root), "huge/x", "what is too large is no list of rules")
}

func TestWalkKnowsRulesBelowLinks(t *testing.T) {
	outside := tree(t, "keep", "drop.log", "in/drop.log")
	root := repository(t, ".gitignore: *.log\n", "a.log")
	grow(t, root, "link -> "+outside)
	require.Equal(t, []string{".gitignore", "link/keep"}, files(t, root), "by the path that the user sees")
}
