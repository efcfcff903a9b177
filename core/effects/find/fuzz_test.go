package find_test

import (
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzIgnored holds a walk to what git itself says of two files of patterns, one at the top of
// a repository and one in the folder "in". The names are those of files, one a line, each at
// the top and in the folder.
func FuzzIgnored(f *testing.F) {
	for _, seed := range [][3]string{
		{"*.log\nbuild\n", "!keep.log\n", "a.log\nkeep.log\nbuild/x\nsrc/build/y"},
		{"/build\n/docs/*.txt\nsrc/gen\n", "/only\nsub/dir", "build\nsrc/build\ndocs/a.txt\nonly\nsub/dir/x"},
		{"out/*\n!out/keep\n", "!*\n", "out/keep\nout/other"},
		{"**/tmp\nfoo/**\na/**/z\n**", "", "tmp\nx/y/tmp\nfoo/b/c\na/z\na/b/c/z"},
		{"[ab].x\n?.y\nc[!0-9].z\n[[:alpha:]]1\n[]-]\n[a-", "[^a]\n[\\]]", "a.x\nd.y\ncc.z\nx1\n]\n-"},
		{"\\#hash\n\\!bang\n#comment\n\\ \n\\a\na\\", "a \\ \nb\t", "#hash\n!bang\n#comment\n \na\na\\\nb"},
		{"\xef\xbb\xbf*.bom\r\nout\r\n", "\xff\n[\xff]", "a.bom\nout\n\xff\nü"},
		{"a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", "***a\n**a/**/**b", strings.Repeat("a", 200) + "\naa/b"},
		{"[\n*[\n[!\n[]\n[[:alpha:]\n[\\]", "[[:x:]]\n[a", "[\na[\n[!\n[]\n[a"},
		{"a/**/\nfoo/**/b\n/**/c/", "*\n!x/\n!*/\n", "a/z\na/b/z\nfoo/b\nx/y\nd/c/e"},
		{"[*]\n[a/b]\n[!*]x\na\\/b", "a**/b\n?**/c\n**\\/d\n**//", "*\nb\nax\na/b\nax/y/b\nx/c\ne/d"},
		{"[]-a]\n[!]a]c\n[a-\\c]d\n[[:punct:]-z]e", "[[:]f\n[--/]g\n[z-a]h\n[\\]]i\n\\ j \n\x00",
			"]\nbc\nbd\n!e\n:f\n[f\n-g\n]i\n j"},
		{"first\n" + strings.Repeat("x", 1<<16) + "\nlast\n", "", "first\nlast\nother"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	home, root := f.TempDir(), f.TempDir()
	f.Fuzz(func(t *testing.T, top, in, names string) {
		t.Setenv("HOME", home)
		t.Setenv("XDG_CONFIG_HOME", "")
		require.NoError(t, os.RemoveAll(root))
		for _, dir := range []string{".git/objects", ".git/refs", "in"} { // git init, a hundred times as fast
			require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		}
		require.NoError(t, os.WriteFile(filepath.Join(root, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
		for _, name := range strings.SplitN(names, "\n", 8) {
			plant(root, name)
			plant(filepath.Join(root, "in"), name)
		}
		require.NoError(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte(top), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(root, "in", ".gitignore"), []byte(in), 0o644))
		all, answered := shownBy(t, root)
		if !answered {
			return // git needs exponential time for some patterns
		}
		want := slices.DeleteFunc(all, func(name string) bool { return name == "" })
		require.Equal(t, want, files(t, root), "%q, %q, %q", top, in, names)
	})
}

// plant makes an empty file, where the name is one and none of those that have a meaning.
func plant(dir, name string) {
	name = path.Clean("/" + name)[1:]
	for part := range strings.SplitSeq(name, "/") {
		if low := strings.ToLower(part); strings.HasPrefix(low, ".git") || low == ".ignore" {
			return
		}
	}
	if len(name) == 0 || strings.ContainsRune(name, 0) ||
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755) != nil {
		return
	}
	if file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
		_ = file.Close()
	}
}

// TestWalkTakesAnyPatterns has folders with patterns of the characters that mean something, all
// compared with git at once.
func TestWalkTakesAnyPatterns(t *testing.T) {
	root := repository(t)
	r := rand.New(rand.NewPCG(1, 2))
	word := func(longest int, alphabets ...string) string {
		alphabet := alphabets[r.IntN(len(alphabets))]
		b := make([]byte, 1+r.IntN(longest))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	for i := range 300 {
		dir := filepath.Join(root, strconv.Itoa(i))
		require.NoError(t, os.Mkdir(dir, 0o755))
		var lines string
		for range 1 + r.IntN(3) {
			lines += word(11, `aab**??[]!\/-^ #`, "a**/b", `ab-[][]]!\*:`, "a*/") + "\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(lines), 0o644))
		for range 10 {
			plant(dir, word(7, `aaabb//[]!\-^ #*`, "aab///"))
		}
	}
	require.Equal(t, shown(t, root), files(t, root))
}
