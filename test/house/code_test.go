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

// bannedNames returns names that describe a place for code instead of its purpose.
func bannedNames() []string {
	return []string{"base", "common", "helper", "helpers", "manager", "misc", "types", "util", "utils"}
}

// findNames checks each word in the names of packages and Go files.
func findNames(t *houseTree) (findings []string) {
	for _, s := range t.sources {
		words := strings.FieldsFunc(strings.TrimSuffix(s.path, ".go")+"/"+s.Name.Name, func(r rune) bool {
			return strings.ContainsRune("/_-.", r)
		})
		for _, banned := range bannedNames() {
			if slices.Contains(words, banned) {
				findings = append(findings,
					fmt.Sprintf("%s: the name %q has no meaning: name it after its purpose", s.path, banned))
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
					fmt.Sprintf("%s: func init has no visible caller: use a function that is called", s.at(f)))
			}
		}
	}
	return findings
}

// looseDecoders returns the files that may call json.Unmarshal or json.NewDecoder, with the reason.
// Those functions match member names in any case.
func looseDecoders() map[string]string {
	return map[string]string{
		"core/effects/config/override.go":      "decodes a value without structs, to keep its numbers",
		"core/effects/model/chat/openai.go":    "decodes the library's output without structs",
		"core/effects/model/offline/script.go": "reports the line of an error, before the exact decoder runs",
		"docs/demo/session/client.go":          "imports none of our packages",
		"rollout/redactcopy.go":                "removes secrets from members with names in any case",
		"schema/conform/node.go":               "reads schemas of the reference implementation",
		"schema/conform/schemas.go":            "reads schemas of the reference implementation",
		"schema/conform/transcript.go":         "reads transcripts of tests",
		"server/envelope.go":                   "describes an invalid message, without structs",
		"server/stream.go":                     "passes our message to the library",
	}
}

// findDecoders finds decoders that ignore the case of member names.
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
					fmt.Sprintf("%s: json.%s matches names in any case: call protocol.Unmarshal", s.at(f), f.Sel.Name))
			}
			return true
		})
	}
	return findings
}

// findTransports finds transports of HTTP that do not come from platform/httpclient. They would ignore the variables
// for certificates and proxies.
func findTransports(t *houseTree) (findings []string) {
	for _, s := range t.product() {
		if s.pkg() == "platform/httpclient" || strings.HasPrefix(s.pkg(), "test/") || strings.Contains(s.path, "testdata/") {
			continue
		}
		ast.Inspect(s.File, func(node ast.Node) bool {
			literal, ok := node.(*ast.CompositeLit)
			if !ok {
				return true
			}
			made, ok := literal.Type.(*ast.SelectorExpr)
			if ok && made.Sel.Name == "Transport" {
				if pkg, ok := made.X.(*ast.Ident); ok && pkg.Name == "http" {
					findings = append(findings, fmt.Sprintf("%s: http.Transport: call platform/httpclient", s.at(literal)))
				}
			}
			return true
		})
	}
	return findings
}

// allowedVariables returns the package variables, as PACKAGE.NAME, that are neither sentinels nor
// constant tables, with the reason.
func allowedVariables() map[string]string {
	return map[string]string{
		"cmd/appserver/internal/app.Version":        "a constant that the linker sets for a release",
		"core/effects/config.ignoredKeys":           "a constant table, joined from two lists",
		"core/pure/export.style":                    "a constant in an embedded file",
		"core/effects/model/responses.patchGrammar": "a constant in an embedded file",
		"core/effects/token.cl100kTokens":           "a constant in an embedded file",
		"core/effects/token.o200kTokens":            "a constant in an embedded file",
		"core/effects/modeltable.packed":            "a constant in an embedded file",
		"schema.packedBundle":                       "a constant in an embedded file",
		"schema.messages":                           "a constant in an embedded file",
		"schema.packedTypeScript":                   "a constant in an embedded file",
		"protocol.exactNames":                       "a constant, joined from two sets of options",
	}
}

// allowedCalls returns the functions whose results may be package variables. Go has no literal for such
// constants.
func allowedCalls() []string {
	return []string{"errors.New", "fmt.Errorf", "pattern.New", "pattern.AnyOf", "regexp.MustCompile", "reflect.TypeFor", "strings.Fields",
		"sync.OnceValue", "newVariants"}
}

