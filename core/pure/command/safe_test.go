package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

// safeScripts are typical scripts of agents that explore a repository.
var safeScripts = []string{
	"ls",
	"ls -la /",
	"ls ~/x",
	"ls 2>/dev/null",
	"ls \\\n -l",
	"cat a b",
	"cat a\nls\n",
	"pwd; whoami && id || true | false",
	"echo hi > /dev/null 2>&1",
	"echo hi >&2 < /dev/null >> /dev/null",
	"echo 'rm -rf $HOME; `x`'",
	`echo "it's \$5 $"`,
	`echo it\'s \$HOME \* a\ b`,
	"head -n 5 a",
	"tail -n +3 a",
	"tail -20 a",
	"tail -qc5 a b",
	"wc -l a",
	"nl -ba a",
	"grep -rn 'a.*b$' .",
	"egrep 'a|b' a; fgrep -c a b",
	"uniq -c",
	"rg foo",
	"rg -n --pretty foo src",
	"rg --files | sort | uniq -c | head -5",
	"sort -k2,2nr a",
	"cut -d: -f1 /etc/passwd | tr a-z A-Z | rev",
	"find . -name '*.go' -type f",
	`find . \( -name a -o -name b \) -mtime -7 -print`,
	"find . ! -size -10k",
	"sed -n 1,10p a",
	"sed -n '$p' a b",
	"basename /a/b; dirname /a/b; realpath a; readlink -f a",
	"which ls",
	"stat a",
	"uname -a",
	"date",
	"date -u +%s",
	"date '--date=2 days ago' +%F",
	"git status --short",
	"git diff HEAD~2 -- a",
	"git diff --stat -U5 HEAD^",
	"git log --oneline -5",
	"git log -n 5 --format=%H --since yesterday",
	"git show HEAD:a",
	"git branch",
	"git branch -vv",
	"git branch --list 'a*'",
	"git rev-parse --abbrev-ref HEAD",
	"git ls-files -m",
	"git --no-pager log -1",
}

