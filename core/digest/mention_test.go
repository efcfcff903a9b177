package digest_test

import (
	"strings"
	"testing"

	"appserver/core/digest"

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
		"a folder by its name":              {file("a/b/"), "made b", false},
		"a command by its script":           {run("make"), "ran make", false},
		"a command by program and argument": {run("go test -run X ./core (exit 1)"), "go test fails", false},
		"a command with flags first":        {run("go -C x test"), "ran go x", false},
		"a command behind cd":               {run("cd src && X=1 npm run build …"), "ran npm run", false},
		"the program alone":                 {run("go test ./..."), "go is used", true},
		"a command within a word":           {run("make"), "the makefile", true},
		"a sentence by most of its words": {bound("Never push branches to the public remote."),
			"branches: never pushed, public remote stays", false},
		"a sentence with too few of its words": {bound("Never push branches to the public remote."), "the remote is public",
			true},
		"a sentence of short words, whole":       {bound("Do it now"), "we DO IT NOW then", false},
		"a sentence of short words, in parts":    {bound("Do it now"), "do what is due now", true},
		"a Chinese sentence by pairs of letters": {bound("不要修改公共接口"), "用户说：不要修改那个公共接口", false},
		"another Chinese sentence":               {bound("不要修改公共接口"), "运行测试", true},
		"a Russian sentence":                     {bound("Никогда не меняйте схему"), "никогда не меняйте эту схему", false},
		"a Japanese sentence with a Latin word":  {bound("必ずbuildしてください"), "必ず build してください", false},
	} {
		require.Equal(t, c.missing, !c.fact.Missing(c.text).Empty(), name)
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
