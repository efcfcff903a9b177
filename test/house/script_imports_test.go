package house

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"appserver/test/apptest"
)

// scriptRule lists the folders and files whose scripts a script of a folder may import, and the libraries, with the
// reason. Tests are exempt. A folder contains its scripts, and not those of folders in it.
type scriptRule struct {
	folder    string
	may       []string
	libraries []string
	reason    string
}

func scriptRules() []scriptRule {
	return []scriptRule{
		{"web/src/lib", nil, []string{"preact", "marked", "diff", "highlight.js"},
			"it computes with values and shows them, and knows neither messages nor the state of the page"},
		{"web/src/wire", []string{"schema/ts"}, []string{"@preact/signals"},
			"it has the messages and the connection, and no state of threads"},
		{"web/src/store", []string{"web/src/lib", "web/src/wire"}, []string{"@preact/signals"},
			"it is the state of the page, and runs in tests without a page"},
		{"web/src/view", []string{"web/src/lib", "web/src/wire", "web/src/store"}, []string{"preact", "@preact/signals"},
			"it shows the state, and has none that outlives what is shown"},
		{"web/src", []string{"web/src/store", "web/src/view", "web/src/wire"}, []string{"preact"}, "it starts the page"},
		{"editors/vscode/src", []string{"schema/ts", "web/src/lib", "web/src/wire"}, []string{"vscode", "node"},
			"it starts the server and shows the page, and shares messages and the forms of values with it"},
	}
}

// findScriptImports checks each script against the rule of its folder.
func findScriptImports(t *houseTree) (findings []string) {
	for _, s := range t.productScripts() {
		at := slices.IndexFunc(scriptRules(), func(r scriptRule) bool { return r.folder == path.Dir(s.path) })
		if at < 0 {
			findings = append(findings, fmt.Sprintf("%s: folder %s has no import rule: add one with its reason to scriptRules",
				s.path, path.Dir(s.path)))
			continue
		}
		for _, i := range s.imports() {
			if finding := scriptRules()[at].check(s, i); finding != "" {
				findings = append(findings, fmt.Sprintf("%s:%d: %s", s.path, i.line, finding))
			}
		}
	}
	return append(findings, findComponentsInStores(t)...)
}

// check returns why a script of the folder may not have an import, or "".
func (r scriptRule) check(s *script, i scriptImport) string {
	if imported := i.file(s); imported != "" {
		if folder := path.Dir(imported); folder != r.folder && !slices.Contains(r.may, folder) {
			return fmt.Sprintf("it imports %s; of our scripts, %s may import only those of [%s]: %s",
				imported, r.folder, strings.Join(append(r.may, r.folder), " "), r.reason)
		}
		return ""
	}
	for _, library := range r.libraries {
		if i.name == library || strings.HasPrefix(i.name, library+"/") || strings.HasPrefix(i.name, library+":") {
			return ""
		}
	}
	return fmt.Sprintf("it imports the library %s; %s may import only [%s]: %s",
		i.name, r.folder, strings.Join(r.libraries, " "), r.reason)
}

// findComponentsInStores finds stores that import components. Those are in .tsx files and need a page.
func findComponentsInStores(t *houseTree) (findings []string) {
	for _, s := range t.productScripts() {
		for _, i := range s.imports() {
			if path.Dir(s.path) == "web/src/store" && path.Ext(i.name) == ".tsx" {
				findings = append(findings, fmt.Sprintf("%s:%d: it imports components of %s, but a store runs without a page: "+
					"move what it needs to a .ts file", s.path, i.line, i.name))
			}
		}
	}
	return findings
}

// findScriptCycles finds scripts that import each other in a cycle. Imports of types and calls of import() count.
func findScriptCycles(t *houseTree) (findings []string) {
	imports := map[string][]string{}
	for _, s := range t.productScripts() {
		imports[s.path] = nil
		for _, i := range s.imports() {
			if name := i.file(s); name != "" && name != s.path {
				imports[s.path] = append(imports[s.path], name)
			}
		}
	}
	for {
		cycle := findCycle(imports)
		if len(cycle) == 0 {
			return findings
		}
		findings = append(findings, fmt.Sprintf("%s is a cycle of imports: move what both need to a file of its own, "+
			"or pass it as a parameter", strings.Join(append(cycle, cycle[0]), " → ")))
		imports[cycle[len(cycle)-1]] = without(imports[cycle[len(cycle)-1]], cycle[0]) // the next cycle is another one
	}
}

// findCycle returns the nodes of a cycle of a graph, each with an edge to the next one and the last one to the
// first, or nil. A search in depth follows the nodes and edges in order.
func findCycle(uses map[string][]string) []string {
	done := map[string]bool{}
	var visit func(path []string) []string
	visit = func(path []string) []string {
		node := path[len(path)-1]
		if at := slices.Index(path, node); at < len(path)-1 {
			return path[at : len(path)-1]
		}
		if done[node] {
			return nil
		}
		for _, used := range uses[node] {
			if cycle := visit(append(slices.Clone(path), used)); cycle != nil {
				return cycle
			}
		}
		done[node] = true
		return nil
	}
	for _, node := range apptest.SortedKeys(uses) {
		if cycle := visit([]string{node}); cycle != nil {
			return cycle
		}
	}
	return nil
}

func without(list []string, value string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == value })
}
