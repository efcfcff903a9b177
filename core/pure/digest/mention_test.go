package digest_test

import (
	"strings"
	"testing"

	"appserver/core/pure/digest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

func TestMentionedFacts(t *testing.T) {
	file := func(s string) digest.Facts { return digest.Facts{FilesChanged: []string{s}} }
	run := func(s string) digest.Facts { return digest.Facts{CommandsRun: []string{s}} }
	bound := func(s string) digest.Facts { return digest.Facts{UserConstraints: []string{s}} }
	for name, c := range map[string]struct {
		fact    digest.Facts
		text    string
		missing bool
	}{
		"a file by its path":                {file("a/main.go"), "changed a/main.go.", false},
		"a file by its last part":           {file("a/main.go"), "changed `main.go`", false},
		"a file beside other letters":       {file("a/main.go"), "改了main.go文件", false},
		"another file with the same end":    {file("main.go"), "changed domain.go", true},
		"another file with the same name":   {file("a/main.go"), "changed b/main.go", true},
		"a file by its absolute path":       {file("a/main.go"), "changed /repo/a/main.go", false},
		"a folder by its name":              {file("a/b/"), "made b", false},
		"a command by its script":           {run("make"), "ran make", false},
		"a command by program and argument": {run("go test -run X ./core (exit 1)"), "go test fails", false},
		"a failed command without failure":  {run("go test ./... (exit 1): a.go:3: want 5"), "ran go test", true},
		"a failed command with its cause":   {run("go test ./... (exit 1): a.go:3: want 5"), "ran go test\na.go:3: want 5", false},
		"a failed command, another cause":   {run("go test ./... (exit 1): a.go:3: want 5"), "ran go test\na.go:9: want 5", true},
		"a command with flags first":        {run("go -C x test"), "ran go x", false},
		"a command behind cd":               {run("cd src && X=1 npm run build …"), "ran npm run", false},
		"the program alone":                 {run("go test ./..."), "go is used", true},
		"a command within a word":           {run("make"), "the makefile", true},
		"a sentence by most of its words": {bound("Never push branches to the public remote."),
			"branches: never pushed, public remote stays", false},
		"a sentence with too few of its words": {bound("Never push branches to the public remote."), "the remote is public",
			true},
		"a sentence of short words, whole":       {bound("Do it now"), "we DO IT NOW, then", false},
		"a sentence of short words, in parts":    {bound("Do it now"), "do what is due now", true},
		"a Chinese sentence by pairs of letters": {bound("不要修改公共接口"), "用户说：不要修改那个公共接口", false},
		"another Chinese sentence":               {bound("不要修改公共接口"), "运行测试", true},
		"a Russian sentence":                     {bound("Никогда не меняйте схему"), "никогда не меняйте эту схему", false},
		"a Japanese sentence with a Latin word":  {bound("必ずbuildしてください"), "必ず build してください", false},
	} {
		require.Equal(t, c.missing, !c.fact.Missing(c.text).Empty(), name)
	}
}

func TestARuleIsKeptOnlyWithItsNumbersNamesAndNegation(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		kept       bool
	}{
		{"Uploads must have at most 5 MB.", "Uploads must have at most 5 MB.", true},
		{"Uploads must have at most 5 MB.", "- uploads: at most 5MB", true},
		{"Uploads must have at most 5 MB.", "Uploads must have at most 8 MB.", false},
		{"Uploads must have at most 5 MB.", "Uploads must have at most 5 GB.", false},
		{"Uploads must have at most 5 MB.", "Uploads of 5 MB work.", false},
		{"Change at most two files.", "At most 2 files may change; change files with care.", true},
		{"Never touch vendor/legacy.", "Do not touch vendor/legacy.", true},
		{"Never touch vendor/legacy.", "You must touch vendor/legacy.", false},
		{"Never touch vendor/legacy.", "Never touch vendor/other.", false},
		{"Never touch vendor/legacy.", "Never touch tests. Always update vendor/legacy.", false},
		{"Never push", "Never push to forks of others", false},
		{"You must always use tabs.", "You must always use spaces.", false},
		{"Only Anna may merge.", "Only Bert may merge.", false},
		{"Use `make check` before you must commit.", "You must use make lint before each commit.", false},
		{"Use camelCase, never snakes.", "Never use snakes, use lowercase.", false},
		{"Höchstens drei Dateien ändern.", "Es dürfen höchstens 3 Dateien sein, die wir ändern.", true},
		{"Höchstens drei Dateien ändern.", "Höchstens vier Dateien ändern.", false},
		{"Ändere nie die API.", "Ändere die API immer.", false},
		{"Ne modifie jamais ce fichier.", "Modifie toujours ce fichier.", false},
		{"不要修改公共接口", "必须修改公共接口", false},
		{"NEVER push to main.", "never push to main", true},
		{"Don’t push to main.", "don't push to main", true},
		{"Never push, never\ttag.", "  - never push, never tag", true},
	} {
		missing := digest.Facts{UserConstraints: []string{c.rule}}.Missing(c.text).UserConstraints
		require.Equal(t, c.kept, len(missing) == 0, "%s\n%s", c.rule, c.text)
	}
}

func TestFilesWithOneNameAreToldApart(t *testing.T) {
	f := digest.Facts{FilesChanged: []string{"a/main.go", "cmd/b/main.go", "main.go", "x/only.go"}}
	for text, missing := range map[string][]string{
		"main.go and only.go":  {"a/main.go", "cmd/b/main.go"},
		"a/main.go, x/only.go": {"cmd/b/main.go", "main.go"},
		"b/main.go":            {"a/main.go", "main.go", "x/only.go"},
		"./main.go":            {"a/main.go", "cmd/b/main.go", "x/only.go"},
		"cmd/b/main.go, a/main.go, main.go, only.go": {},
	} {
		require.Equal(t, missing, f.Missing(text).FilesChanged, text)
	}
}

func TestMissingIsAPartOfTheFacts(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		f := digest.Of(stretch().Draw(t, "items"))
		missing := lists(f.Missing(text().Draw(t, "text")))
		for i, all := range lists(f) {
			require.NotNil(t, missing[i])
			require.Subset(t, all, missing[i])
		}
		require.True(t, f.Missing(written(f)).Empty(), "a text with all of it mentions all of it")
	})
}

func written(f digest.Facts) string {
	var all []string
	for _, list := range lists(f) {
		all = append(all, list...)
	}
	return strings.Join(all, "\n")
}
