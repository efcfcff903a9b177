package patch_test

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/patch"
)

// inUTF16 returns a text as UTF-16 with a byte order mark.
func inUTF16(order binary.AppendByteOrder, text string) string {
	b := order.AppendUint16(nil, 0xFEFF)
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// hunk returns a patch of the file f with one hunk.
func hunk(lines ...string) string {
	return wrap("*** Update File: f\n@@\n" + strings.Join(lines, "\n"))
}

func TestPatchKeepsEncodingAndLineEndings(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	for _, c := range []struct{ name, before, patch, after string }{
		{"BOM", "\uFEFFa\nb\n", hunk("-a", "+x", " b"), "\uFEFFx\nb\n"},
		{"BOM, first line inserted", "\uFEFFa\n", hunk("+x", " a"), "\uFEFFx\na\n"},
		{"BOM, first line deleted", "\uFEFFa\nb\n", hunk("-a", " b"), "\uFEFFb\n"},
		{"BOM on both sides of the patch", "\uFEFFa\n", hunk("-\uFEFFa", "+\uFEFFx"), "\uFEFFx\n"},
		{"BOM in the patch only", "a\n", hunk("-\uFEFFa", "+\uFEFFx"), "x\n"},
		{"BOM removed by the patch", "\uFEFFa\n", hunk("-\uFEFFa", "+a"), "a\n"},
		{"BOM added by the patch", "a\n", hunk("-a", "+\uFEFFa"), "\uFEFFa\n"},
		{"BOM in the line of @@", "\uFEFFa\nb\n", wrap("*** Update File: f\n@@ \uFEFFa\n-b\n+x"), "\uFEFFa\nx\n"},
		{"two BOMs", "\uFEFF\uFEFFa\nb\n", hunk("-b", "+x"), "\uFEFF\uFEFFa\nx\n"},
		{"CRLF place of a mixed file", "a\nb\r\nc\r\n", hunk(" b", "-c", "+x", "+y"), "a\nb\r\nx\r\ny\r\n"},
		{"LF place of a mixed file", "a\r\nb\nc\n", hunk("-b", "+x"), "a\r\nx\nc\n"},
		{"inserted after a CRLF line", "a\nb\r\nc\n", hunk(" b", "+x", " c"), "a\nb\r\nx\r\nc\n"},
		{"inserted before the first line", "a\r\nb\n", hunk("+x", " a"), "x\r\na\r\nb\n"},
		{"CR", "a\rb\r", hunk(" a", "-b", "+x", "+y"), "a\rx\ry\r"},
		{"CR within a line", "a\rb\nc\n", hunk("-c", "+x"), "a\rb\nx\n"},
		{"no newline", "a\nb", hunk("-b", "+x", "+y"), "a\nx\ny"},
		{"no newline, last line deleted", "a\nb", hunk("-b"), "a"},
		{"no newline, other line", "a\nb", hunk("-a", "+x"), "x\nb"},
		{"no newline, line added at the end", "a\r\nb", hunk(" b", "+x"), "a\r\nb\r\nx"},
		{"newline added", "a\nb", hunk("-b", "+b"), "a\nb\n"},
		{"newline added by a mark", "a", hunk("-a", `\ No newline at end of file`, "+x"), "x\n"},
		{"newline removed by a mark", "a\n", hunk("-a", "+x", `\ No newline at end of file`), "x"},
		{"newline missing on both sides", "a", hunk("-a", `\ No newline at end of file`, "+x",
			`\ No newline at end of file`), "x"},
		{"moved without a change", "a\nb", wrap("*** Update File: f\n*** Move to: f\n@@\n a"), "a\nb"},
		{"UTF-16", inUTF16(le, "a\r\né😀\r\n"), hunk("-é😀", "+x€"), inUTF16(le, "a\r\nx€\r\n")},
		{"UTF-16 of the other order", inUTF16(be, "a\nb"), hunk("-a", "+x"), inUTF16(be, "x\nb")},
		{"Latin-1", "caf\xe9\nb\n", hunk("-b", "+x"), "caf\xe9\nx\n"},
		{"Latin-1, line read as Latin-1", "caf\xe9\nb\n", hunk(" café", "-b", "+x"), "caf\xe9\nx\n"},
		{"Latin-1, line with U+FFFD", "caf\xe9\nb\n", hunk("-caf\uFFFD", "+x"), "x\nb\n"},
		{"Windows-1252", "\x80 5\nb\n", hunk(" € 5", "-b", "+x"), "\x80 5\nx\n"},
		{"other form of Unicode", "é 1\nb\n", hunk("-e\u0301 1", "+e\u0301 2"), "é 2\nb\n"},
		{"other form of Unicode in the file", "e\u0301 1\nb\n", hunk("-é 1", "+é 2"), "e\u0301 2\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := apply(c.patch, disk{"f": c.before})
			require.NoError(t, err)
			require.Equal(t, disk{"f": c.after}, disk{"f": c.before}.with(t, r))
			for _, change := range r.Changes {
				require.Equal(t, strings.ToValidUTF8(change.Diff, "?"), change.Diff)
			}
		})
	}
}

