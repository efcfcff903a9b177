package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"slices"
	"strings"

	"appserver/test/apptest"
)

// bannedNames say where code was put, not what it does.
func bannedNames() []string {
	return []string{"base", "common", "helper", "helpers", "manager", "misc", "types", "util", "utils"}
}

// findNames looks at the names of packages and of Go files, word by word.
func findNames(t *houseTree) (findings []string) {
	for _, s := range t.sources {
		words := strings.FieldsFunc(strings.TrimSuffix(s.path, ".go")+"/"+s.Name.Name, func(r rune) bool {
			return strings.ContainsRune("/_-.", r)
		})
		for _, banned := range bannedNames() {
			if slices.Contains(words, banned) {
				findings = append(findings, fmt.Sprintf("%s: the name %q says nothing: name it after what it does", s.path, banned))
			}
		}
	}
	return findings
}

func findInit(t *houseTree) (findings []string) {
	for _, s := range t.sources {
		for _, f := range s.functions() {
			if f.Recv == nil && f.Name.Name == "init" {
				findings = append(findings,
					fmt.Sprintf("%s: func init runs where nobody calls it: call it from where it is needed", s.at(f)))
			}
		}
	}
	return findings
}

// looseDecoders are the files that may call json.Unmarshal or json.NewDecoder, each with its
// reason. They take names of members in any case.
func looseDecoders() map[string]string {
	return map[string]string{
		"core/config/override.go":      "decodes a value without structs, for its numbers",
		"core/model/chat/wire.go":      "decodes what the library wrote, without structs",
		"core/model/offline/script.go": "names the line of a mistake, before the exact decoder",
		"docs/demo/client.go":          "imports nothing of ours",
		"rollout/redactcopy.go":        "takes secrets out of names in any case",
		"schema/conform/node.go":       "reads schemas of the reference implementation",
		"schema/conform/schemas.go":    "reads schemas of the reference implementation",
		"schema/conform/transcript.go": "reads transcripts of tests",
		"server/envelope.go":           "words a mistake, without structs",
		"server/stream.go":             "hands the library a message of ours",
	}
}

// findDecoders looks for decoders that do not look at the case of names.
func findDecoders(t *houseTree) (findings []string) {
	for _, s := range t.product() {
		if looseDecoders()[s.path] != "" || strings.Contains(s.path, "testdata/") {
			continue
		}
		ast.Inspect(s.File, func(node ast.Node) bool {
			f, ok := node.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "Unmarshal" && f.Sel.Name != "NewDecoder" {
				return true
			}
			if pkg, ok := f.X.(*ast.Ident); ok && pkg.Name == "json" {
				findings = append(findings,
					fmt.Sprintf("%s: json.%s takes names in any case: call protocol.Unmarshal", s.at(f), f.Sel.Name))
			}
			return true
		})
	}
	return findings
}

// allowedVariables are package variables beyond sentinels and constant tables, as
// PACKAGE.NAME, each with its reason.
func allowedVariables() map[string]string {
	return map[string]string{
		"core/command.gitLogFlags":          "a constant table, put together from two lists",
		"core/config.idleKeys":              "a constant table, put together from two lists",
		"core/export.style":                 "a constant, kept in a file",
		"core/model/responses.patchGrammar": "a constant, kept in a file",
		"protocol.exactNames":               "a constant, put together from two sets of options",
	}
}

// allowedCalls are the functions whose results may be package variables: they give
// constants that Go has no literal for.
func allowedCalls() []string {
	return []string{"errors.New", "fmt.Errorf", "regexp.MustCompile", "reflect.TypeFor", "strings.Fields", "newVariants"}
}

func findVariables(t *houseTree) (findings []string) {
	seen := map[string]bool{}
	for _, s := range t.product() {
		for _, v := range s.variables() {
			for _, name := range v.Names {
				key := s.pkg() + "." + name.Name
				seen[key] = true
				if !isConstant(v) && allowedVariables()[key] == "" {
					findings = append(findings, fmt.Sprintf("%s: package variable %s is no sentinel and no constant table: "+
						"pass it on, or add it with its reason to allowedVariables", s.at(v), name.Name))
				}
			}
		}
	}
	for _, key := range apptest.SortedKeys(allowedVariables()) {
		if !seen[key] {
			findings = append(findings, fmt.Sprintf("allowedVariables names %s, which does not exist: drop the row", key))
		}
	}
	return findings
}

func (s *houseSource) variables() []*ast.ValueSpec {
	var list []*ast.ValueSpec
	for _, d := range s.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			if v := spec.(*ast.ValueSpec); v.Names[0].Name != "_" {
				list = append(list, v)
			}
		}
	}
	return list
}

// isConstant is true where a variable holds a literal, embedded files, or what one
// of the allowed calls gives.
func isConstant(v *ast.ValueSpec) bool {
	if len(v.Values) == 0 {
		return v.Type != nil && exprName(v.Type) == "embed.FS"
	}
	return !slices.ContainsFunc(v.Values, func(e ast.Expr) bool { return !isConstantExpr(e) })
}

func isConstantExpr(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		if _, conversion := e.Fun.(*ast.ArrayType); conversion {
			return true
		}
		return slices.Contains(allowedCalls(), exprName(e.Fun))
	}
	return false
}

// exprName is the name of a function or type without type arguments: newVariants,
// errors.New.
func exprName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return exprName(e.X) + "." + e.Sel.Name
	case *ast.IndexExpr:
		return exprName(e.X)
	case *ast.IndexListExpr:
		return exprName(e.X)
	}
	return ""
}

