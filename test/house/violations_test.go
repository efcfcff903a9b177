package house

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// houseOf returns a tree with files, given as pairs of path and text.
func houseOf(t *testing.T, files ...string) *houseTree {
	t.Helper()
	fsys := fstest.MapFS{".gitignore": {Data: []byte("/bin/\n*.test\n")}}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	tree, err := readHouse(fsys)
	require.NoError(t, err)
	return tree
}

// findingsOf returns the findings of one rule.
func findingsOf(t *testing.T, rule string, tree *houseTree) string {
	t.Helper()
	for _, r := range houseRules() {
		if r.name == rule {
			return strings.Join(r.find(tree), "\n")
		}
	}
	require.Fail(t, "no such rule", rule)
	return ""
}

// TestHouseRulesFindViolations breaks each rule in a small tree and looks for the finding.
func TestHouseRulesFindViolations(t *testing.T) {
	long := "package core\n\nfunc f() {\n" + strings.Repeat("\tf()\n", 90) + "}\n"
	for _, c := range []struct{ rule, file, text, want string }{
		{"imports", "rollout/a.go", "package rollout\nimport \"appserver/core/pure/history\"",
			"rollout/a.go imports core/pure/history; the floor rollout may import only [protocol platform rollout]"},
		{"imports", "core/engine/a.go", "package engine\nimport \"appserver/server\"", "core/engine/a.go imports server"},
		{"imports", "core/pure/a/a.go", "package a\nimport \"appserver/core\"", "core/pure/a/a.go imports core"},
		{"imports", "core/a/a.go", "package a", "package core/a is on no floor"},
		{"libraries", "core/a.go", "package core\nimport \"go.uber.org/zap/zapcore\"",
			"core/a.go imports go.uber.org/zap/zapcore; only cmd/appserver/internal/app, cmd/appserver/internal/fleet, core/engine, server may import it"},
		{"libraries", "core/a.go", "package core\nimport \"github.com/stretchr/testify/require\"",
			"only platform/fieldtest, core/pure/snapshot/snapshottest, rollout/fleet/fleettest, rollout/postgres/pgtest, rollout/store/storetest may import it"},
		{"libraries", "core/a_test.go", "package core\nimport \"example.com/new\"",
			"example.com/new, which is not in libraries"},
		{"purity", "core/a.go", "package core\nimport \"os/exec\"", "core/a.go imports os/exec"},
		{"purity", "core/a.go", "package core\nimport clock \"time\"\nvar f = clock.Now", "core/a.go:3: time.Now"},
		{"purity", "core/a.go", "package core\nfunc f() { go f() }", "core/a.go:2: a go statement"},
		{"purity", "core/a.go", "package core\nimport \"sync\"\nvar f = sync.Mutex{}", "core/a.go:3: sync.Mutex"},
		{"ports", "core/engine/a.go", "package engine\ntype P interface { A(); B(); C(); D() }",
			"core/engine/a.go:2: the port P has 4 methods, more than 3"},
		{"ports", "core/engine/recall/a.go", "package recall\ntype (\nQ interface { A(); B() }\n" +
			"P interface { Q; C(); error }\n)", "core/engine/recall/a.go:4: the port P has 4 methods"},
		{"entrances", "cmd/appserver/internal/app/a.go", "package app\nimport \"appserver/server/forward\"",
			"cmd/appserver/internal/app/a.go imports server/forward: call cmd/appserver/internal/fleet"},
		{"stored threads", "core/engine/a.go", "package engine\nimport \"path/filepath\"",
			"core/engine/a.go imports path/filepath"},
		{"stored threads", "core/engine/a.go", "package engine\nimport \"appserver/rollout\"\nvar s rollout.Store",
			"core/engine/a.go:3: rollout.Store"},
		{"package docs", "core/a.go", "// A comment.\npackage core", `begins with "Package core "`},
		{"package docs", "cmd/appserver/a.go", "package main", `begins with "Command "`},
		{"exported docs", "core/a.go", "package core\ntype T int\n// M is.\nfunc (T) M() {}", "core/a.go:2: T is exported"},
		{"exported docs", "core/a.go", "package core\n// T is.\ntype T int\nfunc (*T) M() {}",
			"core/a.go:4: T.M is exported"},
		{"function size", "core/a.go", long, "core/a.go:3 f has 92 lines, more than 80"},
		{"function size", "core/a.go", long, "5 % of the functions have at least 92 lines"},
		{"file size", "core/a.go", "package core\n" + strings.Repeat("\n", 600), "core/a.go has 601 lines"},
		{"names", "core/path_util.go", "package core", `core/path_util.go: the name "util"`},
		{"names", "core/helpers/a_test.go", "package helpers", `the name "helpers"`},
		{"decoders", "core/a.go", "package core\nimport \"encoding/json\"\nvar f = json.Unmarshal",
			"core/a.go:3: json.Unmarshal matches names in any case"},
		{"turn states", "core/a.go", "package core\nfunc f(s *step) bool { return s.active == nil }",
			"core/a.go:2: active is compared with nil: use a predicate of core/turnmachine.go"},
		{"turn states", "core/a.go", "package core\nfunc f(t *turn) bool { return t.outcome != nil }",
			"core/a.go:2: outcome is compared with nil"},
		{"turn states", "core/a.go", "package core\nfunc f(s *step) { s.active.request = nil }",
			"core/a.go:2: request is assigned: call a become function"},
		{"transports", "core/a.go", "package core\nvar f = http.Client{Transport: &http.Transport{}}",
			"core/a.go:2: http.Transport: call platform/httpclient"},
		{"init", "core/a.go", "package core\nfunc init() {}", "core/a.go:2: func init"},
		{"variables", "core/a.go", "package core\nvar n = 1", "core/a.go:2: package variable n"},
		{"variables", "core/a.go", "package core\nvar mu sync.Mutex", "package variable mu"},
		{"variables", "core/a.go", "package core\nvar m = make(map[string]int)", "package variable m"},
		{"goroutines", "core/effects/tool/a.go", "package tool\nfunc f() { go f() }", "core/effects/tool/a.go starts goroutines"},
		{"goroutines", "core/effects/tool/a.go", "package tool\nfunc f() { group.Go(f) }\n", "core/effects/tool/a.go starts goroutines"},
		{"goroutines", "server/conn.go", "package server\nfunc f() { go f() }",
			"package server starts goroutines, but its package doc does not describe them"},
		{"unclear comments", "other/a.go", "package other\n\n// f is what tells of it.\nfunc f() {}",
			`other/a.go:4: "f is what" in a comment`},
		{"unclear comments", "other/a.go", "package other\n\n// T is what a client sees.\ntype T int",
			`other/a.go:4: "T is what" begins a comment`},
		{"unclear comments", "other/a.go", "package other\n\n// T lets the thread go.\ntype T int",
			"1 of 1 doc comments match"},
		{"verbless comments", "other/a.go", "package other\n\n// the size of the queue.\nfunc f() {}",
			"other/a.go:4: the comment of f: begin it with the name"},
		{"verbless comments", "other/a_test.go", "package other\n\n// f is the size of the queue.\nfunc f() {}",
			`other/a_test.go:4: the comment of f: replace "is" by a verb in the third person`},
		{"verbless comments", "other/a.go", "package other\n\n// M never tells the size.\nfunc (T) M() {}",
			`the comment of M: replace "tells"`},
		{"verbless comments", "other/a.go", "package other\n\n// f also\nfunc f() {}", "the comment of f: add a verb"},
		{"verbless comments", "other/a.go", "package other\n\n// f returns what was read.\nfunc f() {}",
			`"returns what": name the result by a noun`},
		{"verbless comments", "other/a.go", "package other\n\ntype I interface {\n\t// M are the rows.\n\tM()\n}",
			`other/a.go:5: the comment of M: replace "are"`},
		{"line width", "other/a.go", "package other\n\nvar _ = 1 // " + strings.Repeat("x", 120),
			"other/a.go:3 has 133 columns"},
		{"gofmt", "core/a.go", "package  core\n", "core/a.go is not formatted"},
		{"top level", "notes.txt", "x", "notes.txt is not allowed at the top level"},
		{"documents", "README.md", " \n", "README.md is missing or empty"},
		{"make targets", "README.md", "Run `make tea`.", "README.md names make tea"},
		{"links", "docs/a.md", "[a](b.md#c)", "docs/a.md links to docs/b.md, which does not exist"},
		{"workplace", "docs/a.md", "\nsee " + workplaces()[0] + "x", "docs/a.md:2: " + workplaces()[0]},
	} {
		t.Run(c.rule+" "+c.file, func(t *testing.T) {
			require.Contains(t, findingsOf(t, c.rule, houseOf(t, c.file, c.text)), c.want)
		})
	}
}