func TestPatchShowsOtherEncodingsAsText(t *testing.T) {
	r, err := apply(hunk("-é", "+x"), disk{"f": inUTF16(binary.LittleEndian, "é\n")})
	require.NoError(t, err)
	require.Equal(t, "@@ -1 +1 @@\n-é\n+x\n", r.Changes[0].Diff)
	r, err = apply(hunk(" café", "-b", "+x"), disk{"f": "caf\xe9\nb\n"})
	require.NoError(t, err)
	require.Equal(t, "@@ -1,2 +1,2 @@\n caf\uFFFD\n-b\n+x\n", r.Changes[0].Diff)
	r, err = apply(wrap("*** Delete File: f"), disk{"f": "caf\xe9\n"})
	require.NoError(t, err)
	require.Equal(t, "caf\uFFFD\n", r.Changes[0].Diff)
}

func TestPatchRejectsTextThatIsNotCertain(t *testing.T) {
	for _, c := range []struct{ name, before, patch, message string }{
		{"character of unknown bytes", "caf\xe9\n", hunk("-caf\uFFFD", "+café"), "the file is not UTF-8, so the bytes"},
		{"two lines of unknown bytes", "caf\xe9\ncaf\xe8\n", hunk("-caf\uFFFD", "+x"), "several times"},
		{"two lines in another form", "é\nb\né\n", hunk("-e\u0301", "+x"), "several times"},
		{"UTF-16 without a mark", inUTF16(binary.LittleEndian, "abc\n")[2:], hunk("+x"), "without a byte order mark"},
		{"UTF-16 with half a character", "\xff\xfea\x00b", hunk("+x"), "not valid UTF-16"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", hunk("+x"), "UTF-32"},
		{"binary", "\x89PNG\x00\xff!", hunk("+x"), "not text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := apply(c.patch, disk{"f": c.before})
			require.ErrorContains(t, err, c.message)
		})
	}
}

const (
	bare = "*** Update File: f\n@@\n a\n-b\n+x\n"
	full = "*** Begin Patch\n" + bare + "*** End Patch"
)

func TestPatchIsFoundInItsEnvelope(t *testing.T) {
	for name, text := range map[string]string{
		"fence":                            "```\n" + full + "\n```",
		"fence of a language":              "```diff\n\n" + full + "\n\n```\n",
		"tildes":                           "~~~patch\n" + full + "\n~~~",
		"fence without its end":            "```\n" + full,
		"end of a fence":                   full + "\n```\n",
		"here-document":                    "<<'EOF'\n" + full + "\nEOF\n",
		"here-document of another word":    "<<-\"PATCH\"\n" + full + "\nPATCH",
		"here-document without its end":    "<<EOF\n" + full,
		"command":                          "apply_patch <<'EOF'\n" + full + "\nEOF",
		"here-document in a fence":         "```bash\napply_patch <<'EOF'\n" + full + "\nEOF\n```",
		"fence in a here-document":         "<<EOF\n```\n" + full + "\n```\nEOF",
		"fence without marks":              "```\n" + bare + "```",
		"here-document without marks":      "<<EOF\n" + bare + "EOF",
		"here-document, removed line last": "<<EOF\n*** Begin Patch\n*** Update File: f\n@@\n+x\n-b\nEOF",
		"no begin":                         bare + "*** End Patch\n",
		"no end":                           "*** Begin Patch\n" + bare,
		"no marks":                         bare,
		"BOM":                              "\uFEFF" + full,
		"CRLF":                             strings.ReplaceAll(full, "\n", "\r\n"),
		"CR":                               strings.ReplaceAll(full, "\n", "\r"),
		"two patches": "*** Begin Patch\n*** Update File: f\n@@\n-b\n+y\n*** End Patch\n\n" +
			"*** Begin Patch\n*** Update File: f\n@@\n-y\n+x\n*** End Patch",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := apply(text, disk{"f": "a\nb\n"})
			require.NoError(t, err)
			require.Equal(t, "a\nx\n", *r.Files[0].After)
		})
	}
}

