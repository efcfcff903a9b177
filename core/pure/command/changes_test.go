package command

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// changedFiles are scripts with the files that they change, separated by spaces.
var changedFiles = map[string]string{
	"":                                   "",
	"go build ./... > build.log":         "build.log",
	"a >> log 2>>err; b &> all":          "log err all",
	"a >| x; b &>> y; c <> z":            "x y z",
	"a > /dev/null 2>&1 </dev/tty":       "",
	"a > /dev/stderr":                    "",
	"sort < in":                          "",
	"cat > a.go <<'EOF'\nrm b\n> c\nEOF": "a.go",
	"make | tee -a out.txt /dev/tty":     "out.txt",
	"rm -rf build a.txt":                 "build a.txt",
	"rm -- -x a":                         "a",
	"rm *.o keep.c":                      "keep.c",
	`rm "$dir/a" b`:                      "b",
	"rmdir d":                            "d",
	"sudo rm a; command rm b":            "a b",
	"mv a b":                             "a b",
	"mv a b dir":                         "a b dir dir/a dir/b",
	"cp a b":                             "b",
	"cp a dir/":                          "dir/a",
	"cp -r a b dir":                      "dir/a dir/b",
	"cp $a $b c/":                        "",
	"touch -d yesterday a":               "a",
	"mkdir -p -m 755 a/b":                "a/b",
	"sed -n 1,5p a":                      "",
	"sed s/a/b/ a":                       "",
	"sed -i s/a/b/ x y":                  "x y",
	"sed -i.bak -e s/a/b/ x":             "x",
	"sed -i '' s/a/b/ x":                 "x",
	"sed -E -i -e s/a/b/ -e s/c/d/ x":    "x",
	"sed -ni p x":                        "x",
	"sed --in-place=.b s/a/b/ x":         "x",
	"git mv a b; git rm -r c":            "a b c",
	"git commit -m 'rm x'":               "",
	"g'it '0":                            "",
	"git":                                "",
	"cd src && touch a && cd ../lib; touch b": "src/a lib/b",
	"(cd src && touch a); touch b":            "src/a b",
	"x=$(cd src; touch a); touch b":           "src/a b",
	"cd $X; touch a":                          "a",
	"cd; touch a":                             "a",
	"cd /tmp && touch a ~/b":                  "/tmp/a ~/b",
	"if x; then touch a; fi":                  "a",
	"for f in a b; do rm $f; done > log":      "log",
	"touch a; touch a":                        "a",
	"echo 'rm a'":                             "",
	"rm a 'unclosed":                          "",
	"tee":                                     "",
	"sed -i":                                  "",
}

func TestChangesAreTheFilesThatAScriptNamesAsChanged(t *testing.T) {
	for script, want := range changedFiles {
		found := Changes(script)
		require.ElementsMatch(t, strings.Fields(want), found, script)
	}
}

func TestChangesReadScriptsThatWriteLongDocuments(t *testing.T) {
	body := strings.Repeat("rm other # 'unclosed\n", maxScript/10)
	require.Equal(t, []string{"a.txt", "b"}, Changes("cat > a.txt <<'END'\n"+body+"END\ntouch b\n"))
	require.Equal(t, []string{"a.txt"}, Changes("cat > a.txt <<-END\n"+body+"\tEND\n"))
	require.Empty(t, Changes("cat > a.txt <<END\n"+body), "no end")
	require.Empty(t, Changes(strings.Repeat("touch a\n", maxScript)), "too long")
}

func FuzzChanges(f *testing.F) {
	for script := range changedFiles {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		seen := map[string]bool{}
		for _, file := range Changes(script) {
			require.NotEmpty(t, file)
			require.NotContains(t, file, "\x00")
			require.False(t, seen[file], "twice: %q", file)
			seen[file] = true
			require.True(t, utf8.ValidString(file) || !utf8.ValidString(script), file)
		}
		if Safe(script) {
			require.Empty(t, seen, "a script that only reads changes nothing")
		}
	})
}
