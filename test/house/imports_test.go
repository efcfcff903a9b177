package house

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"appserver/test/apptest"
)

// everything in an import rule allows all packages of this module.
const everything = "*"

// maxFanOut is the maximum number of our packages that one package imports. The core may import
// more, because it consists of small leaves that can be read alone. So may the subcommands, which
// share nothing but the command line, and core/config, which reads the settings of many rooms.
// core/osfile and core/pattern do not count: they take the places of packages os and regexp.
const (
	maxFanOut     = 6
	maxCoreFanOut = 14
)

// importRule lists the packages of this module that a package may import, with the reason. Tests
// are exempt.
type importRule struct {
	pkg    string
	may    []string
	reason string
}

func importRules() []importRule {
	return []importRule{
		{"protocol", nil, "every other package uses its vocabulary"},
		{"core", []string{"protocol", "core/command", "core/compaction", "core/digest", "core/economy", "core/excerpt", "core/filechanges",
			"core/history", "core/lineref", "core/patch", "core/state", "core/toolspec", "core/transcript", "core/view"},
			"it is a pure function of its inputs"},
		{"core/checkpoint", []string{"protocol", "core", "core/filechanges", "core/osfile", "core/worktree"},
			"it implements effects of the core, and does not depend on the engine"},
		{"core/codeindex", []string{"core/find", "core/osfile", "rollout/disk"},
			"it reads files and calls their store by its own interface; the disk has its locks"},
		{"core/command", []string{"protocol", "core/pattern"}, "it parses the text of commands, and does not depend on threads"},
		{"core/permission", []string{"protocol"}, "it turns rules into a sandbox policy"},
		{"core/config", []string{"protocol", "core", "core/compaction", "core/osfile", "core/permission", "core/redact",
			"core/tomledit", "core/workspace"},
			"it reads settings from files; the workspace finds the repository whose trust level applies"},
		{"core/execrule", []string{"core/toolspec"}, "it only parses files with rules"},
		{"core/filechanges", []string{"protocol"}, "it only computes with file changes"},
		{"core/find", []string{"core/osfile"}, "it only searches file names"},
		{"core/host", []string{"protocol", "core", "core/find", "core/osfile", "core/tool"},
			"it serves clients without a thread"},
		{"core/recall", []string{"protocol", "core", "core/digest", "core/engine", "core/memory", "core/workspace"},
			"it implements the engine's memory"},
		{"core/compaction", []string{"protocol", "core/digest", "core/history"},
			"it plans compactions of a history, and does not depend on the state machine"},
		{"core/economy", []string{"protocol", "core/command", "core/digest", "core/excerpt", "core/history",
			"core/pattern"},
			"it finds items of a history, and does not depend on the state machine"},
		{"core/state", []string{"protocol", "core/filechanges", "core/history", "core/lineref", "core/snapshot", "core/transcript"},
			"it is the durable state, without the active turn, tools and clients"},
		{"core/transcript", []string{"protocol", "core/command", "core/lineref", "core/patch", "core/snapshot"},
			"it builds turns and shown items, not the model's input"},
		{"core/fieldtest", nil, "it works on any struct"},
		{"core/history", []string{"protocol", "core/lineref", "core/snapshot"}, "another program can use it alone"},
		{"core/snapshot", nil, "it does not interpret what it stores"},
		{"core/snapshot/snapshottest", []string{"core/snapshot"}, "it supports the tests of packages with snapshots"},
		{"core/lineref", []string{"protocol"}, "it reads payloads again, and does not interpret them"},
		{"core/mcp", []string{"protocol", "core", "core/excerpt", "core/toolschema", "core/toolspec"},
			"it connects MCP servers for owners, and does not depend on threads"},
		{"core/mcp/credentials", []string{"protocol", "rollout/disk"}, "it stores logins, and makes none"},
		{"core/mcp/login", []string{"protocol", "core/httpclient", "core/mcp/credentials"},
			"it logs in at any server, and does not connect to it"},
		{"core/memory", []string{"protocol", "core/excerpt", "core/words", "rollout/database", "rollout/disk",
			"rollout/home"},
			"it stores memories, and does not create them"},
		{"core/model/refusal", []string{"protocol", "core", "core/pattern"}, "it decides by what was said and sent, and sends nothing"},
		{"core/jsonrepair", []string{"protocol"}, "it reads any text"},
		{"core/model", []string{"protocol", "core", "core/excerpt", "core/jsonrepair", "core/model/refusal",
			"core/model/sse", "core/osfile", "core/pattern"},
			"it converts streams to inputs of the core"},
		{"core/model/chat", []string{"protocol", "core", "core/jsonrepair", "core/model", "core/model/refusal", "core/pattern"},
			"it implements one API; the connection is core/model's"},
		{"core/model/modeltest", []string{"protocol", "core", "core/model"}, "it supports the tests of providers"},
		{"core/model/offline", []string{"protocol", "core", "core/excerpt", "core/model", "core/model/chat",
			"core/pattern"},
			"it is a provider without a network"},
		{"core/model/responses", []string{"protocol", "core", "core/model", "core/model/refusal", "core/pattern"},
			"it implements one API; the connection is core/model's"},
		{"core/model/sse", nil, "it only parses a text format"},
		{"core/token", nil, "it only counts the tokens of texts"},
		{"core/sandbox", []string{"protocol", "core/osfile"}, "it makes the kernel enforce a policy for any command"},
		{"core/tool", []string{"protocol", "core", "core/excerpt", "core/osfile", "core/patch", "core/sandbox", "core/toolspec"},
			"it implements effects of the core, and does not depend on the engine"},
		{"core/workspace", []string{"protocol", "core", "core/charset", "core/excerpt", "core/execrule", "core/imagefile", "core/osfile"},
			"it collects facts about the machine for the core"},
		{"core/imagefile", nil, "it only looks at bytes"},
		{"core/toolschema", []string{"protocol", "core/excerpt"}, "it normalizes any schema"},
		{"core/toolspec", []string{"protocol", "core/command", "core/excerpt", "core/imagefile", "core/jsonrepair", "core/pattern",
			"core/toolschema"},
			"it specifies tools and decides on calls, and does not depend on threads"},
		{"core/view", []string{"protocol", "core/excerpt", "core/history", "core/page", "core/transcript"},
			"it builds lists for clients, and changes no state"},
		{"core/tomledit", nil, "it edits any TOML document"},
		{"core/worktree", []string{"core/osfile"}, "it works on any git worktree"},
		{"core/skill", []string{"protocol", "core/excerpt", "core/osfile"}, "it finds skill files, and does not depend on threads"},
		{"core/words", []string{"core/excerpt"}, "it splits any text into words"},
		{"core/digest", []string{"protocol", "core/command", "core/pattern", "core/words"},
			"it reads items, and does not depend on threads"},
		{"core/excerpt", nil, "it truncates any text"},
		{"core/export", []string{"protocol", "core/excerpt"}, "it writes documents from the wire types alone"},
		{"core/osfile", nil, "it has the file operations of each operating system, for any package"},
		{"core/pattern", nil, "it compiles any expression"},
		{"core/httpclient", nil, "it makes transports for any package"},
		{"core/page", nil, "it divides any list into pages"},
		{"core/charset", nil, "it decodes any text"},
		{"core/patch", []string{"core/charset", "core/excerpt"}, "it parses and applies patches, and has no file system"},
		{"core/redact", []string{"protocol"}, "it edits lines, and does not depend on threads or files"},
		{"core/slash", []string{"protocol"}, "it converts slash commands to methods, and calls none"},
		{"core/engine", []string{"protocol", "core", "core/page", "core/workspace", "rollout", "rollout/store"},
			"models, tools, clients and the store of threads are connected through interfaces"},
		{"rollout", []string{"protocol", "core/osfile", "rollout/disk", "rollout/home", "rollout/line", "rollout/listing",
			"rollout/zst"},
			"it stores lines, and does not depend on threads"},
		{"rollout/database", nil, "it opens databases with any content"},
		{"rollout/disk", []string{"core/osfile"}, "it reads and writes files with any content"},
		{"rollout/faultfs", []string{"rollout/disk"}, "it is a file system for tests of the rollout"},
		{"rollout/files", []string{"protocol", "rollout", "rollout/store"},
			"it implements the store with rollouts and any index"},
		{"rollout/fleet", []string{"protocol", "rollout/listing"},
			"it specifies what a database does for many nodes, and contains none"},
		{"rollout/fleet/fleettest", []string{"protocol", "rollout/fleet", "rollout/listing", "test/sample"},
			"it tests any driver"},
		{"rollout/home", []string{"protocol", "rollout/disk", "rollout/line", "rollout/zst"},
			"it handles names and locks, not the content of rollouts"},
		{"rollout/index", []string{"protocol", "rollout", "rollout/database", "rollout/home", "rollout/line",
			"rollout/listing"}, "it indexes files, and does not depend on threads"},
		{"rollout/line", []string{"protocol", "rollout/disk"}, "it parses and formats lines"},
		{"rollout/listing", []string{"protocol", "core/excerpt", "rollout/disk", "rollout/home", "rollout/line"},
			"it reads heads of threads, and changes no file"},
		{"rollout/shared", []string{"protocol", "rollout", "rollout/fleet", "rollout/line", "rollout/listing",
			"rollout/store"}, "it implements the store with any database"},
		{"rollout/store", []string{"protocol", "rollout"}, "it only defines an interface"},
		{"rollout/store/storetest", []string{"protocol", "rollout", "rollout/store"},
			"it tests any implementation of the interface"},
		{"rollout/postgres", []string{"protocol", "rollout/fleet", "rollout/listing"},
			"it stores lines and heads, and does not depend on threads"},
		{"rollout/zst", []string{"core/osfile", "rollout/disk"},
			"it knows the names and bytes of files, and neither lines nor threads"},
		{"rollout/postgres/pgtest", nil, "it starts servers for tests of any package"},
		{"server", []string{"protocol", "core/engine", "core/page", "core/pattern", "core/slash"},
			"it transports messages; the engine has the threads, the command has files and settings"},
		{"server/listen", []string{"protocol", "core/httpclient", "core/osfile"}, "it accepts connections, and does not interpret messages"},
		{"server/peer", []string{"server/listen"},
			"it connects the nodes of a fleet, and does not interpret messages"},
		{"server/forward", []string{"protocol", "server"},
			"it forwards messages between nodes; the command has the threads and the connections"},
		{"server/web", []string{"protocol", "core/httpclient", "core/osfile", "core/pattern", "rollout/disk",
			"server/listen"},
			"it admits browsers as clients, and serves any page; the disk writes its tickets"},
		{"server/remote", []string{"protocol", "core/httpclient", "server/listen", "server/web"},
			"it finds servers by their sockets and pages"},
		{"schema", nil, "it embeds files that schema/gen generates"},
		{"schema/conform", []string{"protocol"}, "tests of any package import it"},
		{"schema/gen", []string{"protocol"}, "the schema depends on the vocabulary alone"},
		{"cmd/appserver", []string{"protocol", "cmd/appserver/internal/app", "cmd/appserver/internal/cli", "core/tool",
			"schema"}, "it selects the subcommand"},
		{"cmd/appserver/internal/app", []string{everything}, "it assembles the parts, so it knows all of them"},
		{"cmd/appserver/internal/cli", []string{"protocol", "cmd/appserver/internal/app",
			"cmd/appserver/internal/contextedit", "cmd/appserver/internal/termtext", "core/config",
			"core/engine", "core/export", "core/memory", "core/pattern", "rollout", "rollout/index",
			"rollout/store", "server", "server/listen", "server/web"},
			"its commands act on stored threads"},
		{"cmd/appserver/internal/contextedit", []string{"protocol", "cmd/appserver/internal/termtext"},
			"it edits any thread by its own interface"},
		{"cmd/appserver/internal/metrics", []string{"protocol", "rollout/postgres", "rollout/shared"},
			"it publishes numbers of others"},
		{"cmd/appserver/internal/termtext", nil, "it formats any text"},
		{"deploy/release", []string{"web/gen/build"},
			"it packs the built program; the build of the page reads the list of its libraries"},
		{"docs/demo", []string{"docs/demo/prepared", "docs/demo/session"}, "a client depends on the messages alone"},
		{"docs/demo/prepared", []string{"docs/demo/session"}, "a client depends on the messages alone"},
		{"docs/demo/session", nil, "a client depends on the messages alone"},
		{"editors/vscode/gen", []string{"protocol", "web/gen/build"}, "it packs the page and scripts"},
		{"web", nil, "it embeds files that web/gen builds"},
		{"web/gen", []string{"web/gen/build"}, "it writes the files of package web"},
		{"web/gen/build", []string{"protocol"}, "it bundles sources that are not Go"},
	}
}

