package house

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"appserver/test/apptest"
)

// everything in an import rule is any package of ours.
const everything = "*"

// maxFanOut is how many packages of ours one package may import. The core may import more: it is
// made of small leaves, each of which is read alone.
const (
	maxFanOut     = 6
	maxCoreFanOut = 13
)

// importRule says which packages of ours a package may import, and why no others.
// Tests may import what they like.
type importRule struct {
	pkg    string
	may    []string
	reason string
}

func importRules() []importRule {
	return []importRule{
		{"protocol", nil, "it is the vocabulary that everything else speaks in"},
		{"core", []string{"protocol", "core/command", "core/compaction", "core/digest", "core/excerpt", "core/filechanges",
			"core/history", "core/lineref", "core/patch", "core/state", "core/toolspec", "core/transcript", "core/view"},
			"it is a pure function of its inputs"},
		{"core/checkpoint", []string{"protocol", "core", "core/filechanges", "core/worktree"},
			"it keeps worktrees as the core asks for it, whoever carries the question"},
		{"core/codeindex", []string{"core/find", "rollout/disk"},
			"it knows files, and whoever keeps them by an interface of its own; the disk has its locks"},
		{"core/command", []string{"protocol"}, "it reads a command's text, and knows no thread"},
		{"core/config", []string{"protocol", "core", "core/compaction", "core/redact", "core/tomledit", "core/workspace"},
			"it turns files into settings, whoever uses them; the workspace names the repository that trust is recorded for"},
		{"core/filechanges", []string{"protocol"}, "it computes with changes, whoever records and makes them"},
		{"core/find", nil, "it finds files, whoever asks"},
		{"core/host", []string{"protocol", "core", "core/find", "core/tool"},
			"it acts on the machine for a client, and knows no thread"},
		{"core/recall", []string{"protocol", "core", "core/digest", "core/engine", "core/memory", "core/workspace"},
			"it implements the engine's memory"},
		{"core/compaction", []string{"protocol", "core/digest", "core/history"}, "it plans for a history, whoever has it"},
		{"core/state", []string{"protocol", "core/filechanges", "core/history", "core/lineref", "core/transcript"},
			"it is what the lines say, and knows no active turn, tool or client"},
		{"core/transcript", []string{"protocol", "core/command", "core/lineref", "core/patch"},
			"it knows turns and shown items, and not what the model receives"},
		{"core/fieldtest", nil, "it knows structs only"},
		{"core/history", []string{"protocol", "core/lineref"}, "another program can use it alone"},
		{"core/lineref", []string{"protocol"}, "it reads payloads again, whatever is made of them"},
		{"core/mcp", []string{"protocol", "core", "core/toolspec"}, "it knows servers and owners, and no thread"},
		{"core/memory", []string{"protocol", "core/words", "rollout/database", "rollout/disk", "rollout/home"},
			"it keeps rows, whoever makes and uses them"},
		{"core/model", []string{"protocol", "core", "core/model/sse"},
			"it turns streams into inputs of the core, whoever takes them"},
		{"core/model/chat", []string{"protocol", "core", "core/model"},
			"it is one API for requests, whatever the connection does"},
		{"core/model/modeltest", []string{"protocol", "core", "core/model"}, "it serves the tests of providers"},
		{"core/model/offline", []string{"protocol", "core", "core/model", "core/model/chat"},
			"it is a provider without a connection"},
		{"core/model/responses", []string{"protocol", "core", "core/model"},
			"it is one API for requests, whatever the connection does"},
		{"core/model/sse", nil, "it reads a text format"},
		{"core/token", nil, "it counts text, whoever asks"},
		{"core/sandbox", []string{"protocol"}, "it turns a policy into what the kernel enforces, whatever the command"},
		{"core/tool", []string{"protocol", "core", "core/excerpt", "core/patch", "core/sandbox", "core/toolspec"},
			"it runs what the core asks for, whoever carries the question"},
		{"core/workspace", []string{"protocol", "core"}, "it tells the core of the machine"},
		{"core/toolspec", []string{"protocol", "core/command", "core/excerpt"},
			"it specifies tools and decides on calls, and knows no thread"},
		{"core/view", []string{"protocol", "core/history", "core/page", "core/transcript"},
			"it builds lists for clients, and changes nothing"},
		{"core/tomledit", nil, "it knows documents, not settings"},
		{"core/worktree", nil, "it knows files and git, whoever changes them"},
		{"core/skill", []string{"protocol"}, "it finds files, and knows no thread"},
		{"core/words", nil, "it takes texts apart, whatever they are about"},
		{"core/digest", []string{"protocol", "core/command", "core/words"}, "it reads items, and knows no thread"},
		{"core/excerpt", nil, "it cuts text, whoever has it"},
		{"core/export", []string{"protocol"}, "it makes documents of what clients are shown"},
		{"core/page", nil, "it divides lists, whatever is in them"},
		{"core/patch", nil, "it reads and applies a text format, whoever has the files"},
		{"core/redact", []string{"protocol"}, "it reads lines, and knows neither threads nor files"},
		{"core/slash", []string{"protocol"}, "it reads a text, and knows methods by their names and params"},
		{"core/engine", []string{"protocol", "core", "core/history", "core/page", "rollout", "core/workspace"},
			"models, tools and clients reach it through interfaces of its own"},
		{"rollout", []string{"protocol", "rollout/disk", "rollout/home", "rollout/line", "rollout/listing"},
			"it stores lines and knows no thread"},
		{"rollout/database", nil, "it opens files that can be thrown away, whatever is in them"},
		{"rollout/disk", nil, "it knows files, not their content"},
		{"rollout/faultfs", []string{"rollout/disk"}, "it is a disk for tests of the rollout"},
		{"rollout/home", []string{"protocol", "rollout/disk", "rollout/line"},
			"it knows names and locks, not the content of rollouts"},
		{"rollout/index", []string{"protocol", "rollout", "rollout/database", "rollout/home", "rollout/line",
			"rollout/listing"}, "it knows what files say, and no thread"},
		{"rollout/line", []string{"protocol", "rollout/disk"}, "it reads and writes text, wherever the files are"},
		{"rollout/listing", []string{"protocol", "rollout/disk", "rollout/home", "rollout/line"},
			"it reads what lists show, and changes nothing"},
		{"server", []string{"protocol", "core/engine", "core/page", "core/slash"},
			"it carries messages; threads are the engine's, files and settings the command's"},
		{"server/listen", []string{"protocol"}, "it carries messages to whoever serves them"},
		{"schema", nil, "it holds files; schema/gen makes them"},
		{"schema/conform", []string{"protocol"}, "tests of any package use it"},
		{"schema/gen", []string{"protocol"}, "the schema comes from the vocabulary alone"},
		{"cmd/appserver", []string{everything}, "it puts the parts together, so it knows all of them"},
		{"docs/demo", nil, "a client knows the server by its messages alone"},
	}
}

