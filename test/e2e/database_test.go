package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestPartsThatNeedFilesAreDocumented compares the parts for which tests are skipped with a database with the
// table in docs/fleet.md.
func TestPartsThatNeedFilesAreDocumented(t *testing.T) {
	texts := filesReasons(t)
	require.ElementsMatch(t, apptest.SortedKeys(texts), partsOfTests(t), "each part has a test")
	var want []string
	for _, name := range apptest.SortedKeys(texts) {
		want = append(want, texts[name])
	}
	doc, err := os.ReadFile(apptest.Root("docs/fleet.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(doc), "| only with files | with a database |\n| --- | --- |\n")
	require.True(t, found, "docs/fleet.md has the table")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for row := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		documented = append(documented, cell)
	}
	require.ElementsMatch(t, want, documented)
}

// filesReasons returns the texts of the parts that need files, by the names of their constants.
func filesReasons(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), apptest.Root("test/apptest/needsfiles.go"), nil, 0)
	require.NoError(t, err)
	texts := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Files") {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			texts[spec.Names[0].Name] = text
		}
		return true
	})
	return texts
}

// partsOfTests returns the constants of the parts for which tests are skipped with a database.
func partsOfTests(t *testing.T) (parts []string) {
	t.Helper()
	for _, pattern := range []string{"test/*/*_test.go", "cmd/*/internal/*/*_test.go"} {
		paths, err := filepath.Glob(apptest.Root(pattern))
		require.NoError(t, err)
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if part := partIn(n); part != "" && !slices.Contains(parts, part) {
					parts = append(parts, part)
				}
				return true
			})
		}
	}
	return parts
}

// partIn returns the name in apptest.FilesNAME, or "".
func partIn(n ast.Node) string {
	s, ok := n.(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(s.Sel.Name, "Files") || s.Sel.Name == "FilesReason" {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); !ok || x.Name != "apptest" {
		return ""
	}
	return s.Sel.Name
}
