package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// show formats an action as type name|query path: command.
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

// understood are scripts with their actions, as show formats them.
var understood = map[string]string{
	"more a.txt":                        "read a.txt <a.txt>: more a.txt",
	"less -p x a.txt":                   "read a.txt <a.txt>: less -p x a.txt",
	"nl -b a a.txt":                     "read a.txt <a.txt>: nl -b a a.txt",
	"tail -n 5 -q -- -a":                "read -a <-a>: tail -n 5 -q -- -a",
	"sed -n '$p' a.txt":                 "read a.txt <a.txt>: sed -n '$p' a.txt",
	"sed --quiet --expression=5p a.txt": "read a.txt <a.txt>: sed --quiet --expression=5p a.txt",
	"cat a.txt | awk '{print $1}'":      "read a.txt <a.txt>: cat a.txt",
	"cat a.txt | cut -d : -f 1 | tac":   "read a.txt <a.txt>: cat a.txt",
	"cat a.txt | tr a b | column -s :":  "read a.txt <a.txt>: cat a.txt",
	"cat a.txt | rev | fold -w 80":      "read a.txt <a.txt>: cat a.txt",
	"cat a.txt | nl | less":             "read a.txt <a.txt>: cat a.txt",
	"cat a.txt | sort -t : -k 2 | uniq": "read a.txt <a.txt>: cat a.txt",
	"printf '%s' x; : ; pwd; ls":        "listFiles: ls",
	"egrep 'a|b' x":                     `search "a|b" <x>: egrep 'a|b' x`,
	"fgrep -c a x":                      `search "a" <x>: fgrep -c a x`,
	"fdfind foo":                        `search "foo": fdfind foo`,
	"find":                              "listFiles: find",
	"find a b ! -empty":                 "listFiles <a>: find a b ! -empty",
	"find a -iname 'x' -name y":         `search "x" <a>: find a -iname 'x' -name y`,
	"rg -t go --files":                  "listFiles: rg -t go --files",
	"cat a.txt":                         "read a.txt <a.txt>: cat a.txt",
	"cat src/a.txt b.txt": "read a.txt <src/a.txt>: cat src/a.txt b.txt; read b.txt <b.txt>: cat " +
		"src/a.txt b.txt",
	"head -n 5 a.txt":                  "read a.txt <a.txt>: head -n 5 a.txt",
	"head -5 a.txt":                    "read a.txt <a.txt>: head -5 a.txt",
	"tail -n +3 src/x.go":              "read x.go <src/x.go>: tail -n +3 src/x.go",
	"sed -n '1,10p' src/x.go":          "read x.go <src/x.go>: sed -n '1,10p' src/x.go",
	"sed -n -e 1,10p x.go":             "read x.go <x.go>: sed -n -e 1,10p x.go",
	"nl -ba src/x.go | sed -n '1,20p'": "read x.go <src/x.go>: nl -ba src/x.go",
	"bat -r 1:20 x.go":                 "read x.go <x.go>: bat -r 1:20 x.go",
	"less a.txt":                       "read a.txt <a.txt>: less a.txt",
	"awk '{print $1}' a.txt | head":    "read a.txt <a.txt>: awk '{print $1}' a.txt",
	`cat "my file" it\'s`: `read my file <my file>: cat "my file" it\'s; ` +
		`read it's <it's>: cat "my file" it\'s`,
	"cat a.txt | head -50":             "read a.txt <a.txt>: cat a.txt",
	"cat a.txt | sed 's/a/b/' | wc -l": "read a.txt <a.txt>: cat a.txt",
	"cat a.txt 2>/dev/null || true":    "read a.txt <a.txt>: cat a.txt",
	"cat a.txt; echo ---; cat b.txt":   "read a.txt <a.txt>: cat a.txt; read b.txt <b.txt>: cat b.txt",
	"cat a.txt\nls src":                "read a.txt <a.txt>: cat a.txt; listFiles <src>: ls src",
	"cd src && cat x.go":               "read x.go <src/x.go>: cat x.go",
	"cd /etc; cd ssl; cat x ~/y /z": "read x </etc/ssl/x>: cat x ~/y /z; read y <~/y>: cat x ~/y /z; read z </z>: " +
		"cat x ~/y /z",
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
}

