package house

import (
	"fmt"
	"slices"
	"strings"
)

// library is an outside module with the packages or files that may import it. Few importers keep it
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
		{"github.com/creack/pty", []string{"core/effects/tool"}, "one owner of terminals"},
		{"github.com/dlclark/regexp2/v2", nil, "for tests"},
		{"github.com/fsnotify/fsnotify", []string{"core/effects/codeindex", "core/effects/host"},
			"one watches paths for clients, the other the folders of repositories"},
		{"github.com/gdamore/tcell/v3", []string{"cmd/appserver/internal/contextedit"},
			"only the editor uses the whole terminal; the cells of the library cannot hold escape sequences"},
		{"github.com/gofrs/flock", []string{"platform/disk", "server/listen"},
			"one owner for locks of threads, one for locks of sockets"},
		{"github.com/go-json-experiment/json", []string{"protocol"},
			"one JSON decoder with exact names; encoding/json/v2 of Go 1.27 replaces it"},
		{"github.com/google/licensecheck", []string{"deploy/release"}, "releases and tests name licences"},
		{"github.com/google/uuid", []string{"cmd/appserver/internal/app", "core/engine", "rollout/home"},
			"the engine creates ids, the command those of logins; the rollout parses them in file names"},
		{"github.com/invopop/jsonschema", []string{"schema/gen"}, "the program embeds the generated schema"},
		{"github.com/jackc/pgx/v5", []string{"rollout/postgres", "rollout/postgres/pgtest"},
			"one owner of connections to PostgreSQL; the other starts servers for tests"},
		{"github.com/junegunn/fzf", []string{"core/effects/find"}, "only its matcher, for file names"},
		{"github.com/klauspost/compress", []string{"rollout/zst", "test/apptest"},
			"one owner of the compressed form of rollouts; the other makes files for tests"},
		{"github.com/modelcontextprotocol/go-sdk", []string{"core/effects/mcp", "core/effects/mcp/login"},
			"one client of MCP servers; the other reads their challenges"},
		{"github.com/pelletier/go-toml/v2", []string{"core/effects/config", "core/pure/tomledit"},
			"one reads config.toml, the other edits it"},
		{"github.com/prometheus/common", nil, "for tests"},
		{"github.com/rogpeppe/go-internal", nil, "for tests"},
		{"github.com/santhosh-tekuri/jsonschema/v6", []string{"schema/conform"},
			"for tests; its initialization takes milliseconds"},
		{"github.com/sashabaranov/go-openai", []string{"core/effects/model/embeddings.go", "core/effects/model/chat/openai.go"},
			"one file for each API: requests of embeddings and of Chat Completions"},
		{"github.com/sourcegraph/jsonrpc2", []string{"server/rpc.go", "server/remote/remote.go"}, "one connection to each client or server"},
		{"github.com/stretchr/testify", []string{"platform/fieldtest", "core/pure/snapshot/snapshottest", "rollout/fleet/fleettest", "rollout/postgres/pgtest",
			"rollout/store/storetest"}, "for tests"},
		{"github.com/tidwall/gjson",
			[]string{"core", "core/pure/digest", "core/pure/history", "core/effects/model/chat", "core/effects/model/responses", "core/pure/state",
				"core/pure/toolspec",
				"core/pure/transcript", "protocol", "rollout", "rollout/line", "rollout/listing"},
			"they read one member of many lines or items; full decoding would dominate the time of a resume or a stream"},
		{"github.com/tiktoken-go/tokenizer", nil, "for tests"},
		{"go.starlark.net", []string{"core/pure/execrule"}, "the parser of files with rules"},
		{"go.uber.org/goleak", nil, "for tests"},
		{"go.uber.org/zap", []string{"cmd/appserver/internal/app", "cmd/appserver/internal/fleet", "core/engine", "server"},
			"only parts that live as long as the process log; the others return errors"},
		{"go.yaml.in/yaml/v3", []string{"core/effects/config", "core/effects/skill"}, "one reads config.yaml, the other skills"},
		{"github.com/zalando/go-keyring", []string{"platform/keyring"}, "one owner of the keyring"},
		{"golang.org/x/oauth2", []string{"core/effects/account", "core/effects/mcp/login"},
			"logins of the user: at the vendor of models, and at MCP servers"},
		{"golang.org/x/net", []string{"platform/httpclient"}, "the rules for NO_PROXY, as in net/http"},
		{"golang.org/x/sys",
			[]string{"cmd/appserver/internal/app", "core/effects/host", "platform/osfile", "core/effects/sandbox", "core/effects/tool", "rollout/postgres"},
			"they control processes, open folders by single names, read the creation time of files, or set options of sockets"},
		{"golang.org/x/term", []string{"cmd/appserver/internal/cli"}, "it asks any system for the size of a terminal"},
		{"golang.org/x/text", []string{"core/pure/patch"}, "the forms of Unicode, in which patches and files can differ"},
		{"modernc.org/sqlite", []string{"platform/database"}, "one owner of databases"},
		{"mvdan.cc/sh/v3", []string{"core/pure/command"}, "one parser of shell scripts"},
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
		case s.isTestFile(), slices.Contains(l.users, s.pkg()), slices.Contains(l.users, s.path):
			return ""
		case len(l.users) == 0:
			return fmt.Sprintf("%s imports %s, which only tests may import", s.path, name)
		}
		return fmt.Sprintf("%s imports %s; only %s may import it: %s", s.path, name, strings.Join(l.users, ", "), l.reason)
	}
	return fmt.Sprintf("%s imports %s, which is not in libraries: add it with the reason", s.path, name)
}
