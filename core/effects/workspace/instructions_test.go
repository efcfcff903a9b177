package workspace_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/workspace"
)

const enough = 32768

// tree returns a home folder, and a repository with a folder a/b in it.
func tree(t *testing.T) (home, root, cwd string) {
	t.Helper()
	home, root = t.TempDir(), t.TempDir()
	cwd = filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(cwd, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	return home, root, cwd
}

func TestInstructionsFromHomeThenFromTheRootDown(t *testing.T) {
	home, root, cwd := tree(t)
	want := []core.InstructionFile{
		{Path: put(t, home, "AGENTS.md", "mine\n"), Text: "mine\n"},
		{Path: put(t, root, "AGENTS.md", "root\n"), Text: "root\n"},
		{Path: put(t, cwd, "AGENTS.md", "here\n"), Text: "here\n"},
	}
	put(t, filepath.Dir(root), "AGENTS.md", "above the repository")
	put(t, filepath.Join(cwd, "c"), "AGENTS.md", "below")
	put(t, filepath.Join(root, "a"), "AGENTS.md", " \n\t\n")
	files, warnings := workspace.Instructions(workspace.InstructionOptions{Home: home, Cwd: cwd, MaxBytes: enough})
	require.Empty(t, warnings)
	require.Equal(t, want, files)

	files, _ = workspace.Instructions(workspace.InstructionOptions{Cwd: cwd, MaxBytes: enough})
	require.Equal(t, want[1:], files)
	files, _ = workspace.Instructions(workspace.InstructionOptions{Home: root, Cwd: root, MaxBytes: enough})
	require.Equal(t, want[1:2], files, "home inside the repository is not read twice")
}

func TestInstructionsOfAWorktree(t *testing.T) {
	home, root, _ := tree(t)
	put(t, root, "AGENTS.md", "the repository around it")
	worktree := filepath.Join(root, "worktree")
	put(t, worktree, ".git", "gitdir: /elsewhere\n")
	path := put(t, worktree, "AGENTS.md", "the worktree")
	cwd := filepath.Join(worktree, "sub")
	require.NoError(t, os.Mkdir(cwd, 0o700))
	files, _ := workspace.Instructions(workspace.InstructionOptions{Home: home, Cwd: cwd, MaxBytes: enough})
	require.Equal(t, []core.InstructionFile{{Path: path, Text: "the worktree"}}, files)
}

func TestInstructionsOutsideARepository(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	put(t, dir, "AGENTS.md", "parent")
	path := put(t, dir, "sub/AGENTS.md", "here")
	o := workspace.InstructionOptions{Home: home, Cwd: filepath.Join(dir, "sub"), MaxBytes: enough}
	files, warnings := workspace.Instructions(o)
	require.Equal(t, []core.InstructionFile{{Path: path, Text: "here"}}, files)
	require.Empty(t, warnings)
}

func TestInstructionsOverrideTakesThePlace(t *testing.T) {
	home, root, _ := tree(t)
	put(t, root, "AGENTS.md", "usual")
	path := put(t, root, "AGENTS.override.md", "for now")
	files, _ := workspace.Instructions(workspace.InstructionOptions{Home: home, Cwd: root, MaxBytes: enough})
	require.Equal(t, []core.InstructionFile{{Path: path, Text: "for now"}}, files)
}

// TestInstructionsNearestToTheDirectoryAreCutLast has three files of 60 bytes.
func TestInstructionsNearestToTheDirectoryAreCutLast(t *testing.T) {
	home, root, cwd := tree(t)
	mine := put(t, home, "AGENTS.md", strings.Repeat("a", 60))
	above := put(t, root, "AGENTS.md", strings.Repeat("b", 60))
	here := put(t, cwd, "AGENTS.md", strings.Repeat("c", 60))
	const mark = "\n\n[cut here: all instructions together are limited to "
	for _, c := range []struct {
		limit    int
		kept     []int // bytes of the files, or -1
		warnings []string
	}{
		{180, []int{60, 60, 60}, nil},
		{179, []int{59, 60, 60}, []string{mine + " are cut after 59 bytes"}},
		{120, []int{-1, 60, 60}, []string{mine + " are left out"}},
		{100, []int{-1, 40, 60}, []string{above + " are cut after 40 bytes", mine + " are left out"}},
		{60, []int{-1, -1, 60}, []string{above + " are left out", mine + " are left out"}},
		{10, []int{-1, -1, 10}, []string{here + " are cut after 10 bytes", above + " are left out", mine + " are left out"}},
		{0, []int{-1, -1, -1}, nil},
	} {
		o := workspace.InstructionOptions{Home: home, Cwd: cwd, MaxBytes: c.limit}
		files, warnings := workspace.Instructions(o)
		var want []core.InstructionFile
		for i, path := range []string{mine, above, here} {
			if c.kept[i] < 0 {
				continue
			}
			text := strings.Repeat(string("abc"[i]), c.kept[i])
			if c.kept[i] < 60 {
				text += mark + strconv.Itoa(c.limit) + " bytes]"
			}
			want = append(want, core.InstructionFile{Path: path, Text: text})
		}
		require.Equal(t, want, files, c.limit)
		require.Len(t, warnings, len(c.warnings))
		for i, w := range c.warnings {
			require.Contains(t, warnings[i], "instructions "+w+": project_doc_max_bytes")
		}
	}
}

func TestInstructionsOfOtherNames(t *testing.T) {
	home, root, cwd := tree(t)
	put(t, home, "CLAUDE.md", "not for all projects")
	rootFile := put(t, root, "CLAUDE.md", "root")
	put(t, filepath.Dir(cwd), "AGENTS.md", "a")
	put(t, filepath.Dir(cwd), "CLAUDE.md", "not beside AGENTS.md")
	first := put(t, cwd, "FIRST.md", "first")
	put(t, cwd, "CLAUDE.md", "second")
	put(t, root, "docs/X.md", "not in a folder")
	o := workspace.InstructionOptions{Home: home, Cwd: cwd, MaxBytes: enough,
		Fallbacks: []string{"", " FIRST.md ", "FIRST.md", "docs/X.md", `docs\X.md`, "../up", filepath.Join(root, "x"), "..", "CLAUDE.md"}}
	files, warnings := workspace.Instructions(o)
	require.Equal(t, []core.InstructionFile{{Path: rootFile, Text: "root"},
		{Path: filepath.Join(filepath.Dir(cwd), "AGENTS.md"), Text: "a"}, {Path: first, Text: "first"}}, files)
	require.Len(t, warnings, 5)
	require.Contains(t, warnings[0], `"docs/X.md" in project_doc_fallback_filenames has no effect`)
}

// TestInstructionsOfOtherNamesThroughLinks are read within the project, unless the project chose the names.
func TestInstructionsOfOtherNamesThroughLinks(t *testing.T) {
	home, root, cwd := tree(t)
	link(t, put(t, root, "docs/agents.md", "inside"), filepath.Join(root, "CLAUDE.md"))
	link(t, put(t, home, "secret", "outside"), filepath.Join(cwd, "CLAUDE.md"))
	o := workspace.InstructionOptions{Cwd: cwd, MaxBytes: enough, Fallbacks: []string{"CLAUDE.md"}}
	files, warnings := workspace.Instructions(o)
	require.Equal(t, []core.InstructionFile{{Path: filepath.Join(root, "CLAUDE.md"), Text: "inside"}}, files)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "a link leads out of")
	o.NoLinks = true
	files, warnings = workspace.Instructions(o)
	require.Empty(t, files)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[0], "a link with a name that the project chose is not followed")
}

