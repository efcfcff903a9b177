package house

import (
	"fmt"
	"slices"
	"strings"

	"appserver/test/apptest"
)

// floor is a group of packages with one rule for their imports. ARCHITECTURE.md lists the floors.
type floor struct {
	name string
	// packages are the paths of the floor: a package, or a tree that ends in "/...".
	packages []string
	// imports are the names of the floors whose packages it may import.
	imports []string
	// pure floors have no files, clock, network, goroutines or randomness, also not by packages that they import.
	pure bool
	// fanOut is the maximum number of our packages that one package imports, or 0 for no limit. Those of the floors
	// protocol and platform do not count: they take the place of the vocabulary and of the standard library.
	fanOut int
	reason string
}

// floors returns all floors, from the bottom to the top.
func floors() []floor {
	return []floor{
		{"protocol", []string{"protocol"}, nil, true, 0, "every other package uses its vocabulary"},
		{"platform", []string{"platform/..."}, []string{"platform"}, false, 0,
			"it has what any program needs of systems and texts, and knows nothing of threads"},
		{"schema", []string{"schema", "schema/..."}, []string{"protocol"}, false, 6,
			"the schema depends on the vocabulary alone"},
		{"rollout", []string{"rollout", "rollout/..."}, []string{"protocol", "platform", "rollout"}, false, 6,
			"it stores lines, and does not depend on threads"},
		{"pure", []string{"core/pure/..."}, []string{"protocol", "platform", "pure"}, true, 6,
			"its packages can be read alone, and used without the machine"},
		{"machine", []string{"core"}, []string{"protocol", "platform", "pure"}, true, 14,
			"it is a pure function of its inputs; the rooms below it are its parts"},
		{"effects", []string{"core/effects/..."}, []string{"protocol", "platform", "rollout", "pure", "machine", "effects"},
			false, 6, "it does what the machine asks for, and does not depend on the engine"},
		{"engine", []string{"core/engine", "core/engine/..."},
			[]string{"protocol", "platform", "rollout", "pure", "machine", "effects", "engine"}, false, 6,
			"it runs threads, and does not depend on connections"},
		{"server", []string{"server", "server/..."}, []string{"protocol", "platform", "pure", "engine", "server"}, false, 6,
			"it transports messages; the engine has the threads, the command has files and settings"},
		{"packaging", []string{".ci/...", "deploy/...", "docs/...", "editors/...", "web", "web/..."}, []string{"protocol", "packaging"},
			false, 6, "it packs the program, or is a client of it"},
		{"command", []string{"cmd/..."}, []string{"protocol", "platform", "schema", "rollout", "pure", "machine", "effects",
			"engine", "server", "packaging", "command"}, false, 0, "it assembles the parts, so it knows all of them"},
	}
}

// floorOf returns the floor of a package, or one without a name.
func floorOf(pkg string) floor {
	for _, f := range floors() {
		for _, pattern := range f.packages {
			tree, isTree := strings.CutSuffix(pattern, "...")
			if pkg == pattern || isTree && strings.HasPrefix(pkg, tree) {
				return f
			}
		}
	}
	return floor{}
}

// productPackages returns the packages of the program, by path.
func (t *houseTree) productPackages() map[string][]*houseSource {
	packages := t.packages()
	for pkg := range packages {
		if testSupport[pkg] != "" || pkg == "test" || strings.HasPrefix(pkg, "test/") {
			delete(packages, pkg)
		}
	}
	return packages
}

// findImports checks the imports of each package against the rule of its floor. Tests are exempt.
func findImports(t *houseTree) (findings []string) {
	packages := t.productPackages()
	for _, pkg := range apptest.SortedKeys(packages) {
		on := floorOf(pkg)
		if on.name == "" {
			findings = append(findings, fmt.Sprintf("package %s is on no floor: move it below a folder of floors", pkg))
			continue
		}
		for _, s := range packages[pkg] {
			for _, used := range s.ours() {
				if !slices.Contains(on.imports, floorOf(used).name) {
					findings = append(findings, fmt.Sprintf("%s imports %s; the floor %s may import only [%s]: %s",
						s.path, used, on.name, strings.Join(on.imports, " "), on.reason))
				}
			}
		}
	}
	return findings
}

// findFanOut counts the imported packages of this module.
func findFanOut(t *houseTree) (findings []string) {
	packages := t.productPackages()
	for _, pkg := range apptest.SortedKeys(packages) {
		counted := slices.DeleteFunc(oursOf(packages[pkg]), func(used string) bool {
			return slices.Contains([]string{"protocol", "platform"}, floorOf(used).name)
		})
		if limit := floorOf(pkg).fanOut; limit > 0 && len(counted) > limit {
			findings = append(findings,
				fmt.Sprintf("package %s imports %d of our packages, more than %d: split it", pkg, len(counted), limit))
		}
	}
	return findings
}

func oursOf(files []*houseSource) []string {
	var names []string
	for _, s := range files {
		names = append(names, s.ours()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
