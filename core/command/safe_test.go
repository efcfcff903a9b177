package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"
)

func TestSafeScripts(t *testing.T) {
	for _, script := range []string{
		"ls", "ls -la /", "cat a b", "pwd; whoami && id || true | false", "echo hi > /dev/null 2>&1", "ls 2>/dev/null",
		"echo 'rm -rf $HOME; `x`'", `echo "it's \$5 $"`, "head -n 5 a", "tail -n +3 a", "tail -20 a", "wc -l a", "nl -ba a",
		"grep -rn 'a.*b$' .", "rg foo", "rg -n --pretty foo src", "rg --files | sort | uniq -c | head -5",
		"find . -name '*.go' -type f", `find . \( -name a -o -name b \) -mtime -7 -print`, "find . ! -size -10k",
		"sed -n 1,10p a", "sed -n '$p' a b", "which ls", "stat a", "uname -a", "date", "date -u +%s", "date '--date=2 days ago' +%F",
		"git status --short", "git diff HEAD~2 -- a", "git diff --stat -U5", "git log --oneline -5", "git log -n 5 --format=%H",
		"git show HEAD:a", "git branch", "git branch -vv", "git branch --list 'a*'", "git rev-parse --abbrev-ref HEAD",
		"git ls-files -m", "git --no-pager log -1", "ls ~/x", "cat a\nls\n", "sort -k2,2nr a", "ls \\\n -l",
	} {
		require.True(t, Safe(script), script)
	}
}

// Each of these writes, runs something else, never ends, or is read differently by
// one of the shells in use.
func TestUnsafeScripts(t *testing.T) {
	for _, script := range []string{
		"", " ", "rm x", "./ls", "/bin/ls", "ls; rm x", "ls | sh", "ls | xargs rm", "ls | tee a", "eval ls", ". a", "source a",
		"command ls", "env ls", "cd /tmp", "printf -v PATH x", "exec ls", "alias ls=rm", "bash -c ls", "time ls",
		"ls > a", "ls >> a", "ls >| /dev/null", "ls 2> a", "ls < a", "cat <<E\nE", "cat <<< a", "ls >&a", "ls {x}>/dev/null",
		"echo &>/dev/null rm -rf x", "ls >/dev/nul[l]", "ls > $x", "ls <> /dev/null", "cat <(ls)", "ls |& cat",
		"ls &", "ls & rm x", "! ls", "(ls)", "{ ls; }", "if ls; then ls; fi", "ls() { rm x; }; ls", "f() (ls)", "coproc ls",
		"echo $x", `echo "$x"`, "echo ${x}", "echo $(ls)", "echo `ls`", `echo "$(ls)"`, "echo $((1))", "echo $[1]", "echo $'a'",
		`echo $"a"`, "x=1", "x=1 ls", "PATH=. ls", "a[0]=1 ls", "export x=1", "let x=1", "[[ a ]]", "((1))", "echo \"$+x\"",
		"ls *", "cat a?", "ls [a]", "find {.,-delete}", "echo =ls", "ls ^a", "ls @(a)", "$x", "*", "l{s,x}",
		"ls # comment", "# only\nls", "echo a\\\r\nrm x", "ls\r", "ls\x00", "ls \x1b[2J", "ls \xff", "ls \x7f",
		`echo 'a\' 'b; rm x; '`, "ls 'a", "ls)", "ls ||", "ls;;",
		"date -s 0", "date --set=0", "date 01010000", "date -d x", "tail -f a", "tail -F a", "tail --follow=name a", "tail -5f a",
		"find . -delete", "find . -exec ls ;", "find . -execdir ls ;", "find . -ok ls ;", "find . -okdir ls ;", "find . -fprint a",
		"find . -fprint0 a", "find . -fprintf a b", "find . -fls a", "find . -new",
		"rg --pre x a", "rg --pre=x a", "rg --hostname-bin=x a", "rg -z a", "rg -nz a", "rg --search-zip a", "rg --hostname-bin x a",
		"sed -n p a", "sed 1p a", "sed -i -n 1p a", "sed -n 1p -i a", "sed -n '1w b' a", "sed -n '1,2e ls' a", "sed -n 1p a -s", "sed -n",
		"sort -o a b", "sort -no a b", "sort --output=a b", "sort --compress-program=x a", "uniq a b", "uniq --", "uniq -w a",
		"git", "git push", "git commit", "git -c core.pager=x log", "git -C a status", "git --git-dir=a status", "git --no-pager",
		"git diff --output=a", "git diff --outp a", "git log --ext-diff", "git show --textconv", "git log --show-signature",
		"git log --format=%G?", "git log --format %-GK", "git branch a", "git branch -d a", "git branch -D a", "git branch -m a",
		"git branch -v a", "git branch --list a -f", "git branch -u a", "git branch --edit-description", "git status --foo",
		"git grep -O a", "git ls-files --with-tree=a", "git rev-parse --parseopt", "git diff --no-index a b", "git branch --format=x",
	} {
		require.False(t, Safe(script), script)
	}
}

func TestLongScriptsAreNotSafe(t *testing.T) {
	require.True(t, Safe("ls "+strings.Repeat("a", maxScript-3)))
	require.False(t, Safe("ls "+strings.Repeat("a", maxScript-2)))
}

func FuzzSafe(f *testing.F) {
	for _, seed := range []string{"ls | head -5; git log --oneline", "echo 'a' \"b\" c\\ d", "find . -name a", "ls 2>&1 >/dev/null", "a&>b c"} {
		f.Add(seed)
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
				case *syntax.Subshell, *syntax.Block, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ParamExp, *syntax.FuncDecl, *syntax.Assign:
					require.Fail(t, "not a simple command", "%T in %v", n, lang)
				}
				return true
			})
		}
	})
}