// findImports checks each package against its import rule. Only the command's rule allows
// everything, so no other package can import the server.
func findImports(t *houseTree) (findings []string) {
	rules := map[string]importRule{}
	packages := t.packages()
	for _, r := range importRules() {
		rules[r.pkg] = r
		if packages[r.pkg] == nil {
			findings = append(findings,
				fmt.Sprintf("package %s has an import rule but does not exist: remove the rule", r.pkg))
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
				findings = append(findings, fmt.Sprintf("%s imports %s; of our packages, %s may import only [%s]: %s",
					s.path, name, r.pkg, strings.Join(r.may, " "), r.reason))
			}
		}
	}
	return findings
}

// findFanOut counts the imported packages of this module. Packages that may import everything are
// exempt, because they assemble the parts.
func findFanOut(t *houseTree) (findings []string) {
	packages := t.packages()
	for _, pkg := range apptest.SortedKeys(packages) {
		assembles := slices.ContainsFunc(importRules(), func(r importRule) bool {
			return r.pkg == pkg && slices.Contains(r.may, everything)
		})
		limit := maxFanOut
		if pkg == "core" || pkg == "core/config" || pkg == "cmd/appserver/internal/cli" {
			limit = maxCoreFanOut
		}
		ours := slices.DeleteFunc(oursOf(packages[pkg]), func(name string) bool {
			return name == "core/osfile" || name == "core/pattern"
		})
		if n := len(ours); n > limit && !assembles {
			findings = append(findings,
				fmt.Sprintf("package %s imports %d of our packages, more than %d: split it", pkg, n, limit))
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

// library is an outside module with the packages that may import it. Few importers keep it
// replaceable. An empty list allows tests only.
type library struct {
	module string
	users  []string
	reason string
}

func libraries() []library {
	return []library{
		{"github.com/clipperhouse/uax29/v2", []string{"core"},
			"only previews of items are truncated between graphemes"},
		{"github.com/CycloneDX/cyclonedx-go", []string{"deploy/release"}, "one writer of the list of components"},
		{"github.com/dop251/goja", nil, "for tests: it runs the stores of the page, and parses scripts for the rules"},
		{"github.com/evanw/esbuild/pkg/api", []string{"web/gen/build"}, "building the page needs Go only"},
		{"github.com/chromedp/cdproto", nil, "for tests of the page"},
		{"github.com/chromedp/chromedp", nil, "for tests of the page"},
		{"github.com/anishathalye/porcupine", nil, "for tests"},
		{"github.com/coder/websocket", []string{"server/listen", "server/remote"}, "one accepts clients, the other is one"},
		{"github.com/creack/pty", []string{"core/tool"}, "one owner of terminals"},
		{"github.com/dlclark/regexp2/v2", nil, "for tests"},
		{"github.com/fsnotify/fsnotify", []string{"core/codeindex", "core/host"},
			"one watches paths for clients, the other the folders of repositories"},
		{"github.com/gdamore/tcell/v3", []string{"cmd/appserver/internal/contextedit"},
			"only the editor uses the whole terminal; the cells of the library cannot hold escape sequences"},
		{"github.com/gofrs/flock", []string{"rollout/disk", "server/listen"},
			"one owner for locks of threads, one for locks of sockets"},
		{"github.com/go-json-experiment/json", []string{"protocol"},
			"one JSON decoder with exact names; encoding/json/v2 of Go 1.27 replaces it"},
		{"github.com/google/licensecheck", []string{"deploy/release"}, "releases and tests name licences"},
		{"github.com/google/uuid", []string{"core/engine", "rollout/home"},
			"the engine creates ids; the rollout parses them in file names"},
		{"github.com/invopop/jsonschema", []string{"schema/gen"}, "the program embeds the generated schema"},
		{"github.com/jackc/pgx/v5", []string{"rollout/postgres", "rollout/postgres/pgtest"},
			"one owner of connections to PostgreSQL; the other starts servers for tests"},
		{"github.com/junegunn/fzf", []string{"core/find"}, "only its matcher, for file names"},
		{"github.com/klauspost/compress", []string{"rollout/zst", "test/apptest"},
			"one owner of the compressed form of rollouts; the other makes files for tests"},
		{"github.com/modelcontextprotocol/go-sdk", []string{"core/mcp", "core/mcp/login"},
			"one client of MCP servers; the other reads their challenges"},
		{"github.com/pelletier/go-toml/v2", []string{"core/config", "core/tomledit"},
			"one reads config.toml, the other edits it"},
		{"github.com/prometheus/common", nil, "for tests"},
		{"github.com/rogpeppe/go-internal", nil, "for tests"},
		{"github.com/santhosh-tekuri/jsonschema/v6", []string{"schema/conform"},
			"for tests; its initialization takes milliseconds"},
		{"github.com/sashabaranov/go-openai", []string{"core/model", "core/model/chat"},
			"the client of Chat Completions and embeddings"},
		{"github.com/sourcegraph/jsonrpc2", []string{"server", "server/remote"}, "one connection to each client or server"},
		{"github.com/stretchr/testify", []string{"core/fieldtest", "core/snapshot/snapshottest", "rollout/fleet/fleettest", "rollout/postgres/pgtest",
			"rollout/store/storetest"}, "for tests"},
		{"github.com/tidwall/gjson",
			[]string{"core", "core/digest", "core/history", "core/model/chat", "core/model/responses", "core/state",
				"core/toolspec",
				"core/transcript", "protocol", "rollout", "rollout/line", "rollout/listing"},
			"they read one member of many lines or items; full decoding would dominate the time of a resume or a stream"},
		{"github.com/tiktoken-go/tokenizer", nil, "for tests"},
		{"go.starlark.net", []string{"core/execrule"}, "the parser of files with rules"},
		{"go.uber.org/goleak", nil, "for tests"},
		{"go.uber.org/zap", []string{"cmd/appserver/internal/app", "core/engine", "server"},
			"only parts that live as long as the process log; the others return errors"},
		{"go.yaml.in/yaml/v3", []string{"core/config", "core/skill"}, "one reads config.yaml, the other skills"},
		{"github.com/zalando/go-keyring", []string{"core/mcp/credentials"}, "one owner of the keyring"},
		{"golang.org/x/oauth2", []string{"core/mcp/login"}, "one client of authorization servers"},
		{"golang.org/x/net", []string{"core/httpclient"}, "the rules for NO_PROXY, as in net/http"},
		{"golang.org/x/sys",
			[]string{"cmd/appserver/internal/app", "core/host", "core/osfile", "core/sandbox", "core/tool", "rollout/postgres"},
			"they control processes, open folders by single names, read the creation time of files, or set options of sockets"},
		{"golang.org/x/term", []string{"cmd/appserver/internal/cli"}, "it asks any system for the size of a terminal"},
		{"golang.org/x/text", []string{"core/patch"}, "the forms of Unicode, in which patches and files can differ"},
		{"modernc.org/sqlite", []string{"rollout/database"}, "one owner of databases"},
		{"mvdan.cc/sh/v3", []string{"core/command"}, "one parser of shell scripts"},
		{"golang.org/x/tools", nil, "for tests"},
		{"pgregory.net/rapid", []string{"rollout/fleet/fleettest"}, "for tests"},
	}
}

// findLibraries checks the importers of each outside library. Tests may use any listed library.
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
		case s.isTestFile(), slices.Contains(l.users, s.pkg()):
			return ""
		case len(l.users) == 0:
			return fmt.Sprintf("%s imports %s, which only tests may import", s.path, name)
		}
		return fmt.Sprintf("%s imports %s; only %s may import it: %s", s.path, name, strings.Join(l.users, ", "), l.reason)
	}
	return fmt.Sprintf("%s imports %s, which is not in libraries: add it with the reason", s.path, name)
}

