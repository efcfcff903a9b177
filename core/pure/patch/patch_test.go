package patch_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/patch"
	"appserver/test/sample"
)

// wrap returns a patch with sections.
func wrap(sections ...string) string {
	return "*** Begin Patch\n" + strings.Join(sections, "\n") + "\n*** End Patch\n"
}

func TestErrorsNameTheFileTheHunkAndTheNearestLines(t *testing.T) {
	files := disk{
		"d/f.go": "package d\n\nfunc first() {\n\treturn one\n}\n\nfunc second() {\n\treturn two\n}\n",
		"bin":    "\xff\x00\n",
	}
	for _, c := range []struct {
		name, patch string
		kind        patch.ErrorKind
		message     string
	}{
		{"second hunk", wrap("*** Update File: d/f.go", "@@", "-package d", "+package e", "@@ func second() {",
			"-\treturn three", "-}", "+}"), patch.Mismatch,
			"d/f.go, hunk 2 (line 6 of the patch): the file does not have these lines after line 7, where the previous hunk " +
				"or the @@ line ends:\n" +
				"  \treturn three\n  }\nThe nearest lines of the file are:\n  4  \treturn one\n  5  }"},
		{"similar", wrap("*** Update File: d/f.go", "@@", "-func second(x int) {", "+}"), patch.Mismatch,
			"d/f.go, hunk 1 (line 3 of the patch): the file does not have these lines:\n  func second(x int) {\n" +
				"The nearest lines of the file are:\n  7  func second() {"},
		{"context", wrap("*** Update File: d/f.go", "@@ func third() {", "-}", "+)"), patch.Mismatch,
			"d/f.go, hunk 1 (line 3 of the patch): the line after @@, \"func third() {\", is not in the file\n" +
				"The file has no similar line. Read the file again before you change it."},
		{"end", wrap("*** Update File: d/f.go", "@@", "-package d", "*** End of File"), patch.Mismatch,
			"d/f.go, hunk 1 (line 3 of the patch): the file does not have these lines at its end:\n  package d\n" +
				"The nearest lines of the file are:\n  1  package d"},
		{"missing", wrap("*** Update File: g", "@@", "+x"), patch.Missing, "g: the file to update does not exist"},
		{"deleted", wrap("*** Delete File: d/f.go", "*** Delete File: d/f.go"), patch.Missing,
			"d/f.go: the file to delete does not exist"},
		{"no text", wrap("*** Update File: bin", "@@", "+x"), patch.Missing,
			"bin: the file is not text; use a command to change it"},
		{"absolute", wrap("*** Delete File: /etc/passwd"), patch.Missing, "/etc/passwd: the file to delete does not exist"},
		{"parent", wrap("*** Delete File: a/../../b"), patch.Missing, "/b: the file to delete does not exist"},
		{"own directory", wrap("*** Add File: ../repo", "+x"), patch.Malformed,
			"line 2 of the patch: the file's name is missing"},
		{"git by an absolute name", wrap("*** Add File: /repo/x/../.git/config", "+x"), patch.Forbidden,
			"/repo/x/../.git/config: the name leads into .git, which patches do not change"},
		{"git", wrap("*** Update File: d/f.go", "*** Move to: sub/.GIT/hooks/pre-commit", "@@", "+x"), patch.Forbidden,
			"sub/.GIT/hooks/pre-commit: the name leads into .git, which patches do not change"},
		{"control", wrap("*** Add File: a\x1b[2Jb", "+x"), patch.Forbidden,
			"a\x1b[2Jb: the name has a control character in it"},
		{"directory", wrap("*** Add File: d/", "+x"), patch.Forbidden, "d/: the name is a directory name"},
		{"no name", wrap("*** Add File: .", "+x"), patch.Malformed, "line 2 of the patch: the file's name is missing"},
		{"nothing", wrap("*** Environment ID: local"), patch.Malformed, "the patch changes no file"},
		{"no header", wrap("x"), patch.Malformed, `line 2 of the patch: "x" is not a header; ` +
			`write *** Add File: NAME, *** Delete File: NAME or *** Update File: NAME`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := apply(c.patch, files)
			var refused *patch.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.kind, refused.Kind)
			require.Equal(t, c.message, err.Error())
		})
	}
}

