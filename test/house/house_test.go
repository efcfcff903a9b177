package house

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// houseRule is one rule. A finding names the place, the fault and the fix.
type houseRule struct {
	name string
	find func(*houseTree) []string
}

func houseRules() []houseRule {
	return []houseRule{
		{"imports", findImports},
		{"fan-out", findFanOut},
		{"libraries", findLibraries},
		{"purity", findImpurity},
		{"ports", findWidePorts},
		{"entrances", findEntrances},
		{"stored threads", findLocalFiles},
		{"package docs", findPackageDocs},
		{"exported docs", findExportedDocs},
		{"function size", findLongFunctions},
		{"file size", findLongFiles},
		{"names", findNames},
		{"init", findInit},
		{"decoders", findDecoders},
		{"transports", findTransports},
		{"variables", findVariables},
		{"goroutines", findGoroutines},
		{"turn states", findTurnStates},
		{"unclear comments", findUnclearComments},
		{"verbless comments", findVerblessComments},
		{"line width", findLongLines},
		{"gofmt", findUnformatted},
		{"script imports", findScriptImports},
		{"script cycles", findScriptCycles},
		{"script function size", findLongScriptFunctions},
		{"script file size", findLongScripts},
		{"script line width", findLongScriptLines},
		{"script docs", findScriptDocs},
		{"module state", findModuleState},
		{"state in render", findStateInRender},
		{"top level", findTopLevel},
		{"documents", findDocuments},
		{"make targets", findMakeTargets},
		{"links", findLinks},
		{"workplace", findWorkplace},
	}
}

// TestHouse checks all rules.
func TestHouse(t *testing.T) {
	tree, err := readHouse(os.DirFS(apptest.Root()))
	require.NoError(t, err)
	require.Contains(t, tree.files, "go.mod", "no repository")
	for _, line := range tree.figures() {
		t.Log(line)
	}
	for _, rule := range houseRules() {
		t.Run(rule.name, func(t *testing.T) {
			for _, finding := range rule.find(tree) {
				t.Error(finding)
			}
		})
	}
}