// unsafeScripts are scripts with the reason why they are unsafe.
var unsafeScripts = map[string]string{
	"":                        "nothing to run",
	" \n":                     "nothing to run, either",
	"rm x":                    "not a known program",
	"./ls":                    "somebody's ls",
	"/bin/ls":                 "only names are known",
	"ls; rm x":                "in a list",
	"ls && rm x":              "after success",
	"ls || rm x":              "after failure",
	"ls\nrm x":                "on another line",
	"ls | sh":                 "in a pipe",
	"ls | xargs rm":           "runs what it reads",
	"ls | tee a":              "writes",
	"eval ls":                 "runs text",
	". a":                     "runs a file",
	"source a":                "runs a file, by another name",
	"command ls":              "runs its arguments",
	"exec ls":                 "runs its arguments, too",
	"env ls":                  "and this",
	"time ls":                 "and this keyword",
	"bash -c ls":              "a shell",
	"cd /tmp":                 "git reads the configuration of where it is",
	"printf -v PATH x":        "sets a variable",
	"alias ls=rm":             "renames",
	"export x=1":              "sets a variable",
	"let x=1":                 "sets a variable by arithmetic",
	"x=1":                     "an assignment",
	"x=1 ls":                  "an assignment for a command",
	"PATH=. ls":               "another program of that name",
	"a[0]=1 ls":               "an assignment to an array",
	"ls() { rm x; }; ls":      "defines ls",
	"f() (ls)":                "defines a function",
	"ls > a":                  "writes a file",
	"ls >> a":                 "appends to a file",
	"ls >| /dev/null":         "an operator that is not needed",
	"ls 2> a":                 "writes a file from another descriptor",
	"ls >&a":                  "writes a file by the old operator",
	"ls > $x":                 "writes who knows where",
	"ls >/dev/nul[l]":         "a pattern as the target",
	"ls >/dev/null/../a":      "a path that only begins well",
	"ls <> /dev/null":         "opens for writing",
	"ls {x}>/dev/null":        "sets a variable to the descriptor",
	"ls < a":                  "opens a file that may block",
	"cat <<E\nE":              "a here-document",
	"cat <<< a":               "a here-string",
	"echo &>/dev/null rm":     "dash runs echo, and then rm",
	"echo &>>/dev/null rm":    "the same, appending",
	"cat <(ls)":               "a process substitution",
	"ls |& cat":               "not known to dash",
	"ls &":                    "in the background",
	"ls & rm x":               "and something after it",
	"! ls":                    "negated",
	"(ls)":                    "a subshell",
	"{ ls; }":                 "a group",
	"if ls; then ls; fi":      "a condition",
	"for i in a; do ls; done": "a loop",
	"case a in a) ls;; esac":  "a case",
	"coproc ls":               "a coprocess",
	"[[ a ]]":                 "a test",
	"((1))":                   "arithmetic",
	"echo $x":                 "a variable",
	`echo "$x"`:               "a quoted variable",
	"echo ${x}":               "a variable in braces",
	"echo $(ls)":              "a command substitution",
	"echo `ls`":               "the old one",
	`echo "$(ls)"`:            "a quoted one",
	"echo $((1))":             "an arithmetic expansion",
	"echo $[1]":               "the old one",
	"echo $'a'":               "a string that dash reads differently",
	`echo $"a"`:               "a translated string",
	`echo "$+x"`:              "an expansion in zsh",
	"echo $%x":                "a stray dollar sign",
	"ls *":                    "may become ls -x",
	"cat a?":                  "a pattern",
	"ls [a]":                  "a pattern, too",
	"ls @(a)":                 "an extended pattern",
	"find {.,-delete}":        "becomes find . -delete",
	"l{s,x}":                  "becomes ls lx",
	"cat a }":                 "the end of a group in zsh",
	"$x":                      "runs a variable",
	"*":                       "runs a file",
	"echo =ls":                "becomes a path in zsh",
	"ls ^a":                   "all files but a in zsh",
	"ls # comment":            "arguments in an interactive zsh",
	"# only\nls":              "the same",
	"echo a\\\r\nrm x":        "two lines in bash",
	"ls\r":                    "a program with a strange name in bash",
	"ls\x00":                  "no shell gets a NUL byte",
	"ls \x1b[2J":              "an escape sequence hides text",
	"ls \x7f":                 "a control character",
	"ls \xff":                 "not UTF-8",
	`echo 'a\' 'b; rm x; '`:   "fish runs rm",
	"ls 'a":                   "no end",
	"ls)":                     "no beginning",
	"ls ||":                   "half a list",
	"ls;;":                    "not a script",

	"date -s 0":                "sets the clock",
	"date --set=0":             "sets the clock, too",
	"date --se 0":              "a flag cut short",
	"date 01010000":            "sets the clock without a flag",
	"date -d x":                "another flag on other systems",
	"tail -f a":                "never ends",
	"tail -F a":                "never ends, either",
	"tail -qf a":               "in a cluster",
	"tail --follow=name a":     "in its long form",
	"find . -delete":           "deletes",
	"find . -exec ls ;":        "runs",
	"find . -execdir ls ;":     "runs there",
	"find . -ok ls ;":          "runs when answered",
	"find . -okdir ls ;":       "runs there when answered",
	"find . -fprint a":         "writes",
	"find . -fprint0 a":        "writes, too",
	"find . -fprintf a b":      "writes by a format",
	"find . -fls a":            "writes a listing",
	"find . -new":              "not a known test",
	"rg --pre x a":             "runs a preprocessor",
	"rg --pre=x a":             "in one word",
	"rg --hostname-bin=x a":    "runs a program for the host's name",
	"rg --hostname-bin x a":    "in two words",
	"rg -z a":                  "runs decompressors",
	"rg -nz a":                 "in a cluster",
	"rg --search-zip a":        "in its long form",
	"sed -n p a":               "prints all; not needed",
	"sed 1p a":                 "without -n",
	"sed -i -n 1p a":           "edits",
	"sed -n 1p -i a":           "edits: the flag may follow",
	"sed -n '1w b' a":          "writes",
	"sed -n '1,2e ls' a":       "runs",
	"sed -n 1p a -s":           "a flag after the file",
	"sed -n":                   "no script",
	"sort -o a b":              "writes",
	"sort -no a b":             "in a cluster",
	"sort b -oa":               "in one word, at the end",
	"sort --output=a b":        "in its long form",
	"sort --compress-prog=x":   "runs a program",
	"uniq a b":                 "writes b",
	"uniq -w a":                "a flag that takes a value",
	"git":                      "no subcommand",
	"git push":                 "not a reading one",
	"git commit":               "writes",
	"git stash list":           "not known",
	"git -c core.pager=x log":  "configures a program",
	"git -C a status":          "another repository's configuration",
	"git --git-dir=a status":   "the same",
	"git --no-pager":           "no subcommand",
	"git diff --output=a":      "writes",
	"git diff --outp=a":        "a flag cut short",
	"git diff --no-index a b":  "not needed",
	"git log --ext-diff":       "runs",
	"git show --textconv":      "runs",
	"git log --show-signature": "runs gpg",
	"git log --format=%G?":     "runs gpg for a format",
	"git log --format %-GK":    "with a modifier",
	"git branch a":             "creates a branch",
	"git branch -v a":          "creates it, and tells",
	"git branch -d a":          "deletes",
	"git branch -D a":          "deletes by force",
	"git branch -m a":          "renames",
	"git branch --list a -f":   "forces",
	"git branch -u a":          "configures",
	"git branch --edit-desc":   "runs an editor",
	"git branch --format=x":    "may ask for signatures",
	"git status --foo":         "not a known flag",
	"git grep -O a":            "runs a pager",
	"git rev-parse --parseopt": "not needed",
	"git ls-files --with-tree": "not needed, either",

	"cat /proc/1/environ":        "shows keys",
	"grep -a KEY ../proc/self/x": "shows keys",
	"head proc/1/environ":        "shows keys, from the root",
	"grep -r KEY /":              "finds keys",
	"rg KEY //":                  "finds keys",
}