func TestPatchThatMayBeCutOffIsRejected(t *testing.T) {
	for name, text := range map[string]string{
		"within a line":              "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+xyz",
		"within a mark":              "*** Begin Patch\n" + bare + "*** End Pa",
		"after a removed line":       "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n",
		"before the content":         "*** Begin Patch\n*** Add File: g\n",
		"before the hunk":            "*** Begin Patch\n" + bare + "*** Update File: f\n",
		"within a counted hunk":      "*** Update File: f\n@@ -1,2 +1,3 @@\n a\n-b\n+x\n",
		"within a fence":             "```\n*** Begin Patch\n" + bare,
		"before a line like a fence": "```\n*** Begin Patch\n*** Update File: f\n@@\n-b\n ```",
		"before a line like a word":  "<<EOF\n*** Begin Patch\n*** Update File: f\n@@\n-b\n EOF",
		"within a document":          "<<'EOF'\n*** Begin Patch\n" + bare,
		"in the second patch":        full + "\n*** Begin Patch\n*** Update File: f\n@@\n-x\n",
		"text before it":             "cd sub\n" + full,
		"text after it":              full + "\nDone.\n",
		"nothing in a fence":         "```\n```",
		"nothing in a document":      "<<EOF\nEOF",
		"no name":                    "@@\n-b\n+x\n*** End Patch",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := apply(text, disk{"f": "a\nb\n"})
			var refused *patch.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, patch.Malformed, refused.Kind)
		})
	}
}

// TestCutAnswerIsNeverAppliedInPart cuts patches at each byte.
func TestCutAnswerIsNeverAppliedInPart(t *testing.T) {
	files := disk{"f": "a\nb\n", "old": "z\n"}
	for _, text := range []string{
		full,
		wrap("*** Add File: g", "+one", "+two", "*** Delete File: old", "*** Update File: f", "@@ -1,2 +1,2 @@", " a", "-b", "+x"),
		"```\n" + full + "\n```\n",
		"<<'EOF'\n" + full + "\nEOF\n",
		"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+x\n*** End Patch\n",
	} {
		p, err := patch.Parse("/repo", text, false)
		require.NoError(t, err, text)
		whole, err := p.Apply(files)
		require.NoError(t, err)
		for n := range len(text) {
			p, err := patch.Parse("/repo", text[:n], false)
			if err != nil {
				continue
			}
			r, err := p.Apply(files)
			require.NoError(t, err)
			require.Equal(t, whole, r, text[:n])
		}
	}
}

func TestUnifiedDiffsAreRead(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after disk
		patch         string
	}{
		{"numbers", disk{"f": "a\nb\n"}, disk{"f": "a\nx\n"}, wrap("*** Update File: f\n@@ -1,2 +1,2 @@\n a\n-b\n+x")},
		{"wrong numbers", disk{"f": "a\nb\n"}, disk{"f": "a\nx\n"}, wrap("*** Update File: f\n@@ -7 +7,9 @@ func f()\n-b\n+x")},
		{"numbers choose", disk{"f": "b\na\nb\n"}, disk{"f": "b\na\nx\n"}, wrap("*** Update File: f\n@@ -3 +3 @@\n-b\n+x")},
		{"a line like numbers", disk{"f": "-1 +1 @@\nb\n"}, disk{"f": "-1 +1 @@\nx\n"},
			wrap("*** Update File: f\n@@ -1 +1 @@\n-b\n+x")},
		{"at the start", disk{"f": "a\n"}, disk{"f": "x\na\n"}, wrap("*** Update File: f\n@@ -0,0 +1 @@\n+x")},
		{"at the end", disk{"f": "a\n"}, disk{"f": "a\nx\n"}, wrap("*** Update File: f\n@@ -1,0 +2 @@\n+x")},
		{"names below a header", disk{"f": "a\nb\n"}, disk{"f": "a\nx\n"},
			wrap("*** Update File: f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+x")},
		{"names with a time", disk{"f": "b\n"}, disk{"f": "x\n"},
			wrap("*** Update File: f\n--- f\t2020-01-01\n+++ f\t2020-01-02\n@@\n-b\n+x")},
		{"names for a header", disk{"d/f": "b\n", "g": "c\n"}, disk{"d/f": "x\n", "g": "y\n"},
			wrap("--- a/d/f\n+++ b/d/f\n@@ -1 +1 @@\n-b\n+x\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-c\n+y")},
		{"headers of git", disk{"f": "b\n", "g": "c\n"}, disk{"f": "x\n", "n": "y\n"},
			wrap("diff --git a/f b/f\nindex 12..34 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+x\n" +
				"diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n" +
				"diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+y")},
		{"new file", disk{}, disk{"n": "y\n"}, wrap("*** Add File: n\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+y")},
		{"new file without a newline", disk{}, disk{"n": "y"},
			wrap("*** Add File: n\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file")},
		{"lines like names", disk{"f": "-- a/f\nb\n"}, disk{"f": "++ b/f\nb\n"},
			wrap("*** Update File: f\n@@\n--- a/f\n+++ b/f\n@@\n b")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := apply(c.patch, c.before)
			require.NoError(t, err)
			require.Equal(t, c.after, c.before.with(t, r))
		})
	}
}

