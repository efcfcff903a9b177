package patch_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/patch"
)

// FuzzApply checks that each patch is rejected, or lists every named file with its state before and
// after. No file is outside of the directory.
func FuzzApply(f *testing.F) {
	f.Add(wrap("*** Update File: f", "@@ a", "-b", "+x", " ", "*** End of File", "@@", "+y"), "a\nb\n\n")
	f.Add(wrap("*** Update File: f", "*** Move to: g", " a", "*** Add File: f", "+x", "*** Delete File: g"), "a\r\nb")
	f.Add(wrap("*** Add File: /repo/../repo/f", "+x", "*** Update File: ../o", "*** Move to: /repo/f", "+x"), "a")
	f.Add("<<'EOF'\n"+wrap("*** Delete File: .git/config")+"EOF", "\xff")
	f.Add("*** Update File: f\n 0\n", "\xa00")
	f.Add("```\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+\u00e9\n```", "\xff\xfea\x00")
	f.Fuzz(func(t *testing.T, text, content string) {
		files := disk{"f": content, "d/g": "“a” – b\n"}
		r, err := apply(text, files)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		files.with(t, r)
		for _, file := range r.Files {
			require.Equal(t, path.Clean(file.Path), file.Path)
			require.False(t, strings.HasPrefix(file.Path, "..") || strings.Contains("/"+file.Path+"/", "/.git/"), file.Path)
			require.False(
				t,
				strings.HasPrefix(file.Path, "/repo/"),
				"a file below the directory has its relative name: %s",
				file.Path,
			)
		}
		for _, c := range r.Changes {
			require.True(t, utf8.ValidString(c.Diff) && utf8.ValidString(c.Content))
			if c.Kind == patch.Update && files[c.Path] != "" && utf8.ValidString(files[c.Path]) {
				require.Equal(t, c.Content, patched(files[c.Path], c.Diff))
			}
		}
	})
}