// TestEmptyInstructionsKeepTheirPlace in projects, as in the reference implementation.
func TestEmptyInstructionsKeepTheirPlace(t *testing.T) {
	home, root, cwd := tree(t)
	mine := put(t, home, "AGENTS.md", "mine")
	put(t, root, "AGENTS.md", "off")
	for _, dir := range []string{home, root} {
		put(t, dir, "AGENTS.override.md", " \n")
	}
	put(t, cwd, "AGENTS.md", "")
	put(t, cwd, "CLAUDE.md", "off")
	files, warnings := workspace.Instructions(workspace.InstructionOptions{Home: home, Cwd: cwd, MaxBytes: enough,
		Fallbacks: []string{"CLAUDE.md"}})
	require.Equal(t, []core.InstructionFile{{Path: mine, Text: "mine"}}, files)
	require.Empty(t, warnings)
}

// TestInstructionsThatCannotBeReadGiveTheirPlace to the file with the next name.
func TestInstructionsThatCannotBeReadGiveTheirPlace(t *testing.T) {
	_, root, _ := tree(t)
	require.NoError(t, os.Mkdir(filepath.Join(root, "AGENTS.override.md"), 0o700))
	put(t, root, "AGENTS.md", "a\x00b")
	path := put(t, root, "CLAUDE.md", "read")
	files, warnings := workspace.Instructions(workspace.InstructionOptions{Cwd: root, MaxBytes: enough,
		Fallbacks: []string{"CLAUDE.md"}})
	require.Equal(t, []core.InstructionFile{{Path: path, Text: "read"}}, files)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[1], "AGENTS.md are left out: it is not text")
}

