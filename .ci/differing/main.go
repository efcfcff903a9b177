// Command differing prints the tests that `make test-all` runs differently from `make test`: those that reach, in the
// test files of their package, a function that asks for the kind of the run. The first line has their packages, the
// second one their names as a pattern for go test, without a dollar sign, which make would expand.
//
// Run it in the root of the repository. Functions and methods are followed by their names, so a test may be printed
// that does not differ.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// asking are the functions that ask for the kind of the run, and packages whose tests are repeated in each kind.
var asking = []string{"sample.Long", "sample.Stride", "testing.Short", "apptest.OnBothWires", "fleettest.", "storetest."}

// apart has tests with a section of their own.
const apart = "test/release"

func main() {
	packages, names, err := differing(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "differing:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(packages, " "))
	fmt.Printf("^(%s)\n", strings.Join(names, "|"))
}

// differing returns the packages and the names of the tests, sorted.
func differing(root string) (packages, names []string, err error) {
	files := map[string][]string{}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") && filepath.ToSlash(filepath.Dir(path)) != apart {
			files[filepath.Dir(path)] = append(files[filepath.Dir(path)], path)
		}
		return err
	})
	found := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		tests, failed := testsOf(files[dir])
		if failed != nil {
			return nil, nil, failed
		}
		if len(tests) > 0 {
			packages = append(packages, "./"+filepath.ToSlash(dir))
		}
		for _, name := range tests {
			found[name] = true
		}
	}
	return packages, slices.Sorted(maps.Keys(found)), err
}

// testsOf returns the tests in the test files of a package that reach an asking function.
func testsOf(files []string) (tests []string, err error) {
	uses := map[string]map[string]bool{} // by the names of functions and methods
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				used := usedBy(fn.Body)
				maps.Copy(used, uses[fn.Name.Name])
				uses[fn.Name.Name] = used
			}
		}
	}
	reach := map[string]bool{}
	for grew := true; grew; {
		grew = false
		for name, used := range uses {
			if reach[name] || name == "TestMain" {
				continue
			}
			for use := range used {
				if asks(use) || reach[use] {
					reach[name], grew = true, true
					break
				}
			}
		}
	}
	for name := range reach {
		if strings.HasPrefix(name, "Test") {
			tests = append(tests, name)
		}
	}
	return tests, nil
}

// usedBy returns the names that a body uses: those of functions and methods, and those of other packages with the
// package.
func usedBy(body ast.Node) map[string]bool {
	used := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			used[n.Name] = true
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok {
				used[of.Name+"."+n.Sel.Name] = true
			}
		}
		return true
	})
	return used
}

// asks reports whether a use is one of an asking function.
func asks(use string) bool {
	return slices.ContainsFunc(asking, func(a string) bool {
		return use == a || strings.HasSuffix(a, ".") && strings.HasPrefix(use, a)
	})
}
