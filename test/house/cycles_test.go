package house

import (
	"fmt"
	gotypes "go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"

	"appserver/test/apptest"
)

// maxTopicCycle is the maximum number of files of a package that call each other in a cycle. The largest package of
// etcd's raft has 10.
const maxTopicCycle = 15

// TestHouseTopics bounds the largest cycle of topics within each package. A file is a topic: types, their methods and
// their functions. It depends on another one if it calls a function or method that the other one declares. To name its
// types is no dependency, so that a type can stand beside its methods.
func TestHouseTopics(t *testing.T) {
	for _, p := range loadHouse(t) {
		path := strings.TrimPrefix(p.PkgPath, "appserver/")
		size := largestCycle(fileCalls(p))
		t.Logf("%s: %d of %d files", path, size, len(p.Syntax))
		if size > maxTopicCycle {
			t.Errorf("%s: %d files call each other in a cycle, %d allowed: split the package, pass what one direction calls "+
				"as parameters, or separate helpers from handlers", path, size, maxTopicCycle)
		}
	}
}

// TestHouseTypesStandBesideTheirMethods finds types all of whose methods are in another file. A type with methods in
// several files is the hub of its package, and stands where it is made.
func TestHouseTypesStandBesideTheirMethods(t *testing.T) {
	for _, p := range loadHouse(t) {
		for _, finding := range findTornTypes(p) {
			t.Error(strings.TrimPrefix(p.PkgPath, "appserver/") + ": " + finding)
		}
	}
}

func findTornTypes(p *packages.Package) (findings []string) {
	for _, name := range p.Types.Scope().Names() {
		declared, ok := p.Types.Scope().Lookup(name).(*gotypes.TypeName)
		if !ok || declared.IsAlias() {
			continue
		}
		named, ok := declared.Type().(*gotypes.Named)
		if !ok || named.NumMethods() == 0 {
			continue
		}
		home, methods := p.Fset.Position(declared.Pos()).Filename, map[string]bool{}
		for method := range named.Methods() {
			methods[p.Fset.Position(method.Pos()).Filename] = true
		}
		if other := slices.Collect(maps.Keys(methods)); len(other) == 1 && other[0] != home && !builtForOneSystem(other[0]) {
			findings = append(findings, fmt.Sprintf("type %s is in %s, and its methods are in %s: put them into one file",
				name, filepath.Base(home), filepath.Base(other[0])))
		}
	}
	return findings
}

// builtForOneSystem reports whether the name of a file selects an operating system.
func builtForOneSystem(file string) bool {
	base := strings.TrimSuffix(filepath.Base(file), ".go")
	return slices.Contains([]string{"linux", "darwin", "windows", "unix", "posix", "native", "other", "portable"},
		base[strings.LastIndex(base, "_")+1:])
}

// loadHouse returns the packages of the repository with their types. They are loaded once.
func loadHouse(t *testing.T) []*packages.Package {
	t.Helper()
	loaded, err := typedHouse()
	require.NoError(t, err)
	require.Zero(t, packages.PrintErrors(loaded))
	return loaded
}

var typedHouse = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Dir: apptest.Root(),
		Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports | packages.NeedExportFile,
	}, "./...")
})

// fileCalls returns the files of the package, each with the files that declare functions or methods which it uses.
func fileCalls(p *packages.Package) map[string][]string {
	uses := map[string]map[string]bool{}
	for _, file := range p.Syntax {
		uses[p.Fset.Position(file.FileStart).Filename] = map[string]bool{}
	}
	note := func(user string, used gotypes.Object) {
		function, ok := used.(*gotypes.Func)
		if !ok || function.Pkg() != p.Types {
			return
		}
		if name := p.Fset.Position(function.Pos()).Filename; name != user && uses[user] != nil {
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

func TestHouseCyclesAreMeasured(t *testing.T) {
	require.Equal(t, 1, largestCycle(map[string][]string{"a": {"b"}, "b": {"c"}, "c": nil}))
	require.Equal(t, 3, largestCycle(map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}}))
}