// TestHouseRulesAllowValidCode checks code that resembles a fault and is allowed.
func TestHouseRulesAllowValidCode(t *testing.T) {
	table := "package core\nfunc f() []int { return []int{\n" + strings.Repeat("1,\n", 90) + "} }\n"
	for _, c := range []struct{ rule, file, text string }{
		{"libraries", "server/a_test.go", "package server\nimport \"go.uber.org/goleak\""},
		{"libraries", "schema/conform/a.go", "package conform\nimport \"github.com/santhosh-tekuri/jsonschema/v6\""},
		{"purity", "core/a.go", "package core\nimport \"time\"\nimport \"net/url\"\nvar d = time.Second"},
		{"purity", "core/engine/a.go", "package engine\nimport \"os\""},
		{"ports", "core/engine/a.go", "package engine\ntype P interface { A(); B(); C() }"},
		{"ports", "core/engine/a.go", "package engine\n// P is wide because A needs B.\ntype P interface { A(); B(); C(); D() }"},
		{"entrances", "cmd/appserver/internal/fleet/a.go", "package fleet\nimport \"appserver/server/forward\""},
		{"ports", "server/a.go", "package server\ntype P interface { A(); B(); C(); D() }"},
		{"stored threads", "core/effects/host/a.go", "package host\nimport \"os\""},
		{"exported docs", "core/a.go",
			"package core\n// The kinds.\nconst (\n\tA = 1\n\tB = 2\n)\ntype t int\nfunc (t) M() {}"},
		{"function size", "core/a.go", table},
		{"function size", "core/a_test.go", strings.ReplaceAll(table, "return", "_ =")},
		{"file size", "core/a.go", "// Code generated by gen. DO NOT EDIT.\n\npackage core\n" + strings.Repeat("\n", 600)},
		{"unclear comments", "other/a.go", "package other\n\n// f returns the size of the queue.\nfunc f() {}"},
		{"verbless comments", "other/a.go",
			"package other\n\n// F also returns the size, for what follows.\nfunc F() {}\n\nfunc g() {}\n\n// T is a size.\ntype T int"},
		{"verbless comments", "other/a_test.go", "package other\n\n// A client gets the size.\nfunc TestSize(t *testing.T) {}"},
		{"init", "core/a.go", "package core\nfunc (t) init() {}"},
		{"top level", "bin/appserver", "x"},
		{"links", "docs/a.md", "[a](../docs/) [b](a.md#c) [c](https://example.com/d.md) [d](#e)"},
		{"workplace", "docs/a.md", "/home/ann" + workplaces()[0] + "x"},
	} {
		t.Run(c.rule+" "+c.file, func(t *testing.T) {
			require.Empty(t, findingsOf(t, c.rule, houseOf(t, c.file, c.text)))
		})
	}
}

// TestHouseRulesAllowConstantVariables checks each allowed form of a sentinel or table.
func TestHouseRulesAllowConstantVariables(t *testing.T) {
	for _, v := range []string{
		`a = errors.New("x")`, `a = fmt.Errorf("%d", n)`, `a = map[string]bool{"x": true}`, `a = []byte("x")`, `a embed.FS`,
		`a = regexp.MustCompile("x")`, `a = reflect.TypeFor[error]()`, `a = strings.Fields("x y")`, `a = newVariants[T]("x")`,
		`_ I = (*T)(nil)`,
	} {
		tree := houseOf(t, "core/a.go", fmt.Sprintf("package core\nvar %s", v))
		require.NotContains(t, findingsOf(t, "variables", tree), "core/a.go", v)
	}
}

func TestPercentile(t *testing.T) {
	var list sizes
	for i := range 20 {
		list = append(list, sized{lines: 20 - i})
	}
	require.Equal(t, 10, list.percentile(50))
	require.Equal(t, 19, list.percentile(95))
	require.Equal(t, 20, list.percentile(100))
	require.Equal(t, 7, sizes{{lines: 7}}.percentile(50))
	require.Zero(t, sizes(nil).percentile(95))
}