// findImports holds each package to its import rule. Since no rule but the
// command's own has everything, nothing else can import the server, and nothing a
// command.
func findImports(t *houseTree) (findings []string) {
	rules := map[string]importRule{}
	packages := t.packages()
	for _, r := range importRules() {
		rules[r.pkg] = r
		if packages[r.pkg] == nil {
			findings = append(findings,
				fmt.Sprintf("package %s has an import rule but does not exist: write it, or drop the rule", r.pkg))
		}
	}
	for _, pkg := range apptest.SortedKeys(packages) {
		rule, known := rules[pkg]
		if !known {
			findings = append(findings,
				fmt.Sprintf("package %s has no import rule: add one with its reason to importRules", pkg))
			continue
		}
		findings = append(findings, rule.check(packages[pkg])...)
	}
	return findings
}

func (r importRule) check(files []*houseSource) (findings []string) {
	if slices.Contains(r.may, everything) {
		return nil
	}
	for _, s := range files {
		for _, name := range s.ours() {
			if !slices.Contains(r.may, name) {
				findings = append(findings, fmt.Sprintf("%s imports %s; of ours, %s may import [%s] only: %s",
					s.path, name, r.pkg, strings.Join(r.may, " "), r.reason))
			}
		}
	}
	return findings
}

// findFanOut counts what a package imports of ours. Packages that may import
// everything put the parts together, and are exempt.
func findFanOut(t *houseTree) (findings []string) {
	packages := t.packages()
	for _, pkg := range apptest.SortedKeys(packages) {
		wires := slices.ContainsFunc(importRules(), func(r importRule) bool {
			return r.pkg == pkg && slices.Contains(r.may, everything)
		})
		limit := maxFanOut
		if pkg == "core" {
			limit = maxCoreFanOut
		}
		if n := len(oursOf(packages[pkg])); n > limit && !wires {
			findings = append(findings,
				fmt.Sprintf("package %s imports %d packages of ours, more than %d: split it", pkg, n, limit))
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

// library is an outside module and the packages that may import it, so that it
// can be replaced in one place. Without a home it is for tests.
type library struct {
	module string
	homes  []string
	reason string
}

func libraries() []library {
	return []library{
		{"github.com/clipperhouse/uax29/v2", []string{"core"},
			"previews of items are cut between graphemes, and nothing else is"},
		{"github.com/coder/websocket", []string{"server/listen"}, "one way to clients on sockets"},
		{"github.com/creack/pty", []string{"core/tool"}, "one owner of terminals"},
		{"github.com/fsnotify/fsnotify", []string{"core/codeindex", "core/host"},
			"one watches what clients name, one folders of repositories"},
		{"github.com/gofrs/flock", []string{"rollout/disk", "server/listen"},
			"one owner of locks on threads, and one of places to listen"},
		{"github.com/go-json-experiment/json", []string{"protocol"},
			"one decoder of JSON, with exact names; encoding/json/v2 takes its place in Go 1.27"},
		{"github.com/google/licensecheck", nil, "for tests"},
		{"github.com/google/uuid", []string{"core/engine", "rollout/home"},
			"the engine makes ids; the rollout reads them in file names"},
		{"github.com/invopop/jsonschema", []string{"schema/gen"}, "the program carries its schema ready made"},
		{"github.com/junegunn/fzf", []string{"core/find"}, "its matcher alone, for names of files"},
		{"github.com/modelcontextprotocol/go-sdk", []string{"core/mcp"}, "one way to MCP servers"},
		{"github.com/pelletier/go-toml/v2", []string{"core/config", "core/tomledit"},
			"one reader of config.toml, and one writer"},
		{"github.com/rogpeppe/go-internal", nil, "for tests"},
		{"github.com/santhosh-tekuri/jsonschema/v6", []string{"schema/conform"}, "for tests; its start costs milliseconds"},
		{"github.com/sashabaranov/go-openai", []string{"core/model", "core/model/chat"},
			"the client of Chat Completions and of embeddings"},
		{"github.com/sourcegraph/jsonrpc2", []string{"server"}, "one connection to the client"},
		{"github.com/stretchr/testify", []string{"core/fieldtest"}, "for tests"},
		{"github.com/tidwall/gjson",
			[]string{"core", "core/digest", "core/history", "core/model/chat", "core/model/responses", "core/state",
				"core/toolspec",
				"core/transcript", "protocol", "rollout", "rollout/line", "rollout/listing"},
			"all look at one member of many lines or items, where decoding them whole costs most of a resume, or of a stream"},
		{"github.com/tiktoken-go/tokenizer", []string{"core/token"}, "one owner of the tables, which are megabytes"},
		{"go.uber.org/goleak", nil, "for tests"},
		{"go.uber.org/zap", []string{"cmd/appserver", "core/engine", "server"},
			"only what lives as long as the process logs; the rest returns errors"},
		{"go.yaml.in/yaml/v3", []string{"core/config", "core/skill"}, "one reader of config.yaml, and one of skills"},
		{"golang.org/x/sys",
			[]string{"cmd/appserver", "core/codeindex", "core/host", "core/sandbox", "core/tool", "core/worktree"},
			"they watch over processes, open folders one name at a time, or ask when a file was made"},
		{"modernc.org/sqlite", []string{"rollout/database"}, "one opener of databases"},
		{"mvdan.cc/sh/v3", []string{"core/command"}, "one reader of shell text"},
		{"golang.org/x/tools", nil, "for tests"},
		{"pgregory.net/rapid", nil, "for tests"},
	}
}

// findLibraries holds each outside library to its home. Tests may use any library
// that has a row.
func findLibraries(t *houseTree) (findings []string) {
	for _, s := range t.sources {
		for _, name := range s.imported() {
			if !strings.Contains(strings.SplitN(name, "/", 2)[0], ".") {
				continue
			}
			if finding := checkLibrary(s, name); finding != "" {
				findings = append(findings, finding)
			}
		}
	}
	return findings
}

func checkLibrary(s *houseSource, name string) string {
	for _, l := range libraries() {
		switch {
		case name != l.module && !strings.HasPrefix(name, l.module+"/"):
			continue
		case s.isTestFile(), slices.Contains(l.homes, s.pkg()):
			return ""
		case len(l.homes) == 0:
			return fmt.Sprintf("%s imports %s, which is for tests only", s.path, name)
		}
		return fmt.Sprintf("%s imports %s; its home is %s: %s", s.path, name, strings.Join(l.homes, ", "), l.reason)
	}
	return fmt.Sprintf("%s imports %s, which has no home: add a row with its reason to libraries", s.path, name)
}

// purePackages are the core and what it imports: equal inputs give equal steps, so
// that a replay of a rollout gives the state back.
func purePackages() []string {
	return []string{"protocol", "core", "core/command", "core/digest", "core/excerpt", "core/patch", "core/slash",
		"core/toolspec"}
}

// impureImports are packages, with all below them, that reach beyond the inputs.
func impureImports() map[string]string {
	return map[string]string{
		"context":     "the engine cancels effects; a step does not wait",
		"crypto/rand": "ids come in with the input",
		"io/ioutil":   "files are the rollout's and the engine's",
		"log":         "the engine logs",
		"math/rand":   "what is random comes in with the input",
		"net":         "effects talk to the network",
		"os":          "what is to be known of the machine comes in with the input",
		"sync":        "one goroutine owns a thread, so that nothing is shared",
		"syscall":     "what is to be known of the machine comes in with the input",
	}
}

// pureImports are exceptions to impureImports: they only take text apart.
func pureImports() []string { return []string{"net/netip", "net/url"} }

// impureNames are members of packages that may be imported otherwise.
func impureNames() map[string][]string {
	return map[string][]string{
		"path/filepath": {"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"},
		"time": {"After", "AfterFunc", "LoadLocation", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick",
			"Until"},
	}
}

func findImpurity(t *houseTree) (findings []string) {
	for _, s := range t.product() {
		if !slices.Contains(purePackages(), s.pkg()) {
			continue
		}
		for _, name := range s.imported() {
			if reason := impurity(name); reason != "" {
				findings = append(findings, fmt.Sprintf("%s imports %s, and %s is pure: %s", s.path, name, s.pkg(), reason))
			}
		}
		findings = append(findings, findImpureNames(s)...)
	}
	return findings
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

func findImpureNames(s *houseSource) (findings []string) {
	ast.Inspect(s.File, func(n ast.Node) bool {
		if _, ok := n.(*ast.GoStmt); ok {
			findings = append(findings,
				fmt.Sprintf("%s: a go statement, and %s is pure: goroutines are the engine's", s.at(n), s.pkg()))
		}
		if name := impureName(s, n); name != "" {
			findings = append(findings, fmt.Sprintf("%s: %s, and %s is pure: take it from the input", s.at(n), name, s.pkg()))
		}
		return true
	})
	return findings
}

// impureName is the name, with its package, that a node uses and may not.
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

// localName is what the file calls a package that it imports, or "".
func (s *houseSource) localName(imported string) string {
	for i, name := range s.imported() {
		switch {
		case name != imported:
			continue
		case s.Imports[i].Name != nil:
			return s.Imports[i].Name.Name
		}
		return path.Base(imported)
	}
	return ""
}