func TestErrorTruncatesLongHunk(t *testing.T) {
	lines := []string{"*** Update File: f", "@@", "-" + strings.Repeat("ü", 300)}
	for range 20 {
		lines = append(lines, "-x")
	}
	_, err := apply(wrap(lines...), disk{"f": "a\n"})
	require.ErrorContains(t, err, strings.Repeat("ü", 100)+"…\n")
	require.ErrorContains(t, err, "  … and 9 more\n")
}

func TestEachFileIsInTheResultOnce(t *testing.T) {
	files := disk{"f": "a\nb\n", "g": "z\n"}
	for _, c := range []struct {
		name    string
		patch   string
		changes []patch.Change
	}{
		{"add", wrap("*** Add File: d/n", "+x"), []patch.Change{{Path: "d/n", Kind: patch.Add, Content: "x\n", Diff: "x\n"}}},
		{"add over a file", wrap("*** Add File: f", "+a"),
			[]patch.Change{{Path: "f", Kind: patch.Update, Content: "a\n", Diff: "@@ -1,2 +1 @@\n a\n-b\n"}}},
		{"delete", wrap("*** Delete File: f"), []patch.Change{{Path: "f", Kind: patch.Delete, Content: "a\nb\n",
			Diff: "a\nb\n"}}},
		{"update twice", wrap("*** Update File: f", "@@", "-a", "+x", "*** Update File: ./f", "@@", "-b", "+y"),
			[]patch.Change{{Path: "f", Kind: patch.Update, Content: "x\ny\n", Diff: "@@ -1,2 +1,2 @@\n-a\n-b\n+x\n+y\n"}}},
		{"add and update", wrap("*** Add File: n", "+x", "*** Update File: n", "@@", "-x", "+y"),
			[]patch.Change{{Path: "n", Kind: patch.Add, Content: "y\n", Diff: "y\n"}}},
		{"add and delete", wrap("*** Add File: n", "+x", "*** Delete File: n"), nil},
		{"delete and add", wrap("*** Delete File: f", "*** Add File: f", "+a", "+b"),
			[]patch.Change{{Path: "f", Kind: patch.Update, Content: "a\nb\n"}}},
		{"move", wrap("*** Update File: f", "*** Move to: d/m", "@@", "-a", "+x"),
			[]patch.Change{{Path: "f", Kind: patch.Update, MovePath: "d/m", Content: "x\nb\n",
				Diff: "@@ -1,2 +1,2 @@\n-a\n+x\n b\n"}}},
		{"move onto itself", wrap("*** Update File: f", "*** Move to: ./f", "@@", "-a", "+x"),
			[]patch.Change{{Path: "f", Kind: patch.Update, Content: "x\nb\n", Diff: "@@ -1,2 +1,2 @@\n-a\n+x\n b\n"}}},
		{"move on", wrap("*** Update File: f", "*** Move to: m", "@@", "-a", "+x", "*** Update File: m", "*** Move to: n",
			"@@", "-b", "+y"),
			[]patch.Change{{Path: "f", Kind: patch.Update, MovePath: "n", Content: "x\ny\n",
				Diff: "@@ -1,2 +1,2 @@\n-a\n-b\n+x\n+y\n"}}},
		{"move over a file", wrap("*** Update File: f", "*** Move to: g", "@@", " a"),
			[]patch.Change{{Path: "f", Kind: patch.Update, MovePath: "g", Content: "a\nb\n"},
				{Path: "g", Kind: patch.Delete, Content: "z\n", Diff: "z\n"}}},
		{"move there and back", wrap("*** Update File: f", "*** Move to: m", "@@", " a", "*** Update File: m",
			"*** Move to: f", "@@", "-b", "+y"),
			[]patch.Change{{Path: "f", Kind: patch.Update, Content: "a\ny\n", Diff: "@@ -1,2 +1,2 @@\n a\n-b\n+y\n"}}},
		{"swap", wrap("*** Update File: f", "*** Move to: t", "@@", " a", "*** Update File: g", "*** Move to: f", "@@", " z",
			"*** Update File: t", "*** Move to: g", "@@", " b"),
			[]patch.Change{{Path: "f", Kind: patch.Update, Content: "z\n", Diff: "@@ -1,2 +1 @@\n-a\n-b\n+z\n"},
				{Path: "g", Kind: patch.Update, Content: "a\nb\n", Diff: "@@ -1 +1,2 @@\n-z\n+a\n+b\n"}}},
		{"move and delete", wrap("*** Update File: f", "*** Move to: m", "@@", " a", "*** Delete File: m"),
			[]patch.Change{{Path: "f", Kind: patch.Delete, Content: "a\nb\n", Diff: "a\nb\n"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := apply(c.patch, files)
			require.NoError(t, err)
			require.Equal(t, c.changes, r.Changes)
			files.with(t, r)
		})
	}
}

// broken is a disk whose files cannot be read.
type broken struct{ err error }

// Read fails.
func (b broken) Read(string) (content string, exists bool, err error) { return "", false, b.err }

// List returns nothing.
func (b broken) List(string) []string { return nil }

func TestErrorsOfTheDiskNameTheFile(t *testing.T) {
	p, err := patch.Parse("/repo", wrap("*** Add File: link/f", "+x"), true)
	require.NoError(t, err)
	outside := errors.New("it leads outside")
	_, err = p.Apply(broken{outside})
	require.ErrorIs(t, err, outside)
	require.EqualError(t, err, "link/f: it leads outside")
}

// TestFilesThatRepeatThemselvesAreSearchedOnce would take minutes if the search started again at
// each line.
func TestFilesThatRepeatThemselvesAreSearchedOnce(t *testing.T) {
	const lines, kept = 300_000, 150_000
	file := disk{"f": strings.Repeat("a\n", lines) + "b\n"}
	applied := make(chan error, 2)
	var result *patch.Result
	go func() {
		var err error
		result, err = apply(wrap("*** Update File: f", "@@", strings.Repeat(" a\n", kept)+"-b"), file)
		applied <- err
		_, err = apply(wrap("*** Update File: f", "@@", strings.Repeat(" a\n", kept)+"-c"), file)
		applied <- err
	}()
	for _, problem := range []string{"", "the file does not have these lines"} {
		select {
		case err := <-applied:
			if problem == "" {
				require.NoError(t, err)
				require.True(t, *result.Files[0].After == strings.Repeat("a\n", lines))
				continue
			}
			require.ErrorContains(t, err, problem)
		case <-time.After(time.Minute):
			require.Fail(t, "the hunk is looked for still")
		}
	}
}

func TestTheFirstMatchingLinesAreChanged(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "a ", "b"})
		file, wanted := rapid.SliceOfN(line, 1, 20).Draw(t, "file"), rapid.SliceOfN(line, 1, 6).Draw(t, "wanted")
		first := -1
		for _, read := range []func(string) string{func(s string) string { return s }, strings.TrimSpace} {
			for at := 0; first < 0 && at+len(wanted) <= len(file); at++ {
				if slices.EqualFunc(file[at:at+len(wanted)], wanted, func(a, b string) bool { return read(a) == read(b) }) {
					first = at
				}
			}
		}
		result, err := apply(
			wrap("*** Update File: f", "@@", "-"+strings.Join(wanted, "\n-"), "+new"),
			disk{"f": strings.Join(file, "\n") + "\n"},
		)
		if first < 0 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		left := slices.Concat(file[:first], []string{"new"}, file[first+len(wanted):])
		require.Equal(t, strings.Join(left, "\n")+"\n", *result.Files[0].After)
	})
}