func TestUnifiedDiffsThatAreNotCertainAreRejected(t *testing.T) {
	files := disk{"f": "b\na\nb\n", "g": "c\n"}
	for _, c := range []struct{ name, patch, message string }{
		{"several places", wrap("*** Update File: f\n@@ -2 +2 @@\n-b\n+x"), "several times, and not at line 2"},
		{"no unchanged line", wrap("*** Update File: f\n@@ -1,0 +2 @@\n+x"), "has no line of the file"},
		{"two names", wrap("--- f\n+++ g\n@@ -1 +1 @@\n-b\n+x"), "two names"},
		{"other name of a new file", wrap("*** Add File: n\n--- /dev/null\n+++ b/o\n@@ -0,0 +1 @@\n+y"), "another name"},
		{"rest of a deleted file", wrap("--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-b\n-a"), "more lines"},
		{"forbidden name", wrap("--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-b\n+x"), ".git"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := apply(c.patch, files)
			require.ErrorContains(t, err, c.message)
		})
	}
}

// separates is set where a backslash separates folders in any name.
const separates = filepath.Separator == '\\'

func TestNamesAreCorrectedIfOneFileFits(t *testing.T) {
	update := func(name string) string { return wrap("*** Update File: " + name + "\n@@\n-b\n+x") }
	for _, c := range []struct {
		name          string
		before, after disk
		patch         string
	}{
		{"backticks", disk{"f": "b\n"}, disk{"f": "x\n"}, update("`f`")},
		{"quotes and blanks", disk{"f": "b\n"}, disk{"f": "x\n"}, update(` "f" `)},
		{"a quoted name exists", disk{"f": "b\n", "`f`": "b\n"}, disk{"f": "b\n", "`f`": "x\n"}, update("`f`")},
		{"new file in backticks", disk{}, disk{"d/n": "x\n"}, wrap("*** Add File: `d/n`\n+x")},
		{"deleted file in quotes", disk{"f": "b\n"}, disk{}, wrap("*** Delete File: 'f'")},
		{"move in backticks", disk{"f": "b\n"}, disk{"g": "x\n"}, wrap("*** Update File: `f`\n*** Move to: `g`\n@@\n-b\n+x")},
		{"backslashes", disk{"d/e/f": "b\n"}, disk{"d/e/f": "x\n"}, update(`d\e\f`)},
		{"a name with backslashes exists", disk{`d\f`: "b\n", "d/f": "b\n"}, disk{`d\f`: "x\n", "d/f": "b\n"}, update(`d\f`)},
		{"backslashes in backticks", disk{"d/f": "b\n"}, disk{"d/f": "x\n"}, update("`d\\f`")},
		{"composed", disk{"e\u0301": "b\n"}, disk{"e\u0301": "x\n"}, update("é")},
		{"decomposed", disk{"é": "b\n"}, disk{"é": "x\n"}, update("e\u0301")},
		{"both forms exist", disk{"é": "b\n", "e\u0301": "b\n"}, disk{"é": "b\n", "e\u0301": "x\n"}, update("e\u0301")},
	} {
		if separates && strings.Contains(c.name, "backslashes") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			r, err := apply(c.patch, c.before)
			require.NoError(t, err)
			require.Equal(t, c.after, c.before.with(t, r))
		})
	}
}

func TestCorrectedNamesAreChecked(t *testing.T) {
	files := disk{"a/f": "b\n", "\u212b": "b\n", "\u00c5": "b\n"}
	for _, c := range []struct{ name, patch, message string }{
		{"git in backticks", wrap("*** Add File: `.git/config`\n+x"), "the name leads into .git"},
		{"git with backslashes", wrap(`*** Add File: .git\config` + "\n+x"), "the name leads into .git"},
		{"git as the target of a move", wrap("*** Update File: a/f\n*** Move to: '.git/x'\n@@\n b"), "the name leads into .git"},
		{"new file with backslashes", wrap(`*** Add File: d\n` + "\n+x"), "the name has a backslash"},
		{"missing file with backslashes", wrap(`*** Delete File: d\n`), "does not exist"},
		{"several forms", wrap("*** Delete File: A\u030a"), "several such names"},
	} {
		if separates && strings.HasSuffix(c.name, "file with backslashes") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			_, err := apply(c.patch, files)
			require.ErrorContains(t, err, c.message)
		})
	}
}
