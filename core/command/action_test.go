package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// show writes an action as type name|query path: command.
func show(a protocol.CommandAction) string {
	line := a.Type
	if a.Name != "" {
		line += " " + a.Name
	}
	if a.Query != nil {
		line += fmt.Sprintf(" %q", *a.Query)
	}
	if a.Path != nil {
		line += " <" + *a.Path + ">"
	}
	return line + ": " + a.Command
}

func TestActionsOfWhatIsUnderstood(t *testing.T) {
	for script, want := range map[string]string{
		"cat a.txt":                         "read a.txt <a.txt>: cat a.txt",
		"cat src/a.txt b.txt":               "read a.txt <src/a.txt>: cat src/a.txt b.txt; read b.txt <b.txt>: cat src/a.txt b.txt",
		"head -n 5 a.txt":                   "read a.txt <a.txt>: head -n 5 a.txt",
		"head -5 a.txt":                     "read a.txt <a.txt>: head -5 a.txt",
		"tail -n +3 src/x.go":               "read x.go <src/x.go>: tail -n +3 src/x.go",
		"sed -n '1,10p' src/x.go":           "read x.go <src/x.go>: sed -n '1,10p' src/x.go",
		"sed -n -e 1,10p x.go":              "read x.go <x.go>: sed -n -e 1,10p x.go",
		"nl -ba src/x.go | sed -n '1,20p'":  "read x.go <src/x.go>: nl -ba src/x.go",
		"bat -r 1:20 x.go":                  "read x.go <x.go>: bat -r 1:20 x.go",
		"less a.txt":                        "read a.txt <a.txt>: less a.txt",
		"awk '{print $1}' a.txt | head":     "read a.txt <a.txt>: awk '{print $1}' a.txt",
		`cat "my file" it\'s`:               `read my file <my file>: cat "my file" it\'s; read it's <it's>: cat "my file" it\'s`,
		"cat a.txt | head -50":              "read a.txt <a.txt>: cat a.txt",
		"cat a.txt | sed 's/a/b/' | wc -l":  "read a.txt <a.txt>: cat a.txt",
		"cat a.txt 2>/dev/null || true":     "read a.txt <a.txt>: cat a.txt",
		"cat a.txt; echo ---; cat b.txt":    "read a.txt <a.txt>: cat a.txt; read b.txt <b.txt>: cat b.txt",
		"cat a.txt\nls src":                 "read a.txt <a.txt>: cat a.txt; listFiles <src>: ls src",
		"cd src && cat x.go":                "read x.go <src/x.go>: cat x.go",
		"cd /etc; cd ssl; cat x ~/y /z":     "read x </etc/ssl/x>: cat x ~/y /z; read y <~/y>: cat x ~/y /z; read z </z>: cat x ~/y /z",
		"cd src && ls":                      "listFiles <src>: ls",
		"ls":                                "listFiles: ls",
		"ls -la src lib":                    "listFiles <src>: ls -la src lib",
		"ls -I foo src | sort | uniq -c":    "listFiles <src>: ls -I foo src",
		"tree -L 2 src":                     "listFiles <src>: tree -L 2 src",
		"rg --files src | head -50":         "listFiles <src>: rg --files src",
		"git ls-files src | wc -l":          "listFiles <src>: git ls-files src",
		"find src -type f":                  "listFiles <src>: find src -type f",
		"find . -name '*.go'":               `search "*.go" <.>: find . -name '*.go'`,
		"fd -e go":                          "listFiles: fd -e go",
		"fd -t f foo src":                   `search "foo" <src>: fd -t f foo src`,
		"rg -n foo":                         `search "foo": rg -n foo`,
		"rg -g '*.go' foo src":              `search "foo" <src>: rg -g '*.go' foo src`,
		`grep -rn "foo bar" src lib`:        `search "foo bar" <src>: grep -rn "foo bar" src lib`,
		"grep -A 3 -rne foo -e bar src":     `search "foo" <src>: grep -A 3 -rne foo -e bar src`,
		"grep --regexp=foo src":             `search "foo" <src>: grep --regexp=foo src`,
		"ag foo src":                        `search "foo" <src>: ag foo src`,
		"git grep -n foo -- src":            `search "foo" <src>: git grep -n foo -- src`,
		"rg --files | grep foo":             `listFiles: rg --files; search "foo": grep foo`,
		"cd src && cat a | grep foo":        `read a <src/a>: cat a; search "foo": grep foo`,
		"cat a.txt # the first\n# and more": "read a.txt <a.txt>: cat a.txt",
	} {
		var lines []string
		for _, action := range Actions(script) {
			lines = append(lines, show(action))
		}
		require.Equal(t, want, strings.Join(lines, "; "), script)
	}
}