func TestInstructionsInUTF16(t *testing.T) {
	for _, text := range []string{"\xff\xfer\x00\xe9\x00\n\x00", "\xfe\xff\x00r\x00\xe9\x00\n"} {
		dir := t.TempDir()
		path := put(t, dir, "AGENTS.md", text)
		files, warnings := workspace.Instructions(workspace.InstructionOptions{Cwd: dir, MaxBytes: enough})
		require.Empty(t, warnings)
		require.Equal(t, []core.InstructionFile{{Path: path, Text: "ré\n"}}, files)
	}
	dir := t.TempDir()
	put(t, dir, "AGENTS.md", "\xff\xfe"+strings.Repeat("\x3d\xd8\x00\xde", 100))
	for limit := 1; limit < 20; limit++ {
		files, warnings := workspace.Instructions(workspace.InstructionOptions{Cwd: dir, MaxBytes: limit})
		text, _, cut := strings.Cut(files[0].Text, "\n\n[cut here")
		require.True(t, cut)
		require.Equal(t, strings.Repeat("😀", limit/4), text)
		require.Contains(t, warnings[len(warnings)-1], "are cut")
	}
}

func TestInstructionsAreCutBetweenCharacters(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "AGENTS.md", strings.Repeat("語", 10))
	for limit := 3; limit < 30; limit++ {
		files, _ := workspace.Instructions(workspace.InstructionOptions{Cwd: dir, MaxBytes: limit})
		text, _, cut := strings.Cut(files[0].Text, "\n\n[cut here")
		require.True(t, cut)
		require.Equal(t, strings.Repeat("語", limit/3), text)
	}
}

func TestInstructionsThatAreNotUTF8(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "AGENTS.md", "\xef\xbb\xbfa\xff\xfeb")
	files, warnings := workspace.Instructions(workspace.InstructionOptions{Cwd: dir, MaxBytes: enough})
	require.Equal(t, []string{"instructions " + filepath.Join(dir, "AGENTS.md") +
		" have other characters than the file: it is not UTF-8, so characters are replaced"}, warnings)
	require.Equal(t, "a\ufffd\ufffdb", files[0].Text)

	put(t, dir, "AGENTS.md", strings.Repeat("\x80", 50))
	files, _ = workspace.Instructions(workspace.InstructionOptions{Cwd: dir, MaxBytes: 10})
	require.True(t, utf8.ValidString(files[0].Text))
}

func TestInstructionsThatCannotBeReadWarn(t *testing.T) {
	home, root, cwd := tree(t)
	require.NoError(t, os.Mkdir(filepath.Join(home, "AGENTS.md"), 0o700))
	fifo := pipe(t, root, "AGENTS.md")
	link(t, "AGENTS.md", filepath.Join(cwd, "AGENTS.md"))
	good := put(t, filepath.Dir(cwd), "AGENTS.md", "good")
	files, warnings := workspace.Instructions(workspace.InstructionOptions{Home: home, Cwd: cwd, MaxBytes: enough})
	require.Equal(t, []core.InstructionFile{{Path: good, Text: "good"}}, files)
	require.Equal(t, []string{
		"instructions " + filepath.Join(home, "AGENTS.md") + " are left out: not a regular file",
		"instructions " + fifo + " are left out: not a regular file",
		"instructions " + filepath.Join(cwd, "AGENTS.md") + " are left out: too many levels of symbolic links",
	}, warnings)
}

func TestInstructionsThroughALink(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "CLAUDE.md", "shared")
	link(t, "CLAUDE.md", filepath.Join(dir, "AGENTS.md"))
	files, _ := workspace.Instructions(workspace.InstructionOptions{Cwd: dir, MaxBytes: enough})
	require.Equal(t, []core.InstructionFile{{Path: filepath.Join(dir, "AGENTS.md"), Text: "shared"}}, files)
}