// purePackages are the core and its imports. Equal inputs must give equal steps, so that a loaded
// thread equals the thread that ran.
func purePackages() []string {
	return []string{"protocol", "core", "core/charset", "core/command", "core/digest", "core/excerpt", "core/patch", "core/slash",
		"core/toolschema", "core/toolspec"}
}

// impureImports are packages, including their subpackages, with effects or hidden inputs.
func impureImports() map[string]string {
	return map[string]string{
		"context":     "the engine cancels effects; a step does not block",
		"crypto/rand": "ids are part of the input",
		"io/ioutil":   "the rollout and the engine access files",
		"log":         "the engine logs",
		"math/rand":   "random values are part of the input",
		"net":         "effects access the network",
		"os":          "facts about the machine are part of the input",
		"sync":        "one goroutine owns a thread, so no memory is shared",
		"syscall":     "facts about the machine are part of the input",
	}
}

// pureImports are exceptions to impureImports: they only parse text.
func pureImports() []string { return []string{"net/netip", "net/url"} }

// impureNames are forbidden members of packages that are allowed otherwise.
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
				findings = append(findings, fmt.Sprintf("%s imports %s, but %s is pure: %s", s.path, name, s.pkg(), reason))
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
				fmt.Sprintf("%s: a go statement, but %s is pure: the engine starts goroutines", s.at(n), s.pkg()))
		}
		if name := impureName(s, n); name != "" {
			findings = append(findings,
				fmt.Sprintf("%s: %s, but %s is pure: take the value from the input", s.at(n), name, s.pkg()))
		}
		return true
	})
	return findings
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

// localName returns the name of an imported package in the file, or "" if the file does not import
// it.
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
