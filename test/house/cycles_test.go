package house

import (
	gotypes "go/types"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"

	"appserver/test/apptest"
)

// maxFileCycle is the maximum number of files of a package that depend on each other in a cycle.
// The largest package of etcd's raft has 10.
const maxFileCycle = 15

// TestHouseFileCycles bounds the largest cycle of files within each package. A file depends on
// another if it uses an identifier that the other one declares, methods and fields included.
func TestHouseFileCycles(t *testing.T) {
	for _, p := range loadPackages(t) {
		path := strings.TrimPrefix(p.PkgPath, "appserver/")
		size := largestCycle(fileUses(p))
		t.Logf("%s: %d of %d files", path, size, len(p.Syntax))
		if size > maxFileCycle {
			t.Errorf("%s: a cycle of %d files, %d allowed: split the package, pass what one direction uses as parameters, "+
				"or separate helpers from handlers", path, size, maxFileCycle)
		}
	}
}

// typedPackages are the packages of the module with their types. They are loaded once for all rules that need types.
var typedPackages = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Dir: apptest.Root(),
		Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports | packages.NeedExportFile,
	}, "./...")
})

func loadPackages(t *testing.T) []*packages.Package {
	t.Helper()
	loaded, err := typedPackages()
	require.NoError(t, err)
	require.Zero(t, packages.PrintErrors(loaded))
	return loaded
}

// fileUses returns the files of the package, each with the other files that it uses.
func fileUses(p *packages.Package) map[string][]string {
	uses := map[string]map[string]bool{}
	for _, file := range p.Syntax {
		uses[p.Fset.Position(file.FileStart).Filename] = map[string]bool{}
	}
	note := func(user string, used gotypes.Object) {
		if used == nil || used.Pkg() != p.Types {
			return
		}
		if name := p.Fset.Position(used.Pos()).Filename; name != user && uses[user] != nil {
			uses[user][name] = true
		}
	}
	for id, used := range p.TypesInfo.Uses {
		note(p.Fset.Position(id.Pos()).Filename, used)
	}
	for selector, selection := range p.TypesInfo.Selections {
		note(p.Fset.Position(selector.Pos()).Filename, selection.Obj())
	}
	sorted := map[string][]string{}
	for user, used := range uses {
		sorted[user] = slices.Sorted(maps.Keys(used))
	}
	return sorted
}

// largestCycle returns the size of the largest strongly connected component of a graph, by
// Tarjan's algorithm; 1 if it has no cycle.
func largestCycle(uses map[string][]string) int {
	var (
		largest int
		stack   []string
		index   = map[string]int{}
		low     = map[string]int{}
		pending = map[string]bool{}
		visit   func(file string)
	)
	visit = func(file string) {
		index[file] = len(index) + 1
		low[file] = index[file]
		stack, pending[file] = append(stack, file), true
		for _, used := range uses[file] {
			if index[used] == 0 {
				visit(used)
				low[file] = min(low[file], low[used])
			} else if pending[used] {
				low[file] = min(low[file], index[used])
			}
		}
		if low[file] != index[file] {
			return
		}
		start := slices.Index(stack, file)
		for _, member := range stack[start:] {
			pending[member] = false
		}
		largest = max(largest, len(stack)-start)
		stack = stack[:start]
	}
	for _, file := range slices.Sorted(maps.Keys(uses)) {
		if index[file] == 0 {
			visit(file)
		}
	}
	return largest
}

func TestHouseFileCyclesAreMeasured(t *testing.T) {
	require.Equal(t, 1, largestCycle(map[string][]string{"a": {"b"}, "b": {"c"}, "c": nil}))
	require.Equal(t, 3, largestCycle(map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}}))
}
