package patch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/patch"
	"appserver/test/sample"
)

// texts generates a text of few different lines, so that lines repeat.
func texts(newline string) *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"", "a", "b", "c", " a", "x y", "@@", "-a", "+a", "}", "*** End Patch"})
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(line, 0, 30).Draw(t, "lines")
		if len(lines) == 0 {
			return ""
		}
		return strings.Join(lines, newline) + newline
	})
}

func TestPatchOfTwoTextsTurnsTheFirstIntoTheSecond(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		before, after := texts(newline).Draw(t, "before"), texts(newline).Draw(t, "after")
		if before == "" || before == after {
			before += "only before" + newline
		}
		files := disk{"f": before}
		r, err := apply(wrap(whole(before, after)...), files)
		require.NoError(t, err)
		require.Equal(t, disk{"f": after}, files.with(t, r))
	})
}

// whole returns an update with all lines of both texts in one hunk.
func whole(before, after string) []string {
	lines := []string{"*** Update File: f", "@@"}
	old := strings.SplitAfter(before, "\n")
	at := 0
	hunks(patch.Diff(before, after), func(start int, ops []string) {
		for ; at < start; at++ {
			lines = append(lines, " "+strings.TrimRight(old[at], "\r\n"))
		}
		for _, op := range ops {
			if op[0] != '+' {
				at++
			}
			lines = append(lines, strings.TrimRight(op, "\r\n"))
		}
	})
	for ; at < len(old)-1; at++ {
		lines = append(lines, " "+strings.TrimRight(old[at], "\r\n"))
	}
	return lines
}

// hunks calls take with each hunk of a unified diff: the index of its first line in the old text,
// and its lines with their marks.
func hunks(diff string, take func(start int, ops []string)) {
	lines := strings.SplitAfter(diff, "\n")
	for len(lines) > 1 {
		header := strings.Fields(lines[0])
		from, count, counted := strings.Cut(strings.TrimPrefix(header[1], "-"), ",")
		start, err := strconv.Atoi(from)
		if err != nil {
			panic(fmt.Sprintf("no hunk header: %q", lines[0]))
		}
		if !counted || count != "0" {
			start--
		}
		n := 1
		for n < len(lines)-1 && !strings.HasPrefix(lines[n], "@@ -") {
			n++
		}
		take(start, endings(lines[1:n]))
		lines = lines[n:]
	}
}

// endings removes the newline from lines whose text does not end with one.
func endings(lines []string) (ops []string) {
	for _, l := range lines {
		if strings.HasPrefix(l, `\`) {
			ops[len(ops)-1] = strings.TrimSuffix(ops[len(ops)-1], "\n")
			continue
		}
		ops = append(ops, l)
	}
	return ops
}

// patched returns the text after a unified diff.
func patched(before, diff string) string {
	old := strings.SplitAfter(before, "\n")
	var out strings.Builder
	at := 0
	hunks(diff, func(start int, ops []string) {
		out.WriteString(strings.Join(old[at:start], ""))
		at = start
		for _, op := range ops {
			if op[0] != '-' {
				out.WriteString(op[1:])
			}
			if op[0] != '+' {
				at++
			}
		}
	})
	return out.String() + strings.Join(old[at:], "")
}

func TestDiffTurnsOneTextIntoTheOther(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		before, after := texts("\n").Draw(t, "before"), texts("\n").Draw(t, "after")
		before += rapid.SampledFrom([]string{"", "end"}).Draw(t, "end before")
		after += rapid.SampledFrom([]string{"", "end"}).Draw(t, "end after")
		require.Equal(t, after, patched(before, patch.Diff(before, after)))
	})
}

func TestGitAppliesADiff(t *testing.T) {
	long := strings.Repeat("a\nb\nc\n", 20)
	for name, c := range map[string]struct{ before, after string }{
		"two hunks":     {long, "x\n" + long[:60] + long[64:]},
		"last newline":  {"a\nb", "a\nb\n"},
		"no newline":    {"a\nb\n", "a\nc"},
		"from nothing":  {"", "a\nb\n"},
		"near changes":  {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\ny\n9\n"},
		"apart changes": {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "f")
			require.NoError(t, os.WriteFile(file, []byte(c.before), 0o600))
			git := exec.Command("git", "apply", "-")
			git.Dir = dir
			git.Stdin = strings.NewReader("--- a/f\n+++ b/f\n" + patch.Diff(c.before, c.after))
			said, err := git.CombinedOutput()
			require.NoError(t, err, string(said))
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, c.after, string(got))
		})
	}
}

func TestDiffWithTooManyEditsReplacesTheRange(t *testing.T) {
	var before, after strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&before, "old %d\nkept %d\n", i, i)
		fmt.Fprintf(&after, "new %d\nkept %d\n", i, i)
	}
	diff := patch.Diff(before.String(), after.String())
	require.Equal(t, after.String(), patched(before.String(), diff))
	require.True(t, strings.HasPrefix(diff, "@@ -1,6000 +1,6000 @@\n-old 0\n-kept 0\n-old 1\n"), diff[:60])
	require.True(t, strings.HasSuffix(diff, "+new 2999\n kept 2999\n"))
}
