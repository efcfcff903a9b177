package house

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"appserver/test/apptest"
)

// impureImports returns packages, including their subpackages, with effects or hidden inputs.
func impureImports() map[string]string {
	return map[string]string{
		"context":     "the engine cancels effects; a step does not block",
		"crypto/rand": "ids are part of the input",
		"io/ioutil":   "the rollout and the engine access files",
		"log":         "the engine logs",
		"math/rand":   "random values are part of the input",
		"net":         "effects access the network",
		"os":          "facts about the machine are part of the input",
		"syscall":     "facts about the machine are part of the input",
	}
}

// pureImports returns exceptions to impureImports: they only parse text.
func pureImports() []string { return []string{"net/netip", "net/url"} }

// impureNames returns forbidden members of packages that are allowed otherwise.
func impureNames() map[string][]string {
	return map[string][]string{
		"path/filepath": {"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"},
		"sync":          {"Cond", "Map", "Mutex", "NewCond", "Pool", "RWMutex", "WaitGroup"},
		"time": {"After", "AfterFunc", "LoadLocation", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick",
			"Until"},
	}
}

// findImpurity checks the packages of pure floors, and all packages of ours that they import, directly or through
// others. Equal inputs must give equal results, so that a loaded thread equals the thread that ran.
func findImpurity(t *houseTree) (findings []string) {
	importer := pureImporters(t)
	for _, s := range t.product() {
		by, ok := importer[s.pkg()]
		if !ok {
			continue
		}
		for _, name := range s.imported() {
			if reason := impurity(name); reason != "" {
				findings = append(findings, fmt.Sprintf("%s imports %s, but %s is pure: %s", s.path, name, by, reason))
			}
		}
		findings = append(findings, findImpureNames(s, by)...)
	}
	return findings
}

// pureImporters returns the packages that must be pure. The value is the package of a pure floor that imports the key,
// or the key.
func pureImporters(t *houseTree) map[string]string {
	importer, packages := map[string]string{}, t.packages()
	var visit func(pkg, by string)
	visit = func(pkg, by string) {
		if importer[pkg] != "" {
			return
		}
		importer[pkg] = by
		for _, used := range oursOf(packages[pkg]) {
			if floorOf(used).pure {
				continue
			}
			visit(used, by)
		}
	}
	for _, pkg := range apptest.SortedKeys(packages) {
		if floorOf(pkg).pure {
			visit(pkg, pkg)
		}
	}
	return importer
}

func impurity(name string) string {
	if slices.Contains(pureImports(), name) {
		return ""
	}
	for root, reason := range impureImports() {
		if name == root || strings.HasPrefix(name, root+"/") {
			return reason
		}
	}
	return ""
}

func findImpureNames(s *houseSource, pure string) (findings []string) {
	ast.Inspect(s.File, func(n ast.Node) bool {
		if _, ok := n.(*ast.GoStmt); ok {
			findings = append(findings,
				fmt.Sprintf("%s: a go statement, but %s is pure: the engine starts goroutines", s.at(n), pure))
		}
		if name := impureName(s, n); name != "" {
			findings = append(findings,
				fmt.Sprintf("%s: %s, but %s is pure: take the value from the input", s.at(n), name, pure))
		}
		return true
	})
	return findings
}

// impureName returns the forbidden name that a node uses, with its package, or "".
func impureName(s *houseSource, n ast.Node) string {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return ""
	}
	for imported, names := range impureNames() {
		if s.localName(imported) == pkg.Name && slices.Contains(names, selector.Sel.Name) {
			return path.Base(imported) + "." + selector.Sel.Name
		}
	}
	return ""
}

// findLocalFiles finds assumptions of the engine that threads are files on its machine. It knows threads
// by their ids, through package rollout/store.
func findLocalFiles(t *houseTree) (findings []string) {
	for _, s := range t.product() {
		if s.pkg() != "core/engine" {
			continue
		}
		for _, name := range s.imported() {
			if name == "os" || name == "path/filepath" {
				findings = append(findings, fmt.Sprintf("%s imports %s, but the engine knows threads by id", s.path, name))
			}
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := selector.X.(*ast.Ident); ok && of.Name == "rollout" &&
					slices.Contains([]string{"Log", "NewStore", "Store"}, selector.Sel.Name) {
					findings = append(findings, fmt.Sprintf("%s: rollout.%s, but the engine knows threads by id: use rollout/store",
						s.at(n), selector.Sel.Name))
				}
			}
			return true
		})
	}
	return findings
}