func TestSafe(t *testing.T) {
	for _, script := range safeScripts {
		require.True(t, Safe(script), script)
	}
	for script, why := range unsafeScripts {
		require.False(t, Safe(script), "%q: %s", script, why)
	}
}

func TestEverySafeProgramIsTried(t *testing.T) {
	tried := strings.Fields(strings.NewReplacer(";", " ", "|", " ").Replace(strings.Join(safeScripts, " ")))
	for name := range readOnly {
		require.Contains(t, tried, name)
	}
}

// TestReadingIn checks where relative names lead.
func TestReadingIn(t *testing.T) {
	for _, c := range []struct {
		dir, script string
		safe        bool
	}{
		{"/repo", "cat environ", true}, {"/repo", "rg -n key ..", false}, {"/repo/a", "rg -n key ..", true},
		{"/repo/a", "grep -r key ../..", false},
		{"/", "cat a", true}, {"/", "rg key", false}, {"/", "grep -r key .", false}, {"/", "cat proc/1/environ", false},
		{"/..", "rg key", false},
		{"/home/me/processor", "cat environ", true}, {"/proc", "cat 1/environ", false}, {"/proc/1", "cat environ", false},
		{"/proc/../repo", "cat environ", true}, {"/repo/../proc/1/", "cat environ", false},
	} {
		require.Equal(t, c.safe, ReadingIn(c.dir, c.script) != MayWrite, "%+v", c)
	}
}

func TestLongScriptsAreNotSafe(t *testing.T) {
	require.True(t, Safe("ls "+strings.Repeat("a", maxScript-3)))
	require.False(t, Safe("ls "+strings.Repeat("a", maxScript-2)))
}

// snapshot returns the content of all files below a directory, by path.
func snapshot(t require.TestingT, dir string) map[string]string {
	files := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			files[path] = "directory"
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	require.NoError(t, err)
	return files
}

// TestSafeScriptsChangeNothing runs safe scripts in each installed shell.
func TestSafeScriptsChangeNothing(t *testing.T) {
	needsUnix(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"a": "one\ntwo\n", "b": "three\n", "-delete": "",
		"src/x.go": "package x\n"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	before := snapshot(t, dir)
	for _, shell := range []string{"/bin/bash", "/bin/sh"} {
		for _, script := range safeScripts {
			if script == "ls -la /" {
				continue
			}
			cmd := exec.Command(shell, "-c", script)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
			_ = cmd.Run() // many fail: there is no repository, and perhaps no rg
			require.Equal(t, before, snapshot(t, dir), "%s: %s", shell, script)
		}
	}
}

// TestSafeScriptsRunNothingElse runs random scripts that are safe. The programs in PATH do nothing,
// so any other program is not found.
func TestSafeScriptsRunNothingElse(t *testing.T) {
	needsUnix(t)
	bin, dir := t.TempDir(), t.TempDir()
	for name := range readOnly {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755))
	}
	pieces := rapid.SampledFrom([]string{
		"ls", "echo", "cat", "rm", "a", " ", " ", " ", "\n", ";", "|", "||", "&&", "&", ">", ">&", "2>&1", "/dev/null", "'",
		`"`, `\`,
		"$", "`", "(", ")", "{", "}", "!", "#", "=", "~", "*", "-n", "^", "<", "\t", "é", "\u00a0",
	})
	checked := 0
	sample.Check(t, func(t *rapid.T) {
		script := "ls" + strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"), "")
		if !Safe(script) {
			return
		}
		checked++
		for _, shell := range []string{"/bin/bash", "/bin/sh"} {
			cmd := exec.Command(shell, "-c", script)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin}
			out, _ := cmd.CombinedOutput()
			require.NotContains(t, string(out), "not found", "%s: %q", shell, script)
			require.NotContains(t, string(out), "yntax error", "%s: %q", shell, script)
			require.Len(t, snapshot(t, dir), 1, "%s: %q", shell, script)
		}
	})
	require.Positive(t, checked)
}

func FuzzSafe(f *testing.F) {
	for _, script := range safeScripts {
		f.Add(script)
	}
	for script := range unsafeScripts {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if !Safe(script) {
			return
		}
		for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangMirBSDKorn, syntax.LangZsh} {
			file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(script), "")
			require.NoError(t, err, lang)
			syntax.Walk(file, func(n syntax.Node) bool {
				switch n := n.(type) {
				case *syntax.CallExpr:
					name, ok := literal(n.Args[0])
					require.True(t, ok)
					require.Contains(t, readOnly, name.text, lang)
				case *syntax.Subshell, *syntax.Block, *syntax.CmdSubst, *syntax.ProcSubst,
					*syntax.ParamExp, *syntax.FuncDecl, *syntax.Assign:
					require.Fail(t, "not a simple command", "%T in %v", n, lang)
				}
				return true
			})
		}
	})
}