func TestActionsOfWhatIsNotUnderstood(t *testing.T) {
	for _, script := range []string{
		"", " ", "# nothing", "echo hi", "pwd", "true", "make", "git status", "git status && ls", "cat", "cat -",
		"ls; rm x", "cat a | tee b", "find . -name x | xargs rm", "find . -delete", "find . -exec rm {} +",
		"fd -x rm", "sed -i s/a/b/ x", "sed s/a/b/ x", "sort -o x y", "rg", "rg --pre x foo", "git grep -O foo",
		"wc -l a.txt", "cat $f", "cat `f`", `cat "$(f)"`, "cat ${f}", "cat <a", "cat a >b", "cat a &> b", "x=1 cat a",
		"cat a &", "! cat a", "(cat a)", "{ cat a; }", "if true; then cat a; fi", "for i in 1; do cat a; done",
		"cat <<E\nx\nE", "cat a |& head", "cd && ls", "cd - && ls", "cat 'a", "cat a)", "cat <(ls)", "a() { ls; }; a",
		"cat $'a\\n'", `cat $"a"`, "cat a {fd}>/dev/null", "f=1", "[[ -f a ]]", "time ls", "ls +(x)", "head ''",
	} {
		require.Equal(t, []protocol.CommandAction{{Type: "unknown", Command: script}}, Actions(script), script)
	}
}

func TestBadScriptsTakeNoTime(t *testing.T) {
	n := maxScript
	for _, script := range []string{
		strings.Repeat("(", n), strings.Repeat("((", n/2), strings.Repeat("$((", n/3), strings.Repeat("$(", n/2),
		strings.Repeat("`", n), strings.Repeat("{ ", n/2), strings.Repeat("if ", n/3), strings.Repeat("${a:-", n/5),
		strings.Repeat("a|", n/2), strings.Repeat("[[ ( ", n/5), strings.Repeat("<<a ", n/4), strings.Repeat(`"$(`, n/3),
		strings.Repeat("x=(", n/3), strings.Repeat("case a in a) ", n/13), strings.Repeat("!", n), strings.Repeat("@(", n/2),
		strings.Repeat("(", 8<<20),
	} {
		begin := time.Now()
		require.Equal(t, []protocol.CommandAction{{Type: "unknown", Command: script}}, Actions(script))
		require.False(t, Safe(script))
		require.Less(t, time.Since(begin), 5*time.Second, script[:20])
	}
}

func FuzzActions(f *testing.F) {
	for _, seed := range []string{"cd a && cat b | head", "find . -name x", "rg --files -g '*'", "sed -n 1,2p a", "a\\\n", "\\\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		found := Actions(script)
		require.NotEmpty(t, found)
		for _, action := range found {
			require.Contains(t, script, action.Command)
			switch action.Type {
			case "read":
				require.NotEmpty(t, action.Name)
				require.NotEmpty(t, *action.Path)
			case "search":
				require.NotNil(t, action.Query)
			case "listFiles":
				require.Nil(t, action.Query)
			default:
				require.Equal(t, []protocol.CommandAction{{Type: "unknown", Command: script}}, found)
			}
		}
	})
}