func findVariables(t *houseTree) (findings []string) {
	seen := map[string]bool{}
	for _, s := range t.product() {
		for _, v := range s.variables() {
			for _, name := range v.Names {
				key := s.pkg() + "." + name.Name
				seen[key] = true
				if !isConstant(v) && allowedVariables()[key] == "" {
					findings = append(findings, fmt.Sprintf("%s: package variable %s is neither a sentinel nor a constant table: "+
						"pass it as a parameter, or add it with the reason to allowedVariables", s.at(v), name.Name))
				}
			}
		}
	}
	for _, key := range apptest.SortedKeys(allowedVariables()) {
		if !seen[key] {
			findings = append(findings, fmt.Sprintf("allowedVariables names %s, which does not exist: remove the row", key))
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

// isConstant reports whether a variable holds a literal, embedded files, or the result of an
// allowed call.
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

// exprName returns the name of a function or type without type arguments, for example newVariants
// or errors.New.
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

// goroutineFiles returns the files that start goroutines, with the purpose. The package docs state for
// each goroutine its work, its blocking operations and its end.
func goroutineFiles() map[string]string {
	return map[string]string{
		"cmd/appserver/internal/app/announce.go":         "runs the programs of notify, and waits for them on shutdown",
		"cmd/appserver/internal/app/confinement.go":      "probes the sandbox while requests are served",
		"cmd/appserver/internal/app/hangup_linux.go":     "waits until the client closes the output",
		"server/listen/client.go":                        "closes a connection that holds memory that others wait for",
		"cmd/appserver/internal/app/memory.go":           "closes the memory, which can take long",
		"cmd/appserver/internal/app/parent.go":           "waits until the parent process exits",
		"cmd/appserver/internal/app/skillwatch.go":       "watches skill files until shutdown",
		"cmd/appserver/internal/app/shared.go":           "checks whether the server is idle",
		"cmd/appserver/internal/share/share.go":          "waits for the end of a server that it started",
		"server/remote/bridge.go":                        "reads the input while the messages of the server are written",
		"cmd/appserver/internal/app/serve.go":            "serves while the command waits for a signal",
		"cmd/appserver/internal/fleet/member.go":         "leaves the database, which may not respond",
		"cmd/appserver/internal/contextedit/terminal.go": "runs a command of the editor, while keys are read",
		"core/effects/model/ollama.go":                   "asks Ollama for several models at a time",
		"rollout/shared/interrupted.go":                  "asks for threads of dead nodes",
		"rollout/shared/threads.go":                      "renews the lease, and adds messages to the search",
		"core/effects/sandbox/reader_linux.go":           "starts a program on a thread with fewer rights",
		"core/effects/codeindex/index.go":                "scans a repository at intervals",
		"core/engine/dispatch.go":                        "runs threads",
		"core/engine/effects.go":                         "hashes prompts",
		"core/engine/engine.go":                          "runs what no thread waits for, and cancels requests on shutdown",
		"core/engine/new.go":                             "waits for threads on shutdown",
		"core/engine/launch.go":                          "runs an effect, and posts its terminal input",
		"core/engine/worktree.go":                        "watches commands that outlive their turn",
		"core/engine/compress.go":                        "compresses old rollouts when a client asks for it",
		"core/engine/retain.go":                          "applies retention at intervals",
		"core/engine/threadmemory.go":                    "stores removed items, also of unloaded threads",
		"core/engine/servers.go":                         "waits for answers of MCP servers to clients",
		"core/effects/find/match.go":                     "matches a part of the paths",
		"core/effects/find/walk.go":                      "reads directories",
		"core/effects/host/host.go":                      "serves requests of a connection, and waits for them when it closes",
		"cmd/appserver/internal/cli/mcplist.go":          "asks services whether they need a login, because some do not answer",
		"cmd/appserver/internal/cli/login.go":            "opens a browser while a login waits",
		"cmd/appserver/internal/doctor/report.go":        "runs the checks at once, and reports those that hang",
		"cmd/appserver/internal/cli/loginkey.go":         "reads a key from a terminal while a signal can end the command",
		"core/effects/account/attempt.go":                "waits for the user who signs in",
		"core/effects/account/refresh.go":                "refreshes tokens, also if the request that needs them is cancelled",
		"cmd/appserver/internal/cli/mcplogin.go":         "opens a browser, and reads addresses, while a login waits",
		"core/effects/mcp/login/attempt.go":              "waits for the user, and ends the login after its time",
		"core/effects/mcp/login/refresh.go":              "refreshes a login, also if the request that needs it is cancelled",
		"core/effects/mcp/call.go":                       "passes on messages of a call, because the library would block",
		"core/effects/mcp/pool.go":                       "owns connections, and waits until they close",
		"core/effects/mcp/server.go":                     "waits until a session closes",
		"core/effects/tool/connect.go":                   "waits until a program exits, and reads its stderr",
		"core/effects/memory/embed.go":                   "computes missing vectors, and the vector of a query",
		"core/effects/memory/shelf.go":                   "loads and compares vectors",
		"core/effects/model/modelcache.go":               "requests a provider's list of models",
		"core/effects/model/find.go":                     "asks several ports for a model server at once",
		"cmd/appserver/internal/app/clientwork.go":       "waits for providers that a client checks",
		"core/effects/token/pipeline.go":                 "counts texts while the next ones are made",
		"core/effects/tool/execution.go":                 "passes on a stream of a command's output",
		"core/effects/tool/run.go":                       "passes on a command's output",
		"core/effects/tool/running_posix.go":             "waits until a command exits",
		"core/effects/tool/running_windows.go":           "waits until a command exits",
		"core/effects/tool/supervise_native.go":          "reaps the orphans of a command",
		"core/effects/tool/supervise_portable.go":        "the supervisor waits for its command and for the end of the server",
		"core/effects/tool/terminal_windows.go":          "closes a console, which waits for the reader of its output",
		"docs/demo/session/client.go":                    "reads the server's messages",
		"rollout/index/index.go":                         "waits for a sweep, with a time limit",
		"rollout/index/sweep.go":                         "scans all files while lists are served",
		"rollout/postgres/gather.go":                     "sends gathered appends",
		"rollout/postgres/open.go":                       "opens the first connection of each pool",
		"rollout/postgres/write.go":                      "runs a write to its end, even if its caller stops waiting",
		"platform/callback/callback.go":                  "answers the browser",
		"platform/disk/parallel.go":                      "reads and parses parts of a file in parallel, and ahead",
		"platform/keyring/keyring.go":                    "calls the keyring of the system, which may not answer",
		"cmd/appserver/internal/cli/proxy.go":            "copies the input, while the caller copies the output",
		"cmd/appserver/internal/cli/web.go":              "waits for the program that opens a browser",
		"server/conn.go":                                 "writes the messages to the client",
		"server/forward/workspace.go":                    "connects to the node of a new thread",
		"server/listen/heartbeat.go":                     "sends heartbeats on a connection, until it is closed",
		"server/forward/audience.go":                     "reads the notifications of the other nodes",
		"server/forward/forwarder.go":                    "keeps the links to the other nodes",
		"server/forward/session.go":                      "looks for the owner of a thread, resumes it there; reads and writes links",
		"server/message.go":                              "waits for the client's response",
		"server/stderr.go":                               "writes the log, so that a slow reader of stderr blocks no caller",
	}
}

func findGoroutines(t *houseTree) (findings []string) {
	starts := map[string]int{}
	for _, s := range t.product() {
		if n := s.goroutines(); n > 0 {
			starts[s.path] = n
		}
	}
	for _, file := range apptest.SortedKeys(starts) {
		if goroutineFiles()[file] == "" {
			findings = append(findings,
				fmt.Sprintf("%s starts goroutines: add it with their purpose to goroutineFiles, or start them in the caller", file))
		}
	}
	for _, file := range apptest.SortedKeys(goroutineFiles()) {
		if starts[file] == 0 {
			findings = append(findings, fmt.Sprintf("goroutineFiles names %s, which starts none: remove the row", file))
		}
	}
	return append(findings, findUndocumentedGoroutines(t, starts)...)
}

// findUndocumentedGoroutines finds packages that start goroutines and do not mention them in the package doc.
func findUndocumentedGoroutines(t *houseTree, starts map[string]int) (findings []string) {
	packages := t.packages()
	for _, pkg := range apptest.SortedKeys(packages) {
		started := slices.ContainsFunc(packages[pkg], func(s *houseSource) bool { return starts[s.path] > 0 })
		if started && !strings.Contains(strings.ToLower(packageDoc(packages[pkg])), "goroutine") {
			findings = append(findings, fmt.Sprintf("package %s starts goroutines, but its package doc does not describe them: "+
				"state the work, the blocking operations and the end of each", pkg))
		}
	}
	return findings
}

// goroutines returns the number of go statements and of calls of a method Go.
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

// findUnformatted checks all files, tests and generated files included.
func findUnformatted(t *houseTree) (findings []string) {
	for _, s := range t.sources {
		formatted, err := format.Source(s.text)
		if err != nil || !bytes.Equal(formatted, s.text) {
			findings = append(findings, fmt.Sprintf("%s is not formatted: run gofmt -w %s", s.path, s.path))
		}
	}
	return findings
}