func TestActionsOfKnownScripts(t *testing.T) {
	for script, want := range understood {
		var lines []string
		for _, action := range Actions(script) {
			lines = append(lines, show(action))
		}
		require.Equal(t, want, strings.Join(lines, "; "), script)
	}
}

// notUnderstood are scripts with the reason why they are unknown.
var notUnderstood = map[string]string{
	"":                           "nothing",
	" ":                          "nothing but space",
	"# nothing":                  "nothing but a comment",
	"echo hi":                    "only shapes what is shown",
	"pwd":                        "only tells where it is",
	"true":                       "does nothing",
	"make":                       "not a known program",
	"git status":                 "not a known subcommand",
	"git":                        "no subcommand",
	"git status && ls":           "in a list",
	"cat":                        "reads its input",
	"cat -":                      "reads its input, by name",
	"head ''":                    "no file",
	"ls; rm x":                   "something else after it",
	"cat a | tee b":              "writes",
	"find . -name x | xargs rm":  "runs something",
	"find . -delete":             "deletes",
	"find . -exec rm {} +":       "runs",
	"fd -x rm":                   "runs for each",
	"fd -X rm":                   "runs for all",
	"sed -i s/a/b/ x":            "edits",
	"sed s/a/b/ x":               "shows another text",
	"sed -n /a/p x":              "searches, in a way",
	"sed -f a b":                 "a script that is not here",
	"sort -o x y":                "writes",
	"rg":                         "no pattern",
	"rg --pre x foo":             "runs a preprocessor",
	"rg --version":               "tells its version",
	"git grep -O foo":            "runs a pager",
	"wc -l a.txt":                "counts",
	"less -o a b":                "writes",
	"awk -f a b":                 "a program that is not here",
	"cat $f":                     "a variable",
	"cat `f`":                    "a command substitution",
	`cat "$(f)"`:                 "a quoted one",
	"cat ${f}":                   "a variable in braces",
	"cat <a":                     "an input",
	"cat a >b":                   "an output",
	"cat a &> b":                 "all output",
	"x=1 cat a":                  "an assignment",
	"f=1":                        "only an assignment",
	"cat a &":                    "in the background",
	"! cat a":                    "negated",
	"(cat a)":                    "a subshell",
	"{ cat a; }":                 "a group",
	"if true; then cat a; fi":    "a condition",
	"for i in 1; do cat a; done": "a loop",
	"while ls; do ls; done":      "another loop",
	"cat <<E\nx\nE":              "a here-document",
	"cat a |& head":              "another pipe",
	"cd && ls":                   "where is home?",
	"cd - && ls":                 "where was it?",
	"cd a b && ls":               "where to?",
	"cat 'a":                     "no end",
	"cat a)":                     "no beginning",
	"cat <(ls)":                  "a process substitution",
	"a() { ls; }; a":             "a function",
	"cat $'a\\n'":                "an escaped string",
	`cat $"a"`:                   "a translated string",
	"cat a {fd}>/dev/null":       "a descriptor in a variable",
	"[[ -f a ]]":                 "a test",
	"time ls":                    "a keyword",
	"ls +(x)":                    "an extended pattern",
}

func TestActionsOfUnknownScripts(t *testing.T) {
	for script, why := range notUnderstood {
		require.Equal(t, []protocol.CommandAction{{Type: "unknown", Command: script}}, Actions(script), "%q: %s", script, why)
	}
}

func TestEveryProgramIsTried(t *testing.T) {
	var scripts strings.Builder
	for script := range understood {
		scripts.WriteString(" " + script)
	}
	for name := range usages {
		require.Contains(t, scripts.String(), " "+name, name)
	}
}

func TestLongScriptsAreUnknown(t *testing.T) {
	longest := "cat " + strings.Repeat("a", maxScript-4)
	require.Equal(t, "read", Actions(longest)[0].Type)
	require.Equal(t, longest[4:], Actions(longest)[0].Name)
	require.Equal(t, []protocol.CommandAction{{Type: "unknown", Command: longest + "a"}}, Actions(longest+"a"))
}

func TestHostileScriptsAreAnalysedInTime(t *testing.T) {
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
	for script := range understood {
		f.Add(script)
	}
	for script := range notUnderstood {
		f.Add(script)
	}
	f.Add("\\\n")
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
