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
// table in docs/fleet.md, and prints the tests of each part.
func TestPartsThatNeedFilesAreDocumented(t *testing.T) {
	texts, tests := filesReasons(t), testsThatNeedFiles(t)
	require.Equal(t, apptest.SortedKeys(texts), apptest.SortedKeys(tests), "each part has a test")
	var want []string
	for _, name := range apptest.SortedKeys(texts) {
		want = append(want, texts[name])
		t.Logf("%s: %s", texts[name], strings.Join(tests[name], ", "))
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
		if spec, ok := n.(*ast.ValueSpec); ok {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			texts[spec.Names[0].Name] = text
		}
		return true
	})
	return texts
}

// testsThatNeedFiles returns the tests that are skipped with a database, by the constants of their parts.
func testsThatNeedFiles(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(apptest.Root("test/*/*_test.go"))
	require.NoError(t, err)
	tests := map[string][]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok {
				ast.Inspect(f, func(n ast.Node) bool {
					if part := neededPart(n); part != "" {
						tests[part] = append(tests[part], f.Name.Name)
					}
					return true
				})
			}
		}
	}
	for _, names := range tests {
		slices.Sort(names)
	}
	return tests
}

// neededPart returns the constant in a call of apptest.NeedsFiles, or "".
func neededPart(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "NeedsFiles" {
		return ""
	}
	return call.Args[1].(*ast.SelectorExpr).Sel.Name
}
