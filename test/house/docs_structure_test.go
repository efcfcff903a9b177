package house

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestDocsGlossaryDefinesOnce requires one definition per word.
func TestDocsGlossaryDefinesOnce(t *testing.T) {
	text, err := os.ReadFile(apptest.Root("docs/glossary.md"))
	require.NoError(t, err)
	defined := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 2 || cells[0] == "| word" || strings.HasPrefix(cells[0], "| ---") {
			continue
		}
		word := strings.TrimPrefix(cells[0], "| ")
		require.False(t, defined[word], "docs/glossary.md defines %q twice", word)
		defined[word] = true
	}
	require.NotEmpty(t, defined)
}

// TestDocsArchitectureIsComplete requires a short document that names every package and every
// decision.
func TestDocsArchitectureIsComplete(t *testing.T) {
	text, err := os.ReadFile(apptest.Root("ARCHITECTURE.md"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 150)
	_, rest, found := strings.Cut(string(text), "## The tree\n")
	require.True(t, found)
	listed, _, _ := strings.Cut(rest, "\n## ")
	words := strings.FieldsFunc(listed, func(r rune) bool { return strings.ContainsRune(" ,;\n", r) })
	tree, err := readHouse(os.DirFS(apptest.Root()))
	require.NoError(t, err)
	for pkg := range tree.productPackages() {
		require.True(t, slices.Contains(words, pkg) || slices.Contains(words, filepath.Base(pkg)), "ARCHITECTURE.md does not name package %s: add it to the tree", pkg)
	}
	for _, f := range floors() {
		require.Contains(t, string(text), "| "+f.name+" ", "ARCHITECTURE.md has no row for the floor %s", f.name)
	}
	for _, path := range decisionPaths(t) {
		require.Contains(t, string(text), "docs/adr/"+filepath.Base(path))
	}
}

// TestDocsDecisionsHaveReasons requires the four parts of each decision.
func TestDocsDecisionsHaveReasons(t *testing.T) {
	for _, path := range decisionPaths(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, part := range []string{"Context", "Decision", "Consequences", "Rejected"} {
			require.Contains(t, string(text), "\n## "+part+"\n", path)
		}
		require.True(t, strings.HasPrefix(string(text), "# "+filepath.Base(path)[:3]+": "), path)
	}
}

func decisionPaths(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(apptest.Root("docs/adr/*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

// TestDocsAreLinked requires a link from another document to each page of docs.
func TestDocsAreLinked(t *testing.T) {
	var all strings.Builder
	for _, pattern := range []string{apptest.Root("*.md"), apptest.Root("docs/*.md")} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all.WriteString(strings.ReplaceAll(string(text), "](docs/", "]("))
		}
	}
	pages, err := filepath.Glob(apptest.Root("docs/*.md"))
	require.NoError(t, err)
	for _, page := range pages {
		require.Contains(t, all.String(), "]("+filepath.Base(page), "no document links to %s", page)
	}
}