// maxGoroutines is how many places per 1,000 lines may start a goroutine.
const maxGoroutines = 2.0

// goroutineFiles are the files that start goroutines. The package docs tell what
// each does, what it may block on, and who ends it.
func goroutineFiles() map[string]string {
	return map[string]string{
		"cmd/appserver/announce.go":   "runs a program of notify to its end, and waits for those that run when the server ends",
		"cmd/appserver/memory.go":     "closes the memory, which may take long",
		"cmd/appserver/parent.go":     "waits for the parent's end",
		"cmd/appserver/skillwatch.go": "looks at skill files until the server ends",
		"cmd/appserver/serve.go":      "serves while the command waits for a reason to end",
		"core/codeindex/index.go":     "looks at a repository, again and again",
		"core/engine/dispatch.go":     "runs threads; waits for them at the end",
		"core/engine/effects.go":      "loads the tokenizer, and writes to terminals",
		"core/engine/engine.go":       "reads threads that are not loaded, and ends calls with the engine",
		"core/engine/launch.go":       "runs an effect, and posts its end",
		"core/engine/worktree.go":     "creates and deletes checkpoints in the background, and watches commands that outlive their turn",
		"core/engine/retain.go":       "removes old threads, again and again",
		"core/engine/threadmemory.go": "stores removed items, also of unloaded threads",
		"core/engine/servers.go":      "waits for answers of MCP servers to clients",
		"core/find/match.go":          "compares a part of the paths",
		"core/find/walk.go":           "reads directories",
		"core/host/host.go":           "does what a connection asked for, and waits for the end of all that",
		"core/mcp/call.go":            "hands on what a call says, for which the library would wait",
		"core/mcp/pool.go":            "keeps connections, and waits for their ends",
		"core/mcp/server.go":          "waits for the end of a session",
		"core/tool/connect.go":        "waits for a program's end, and hears its complaints",
		"core/memory/embed.go":        "makes vectors while some are missing, and one of a question",
		"core/memory/shelf.go":        "compares vectors, which may have to be read first",
		"core/model/modelcache.go":    "asks a provider for its models",
		"core/tool/execlinux.go":      "hands a stream of a command's output on",
		"core/tool/run.go":            "hands a command's output on",
		"core/tool/start.go":          "waits for a command's end",
		"core/tool/supervise.go":      "takes the exits of a command's orphans",
		"docs/demo/client.go":         "reads what the server says",
		"rollout/index/index.go":      "waits for a sweep's end, for as long as it may",
		"rollout/index/sweep.go":      "looks at every file, while lists are answered",
		"rollout/disk/open.go":        "reads and parses parts of a large file at once",
		"rollout/span.go":             "reads the next part of a file while the lines of one are handled",
		"cmd/appserver/proxy.go":      "hands on what comes in, while what comes back is handed on",
		"server/conn.go":              "writes what is said to the client",
		"server/message.go":           "waits for the client's answer",
		"server/stderr.go":            "writes the log, so that nobody waits for whoever reads it",
	}
}

func findGoroutines(t *houseTree) (findings []string) {
	starts, lines := map[string]int{}, 0
	total := 0
	for _, s := range t.product() {
		lines += s.lines()
		if n := s.goroutines(); n > 0 {
			starts[s.path] = n
			total += n
		}
	}
	for _, file := range apptest.SortedKeys(starts) {
		if goroutineFiles()[file] == "" {
			findings = append(findings,
				fmt.Sprintf("%s starts goroutines: add it with what they do to goroutineFiles, or let the caller start them", file))
		}
	}
	for _, file := range apptest.SortedKeys(goroutineFiles()) {
		if starts[file] == 0 {
			findings = append(findings, fmt.Sprintf("goroutineFiles names %s, which starts none: drop the row", file))
		}
	}
	if rate := perThousand(total, lines); rate > maxGoroutines {
		findings = append(findings,
			fmt.Sprintf("goroutines are started in %.1f places per 1,000 lines, more than %.0f", rate, maxGoroutines))
	}
	return append(findings, findCensus(t, starts)...)
}

// findCensus looks for the census of goroutines in the docs of packages that start
// some.
func findCensus(t *houseTree, starts map[string]int) (findings []string) {
	packages := t.packages()
	for _, pkg := range apptest.SortedKeys(packages) {
		started := slices.ContainsFunc(packages[pkg], func(s *houseSource) bool { return starts[s.path] > 0 })
		if started && !strings.Contains(strings.ToLower(packageDoc(packages[pkg])), "goroutine") {
			findings = append(findings, fmt.Sprintf("package %s starts goroutines, and its package doc has no census of them: "+
				"say what each does, what it may block on and who ends it", pkg))
		}
	}
	return findings
}

// goroutines counts go statements, and calls of Go on groups.
func (s *houseSource) goroutines() (n int) {
	ast.Inspect(s.File, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			n++
		case *ast.CallExpr:
			if f, ok := node.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" {
				n++
			}
		}
		return true
	})
	return n
}

func perThousand(n, lines int) float64 { return float64(n) * 1000 / float64(max(lines, 1)) }

// findUnformatted looks at tests and generated files too.
func findUnformatted(t *houseTree) (findings []string) {
	for _, s := range t.sources {
		formatted, err := format.Source(s.text)
		if err != nil || !bytes.Equal(formatted, s.text) {
			findings = append(findings, fmt.Sprintf("%s is not formatted: run gofmt -w %s", s.path, s.path))
		}
	}
	return findings
}
