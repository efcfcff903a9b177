package house

import (
	"fmt"

	"appserver/test/apptest"
)

// entrances returns the packages that only one other package imports, with that package: the entrance to their room.
func entrances() map[string]string {
	return map[string]string{
		"cmd/appserver/internal/metrics": "cmd/appserver/internal/fleet",
		"server/forward":                 "cmd/appserver/internal/fleet",
		"server/peer":                    "cmd/appserver/internal/fleet",
	}
}

// findEntrances finds imports of a package behind an entrance by others than the entrance. Tests are exempt.
func findEntrances(t *houseTree) (findings []string) {
	packages := t.productPackages()
	for _, pkg := range apptest.SortedKeys(packages) {
		for _, s := range packages[pkg] {
			for _, used := range s.ours() {
				if entrance := entrances()[used]; entrance != "" && entrance != pkg {
					findings = append(findings, fmt.Sprintf("%s imports %s: call %s, the entrance to it", s.path, used, entrance))
				}
			}
		}
	}
	return findings
}
