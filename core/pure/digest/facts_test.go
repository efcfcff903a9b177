package digest_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"appserver/core/pure/digest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

const patch = "*** Begin Patch\n*** Add File: new.go\n+*** Add File: quoted.go\n*** Update File: dir/old.go\n" +
	"*** Move to: dir/moved.go\n@@\n-a\n *** Delete File: context.go\n*** Delete File: gone.go\n*** End Patch\n"

func TestFilesChangedAreThoseThatPatchesName(t *testing.T) {
	want := []string{"new.go", "dir/old.go", "dir/moved.go", "gone.go"}
	quoted := `"` + strings.ReplaceAll(patch, "\n", `\n`) + `"`
	for name, call := range map[string]protocol.ResponseItem{
		"a custom tool":             custom("a", "apply_patch", patch),
		"a function":                function("a", "apply_patch", `{"input":`+quoted+`}`),
		"another member":            function("a", "apply_patch", `{"n":1,"patch":`+quoted+`}`),
		"arguments that are a text": function("a", "apply_patch", patch),
		"a here-document":           shell("a", "cd x && apply_patch <<'EOF'\n"+patch+"EOF\n"),
		"an argument vector":        function("a", "shell", `{"command":["apply_patch",`+quoted+`]}`),
		"a script in a vector": function("a", "shell", `{"command":["bash","-lc","apply_patch <<'E'\n`+
			quoted[1:len(quoted)-1]+`E\n"]}`),
		"a local shell call": item(&protocol.LocalShellCall{Action: protocol.LocalShellAction{
			Command: []string{"bash", "-lc", "apply_patch <<'EOF'\n" + patch + "EOF"}}}),
	} {
		require.Equal(t, want, digest.Of([]protocol.ResponseItem{call}).FilesChanged, name)
	}
}

func TestFilesChangedAreThoseThatScriptsWrite(t *testing.T) {
	f := digest.Of([]protocol.ResponseItem{
		shell("a", "cat main.go > copy.go; echo x >> log 2>/dev/null"), shell("b", "git mv a b && rm -f c"),
		function("c", "exec_command", `{"cmd":"make | tee out.txt"}`), shell("d", "rm c"), shell("e", "ls"),
	})
	require.Equal(t, []string{"copy.go", "log", "a", "b", "c", "out.txt"}, f.FilesChanged)
}

// A failure in one directory is no success of the same script in another one.
func TestFactsHaveTheDirectoriesOfCalls(t *testing.T) {
	items := []protocol.ResponseItem{
		function("a", "exec_command", `{"cmd":"go test ./...","workdir":"/repo/core"}`),
		answer("a", "Exit code: 1\n\nOutput:\nFAIL"),
		function("b", "exec_command", `{"cmd":"go test ./...","workdir":"/repo/"}`),
		answer("b", "Exit code: 0\n\nOutput:\nok"),
		function("c", "exec_command", `{"cmd":"echo x > a.txt","workdir":"docs"}`),
		answer("c", "Exit code: 0"),
		function("d", "exec_command", `{"cmd":"touch b.txt","workdir":"."}`),
		answer("d", "Exit code: 0"),
	}
	facts := (&digest.Source{Items: items, Dir: "/repo"}).Facts()
	require.Equal(t, []string{"cd core && go test ./... (exit 1): FAIL", "go test ./...", "cd docs && echo x > a.txt",
		"touch b.txt"}, facts.CommandsRun)
	require.Equal(t, []string{"docs/a.txt", "b.txt"}, facts.FilesChanged)
}

func TestCommandsRunAreScriptsWithTheirFailures(t *testing.T) {
	for name, c := range map[string]struct {
		call   protocol.ResponseItem
		output string
		want   string
	}{
		"our shell": {shell("a", "go test ./..."), "Exit code: 1\nWall time: 1.0 seconds\nOutput:\nFAIL",
			"go test ./... (exit 1): FAIL"},
		"success": {shell("a", "go test ./..."), "Exit code: 0\nWall time: 1.0 seconds\nOutput:\nExit code: 3",
			"go test ./..."},
		"a timeout": {shell("a", "make"), "The command was ended: it took longer than its timeout.\n",
			"make (timed out)"},
		"no end":   {shell("a", "make"), "The command did not finish: killed\n", "make (did not finish)"},
		"declined": {shell("a", "make"), "The user declined this command. It was not run.", "make (not run)"},
		"a declined patch": {shell("a", "apply_patch <<'EOF'\n"+patch+"EOF"), "The user declined this patch. No file was changed.",
			"apply_patch <<'EOF' … (not run)"},
		"a patch that does not fit": {shell("a", "apply_patch <<'EOF'\n"+patch+"EOF"), "The patch was not applied. No such line.",
			"apply_patch <<'EOF' … (not run)"},
		"a killed terminal": {function("a", "exec_command", `{"cmd":"make"}`),
			"Wall time: 1.0000 seconds\nProcess ended: signal: killed\nOutput:\nmake: out of memory",
			"make (did not finish): make: out of memory"},
		"JSON metadata":        {shell("a", "make"), `{"output":"x","metadata":{"exit_code":2}}`, "make (exit 2): x"},
		"a code beyond reason": {shell("a", "make"), `{"metadata":{"exit_code":-9223372036854775808}}`, "make"},
		"the longest entry": {shell("a", strings.Repeat("a", 300)), `{"metadata":{"exit_code":-2147483648}}`,
			strings.Repeat("a", 174) + "… (exit -2147483648)"},
		"exec_command": {function("a", "exec_command", `{"cmd":"make"}`),
			"Wall time: 1\nProcess exited with code 2\nOutput:\n", "make (exit 2)"},
		"a vector":            {function("a", "container.exec", `{"command":["go","vet","a b"]}`), "", "go vet 'a b'"},
		"a shell in a vector": {function("a", "shell", `{"command":["bash","-lc","go vet"]}`), "", "go vet"},
		"a local shell call": {item(&protocol.LocalShellCall{CallID: "a",
			Action: protocol.LocalShellAction{Command: []string{"make", "x"}}}), "", "make x"},
		"several lines": {shell("a", "\n cd src \nmake\n"), "", "cd src …"},
		"a long line": {shell("a", strings.Repeat("ab ", 100)), "Exit code: 1\n", strings.Repeat("ab ", 57) +
			"ab… (exit 1)"},
	} {
		f := digest.Of([]protocol.ResponseItem{c.call, answer("a", c.output)})
		require.Equal(t, []string{c.want}, f.CommandsRun, name)
	}
}

func TestCommandsRunTellTheLastOutcomeAtTheFirstPlace(t *testing.T) {
	f := digest.Of([]protocol.ResponseItem{
		shell("a", "make"), answer("a", "Exit code: 2\n"), shell("b", "make x"), answer("b", "Exit code: 0\n"),
		shell("c", "make"), answer("c", "Exit code: 0\n"),
	})
	require.Equal(t, []string{"make", "make x"}, f.CommandsRun)
}

func TestCommandsRunHaveReadersOnlyIfTheyFailed(t *testing.T) {
	f := digest.Of([]protocol.ResponseItem{
		shell("a", "ls"), answer("a", "Exit code: 0\n"), shell("b", "cat none"),
		answer("b", "Exit code: 1\nWall time: 0.1 seconds\nOutput:\ncat: none: No such file or directory\n"),
		shell("c", "rg missing"), answer("c", "Exit code: 1\nWall time: 0.1 seconds\nOutput:\n"), shell("d", "make"),
	})
	require.Equal(t, []string{"cat none (exit 1): cat: none: No such file or directory", "make"}, f.CommandsRun)
}

func TestFailuresHaveTheLineThatReportsTheirCause(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"a failed test": {"=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:3: want 1\nFAIL\n", "--- FAIL: TestA (0.00s)"},
		"a compiler":    {"# pkg\n./a.go:3:1: undefined: x\n./a.go:4:1: y\n", "./a.go:3:1: undefined: x"},
		"Rust":          {"   Compiling a\nerror[E0382]: use of moved value\n --> a.rs:1\n", "error[E0382]: use of moved value"},
		"a panic":       {"start\npanic: nil map\n\ngoroutine 1\n", "panic: nil map"},
		"a traceback": {"x\nTraceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n" +
			"ValueError: bad\nmore\n", "ValueError: bad"},
		"pytest":          {"collected 1 item\n\n    def test():\n>       assert 1 == 2\nE       assert 1 == 2\n", "E assert 1 == 2"},
		"npm":             {"npm ERR! code 1\nTypeError: x is not a function\n", "TypeError: x is not a function"},
		"no known form":   {"first\nno rule for it\n\n", "no rule for it"},
		"no line":         {"", ""},
		"no error at all": {"0 errors\nstopped\n", "stopped"},
		"a long line":     {"error: " + strings.Repeat("x", 300), "error: " + strings.Repeat("x", 190) + "…"},
	} {
		want := "make (exit 1)"
		if c.want != "" {
			want += ": " + c.want
		}
		f := digest.Of([]protocol.ResponseItem{shell("a", "make"),
			answer("a", "Exit code: 1\nWall time: 1.0 seconds\nOutput:\n"+c.output)})
		require.Equal(t, []string{want}, f.CommandsRun, name)
	}
}

func TestPathsBelowTheWorkingDirectoryAreRelative(t *testing.T) {
	f := (&digest.Source{Dir: "/repo", Items: []protocol.ResponseItem{
		shell("a", "cd /repo && go test ./... > /repo/log/out.txt"),
		answer("a", "Exit code: 1\nWall time: 1.0 seconds\nOutput:\n/repo/a.go:1:1: syntax error\n"),
		custom("b", "apply_patch", "*** Begin Patch\n*** Update File: /repo/core/a.go\n*** Update File: /repository/b.go\n"),
		shell("c", "rm /repo/x /other/repo/y"),
	}}).Facts()
	require.Equal(t, []string{"log/out.txt", "core/a.go", "/repository/b.go", "x", "/other/repo/y"}, f.FilesChanged)
	require.Equal(t, []string{"go test ./... > log/out.txt (exit 1): a.go:1:1: syntax error", "rm x /other/repo/y"},
		f.CommandsRun)
}

func TestOtherToolsAreNoCommands(t *testing.T) {
	f := digest.Of([]protocol.ResponseItem{
		function("a", "update_plan", `{"command":"rm x"}`), function("b", "shell", `{"command":`),
		function("c", "shell", `[]`),
		custom("d", "lookup", "rm x > y"),
	})
	require.True(t, f.Empty(), f)
}

func TestDecisionsAreSentencesThatSettleSomething(t *testing.T) {
	for _, sentence := range []string{
		"We decided to keep the API.", "I chose SQLite.", "We will ship on Monday.", "Let's use Postgres.", "Let’s use tabs.",
		"Use slog instead of zap.", "Going with option B.", "I switched to gjson.", "The plan is to split the file.",
		"I'll use a map.",
		"Wir haben uns entschieden.", "Nous avons choisi Go.", "我们决定使用 Go。", "Go を採用します。",
		"Решили писать на Go.",
	} {
		for _, m := range []protocol.ResponseItem{user(sentence), assistant("Fine.\n- " + sentence)} {
			require.Equal(t, []string{sentence}, digest.Of([]protocol.ResponseItem{m}).Decisions, sentence)
		}
	}
	for _, sentence := range []string{
		"Should we go with B?", "I will now look at the file.", "The tests pass.", "Let me use the shell.",
		"```\nwe decided\n```", "Il écrit x au lieu de y.", "Usa Go en lugar de C.", "Una lista en vez de un mapa.",
	} {
		require.Empty(t, digest.Of([]protocol.ResponseItem{assistant(sentence)}).Decisions, sentence)
	}
}

func TestUserConstraintsAreSentencesOfTheUserThatBind(t *testing.T) {
	for _, sentence := range []string{
		"You must run the tests.", "Never push.", "Always sign off.", "Don't touch main.", "don’t touch main",
		"Please do not commit.",
		"Only change a.go.", "Names should be short.", "It shall work offline.", "Do it without new dependencies.",
		"Avoid globals.",
		"Keep the API.", "Make sure that it builds.", "At most 80 lines.", "Use at least Go 1.26.",
		"No more than three files.",
		"A test is required.", "Force pushes are forbidden.", "No new dependencies.", "Could you never use tabs?",
		"Run go test ./... always before you stop.",
		"Es muss schnell sein.", "Ändere nie die API.", "Nicht pushen!", "Nur Go.", "Immer testen.",
		"Il doit compiler.", "Ne modifie pas ce fichier.", "N'utilise pas de macros.", "Toujours tester.",
		"Jamais de globals.",
		"You have to run gofmt first.", "You can't use reflection.", "Can you not touch main.go?", "Use tabs, not spaces.",
		"Please use Postgres and not MySQL.", "Stop adding comments.", "Refrain from pushing.", "Stay below 100 lines.",
		"Lines have max 80 columns.", "Limit it to 5 MB.", "Prefer the standard library.", "You may now edit lexer.go.",
		"Forget that rule about lexer.go.", "Nimm ausschließlich die Standardbibliothek.", "Maximal 80 Spalten.",
		"Keinesfalls pushen.", "Ajoute aucune dépendance.", "Utilise exclusivement Go.",
		"Debe compilar.", "No toques la API.", "Nunca uses macros.", "Te digo que no cambies nada.", "Siempre prueba.",
		"必须通过测试。", "不要修改这个文件。", "务必运行测试", "只能使用标准库", "禁止提交。",
		"必ずテストしてください。", "コミットしないでください。", "外部ライブラリは禁止です。",
		"Код должен собираться.", "Нельзя менять API.", "Никогда не пушь.", "Всегда проверяй.",
	} {
		require.Equal(t, []string{sentence},
			digest.Of([]protocol.ResponseItem{user("Hello. \n" + sentence + "\nThanks")}).UserConstraints, sentence)
		require.Empty(t, digest.Of([]protocol.ResponseItem{assistant(sentence)}).UserConstraints,
			"the assistant binds nobody: %s", sentence)
	}
	for _, sentence := range []string{
		"Fix the bug.", "Should I restart it?", "No problem.", "No, thanks.", "Is it the only file?", "```\nmust\n```",
		"Un error es normal.", "修复错误。", "Must I use tabs?", "Do you have to push?", "I use it, but it does not work.",
		"Stop.", "You can start now.",
	} {
		require.Empty(t, digest.Of([]protocol.ResponseItem{user(sentence)}).UserConstraints, sentence)
	}
}

func TestSurroundingsAreNotTheUsersWords(t *testing.T) {
	for _, text := range []string{
		"<environment_context>\nnever", "<user_instructions>\nNever push. We decided.",
		"# AGENTS.md instructions for x\n\nNever push?",
		"<turn_aborted>\nYou must stop?", "  <environment_context>always",
		"[memory:summary v1 | repo=/x | ts=2026-01-01T00:00:00Z]\n- Never push.",
	} {
		require.True(t, digest.Of([]protocol.ResponseItem{user(text), said(protocol.RoleDeveloper, "Never push.")}).Empty(),
			text)
	}
}

func TestOpenQuestionsAreTheUnansweredOnes(t *testing.T) {
	for name, c := range map[string]struct {
		items []protocol.ResponseItem
		want  []string
	}{
		"the assistant's last": {[]protocol.ResponseItem{user("a"), assistant("Done. Shall I push? Or **wait?**")},
			[]string{"Shall I push?", "Or **wait?**"}},
		"answered by the user": {[]protocol.ResponseItem{assistant("Shall I push?"), user("yes")}, []string{}},
		"not the last message": {[]protocol.ResponseItem{user("a"), assistant("Why?"), assistant("Done.")}, []string{}},
		"the user's": {[]protocol.ResponseItem{assistant("Which?"), user("Why?"), shell("a", "ls"),
			user("And how?")}, []string{"Why?", "And how?"}},
		"answered by the assistant": {[]protocol.ResponseItem{user("Why?"), assistant("So.")}, []string{}},
		"surroundings are no answer": {[]protocol.ResponseItem{assistant("Push?"), user("<environment_context>")},
			[]string{"Push?"}},
		"wide question marks": {[]protocol.ResponseItem{assistant("好的。要提交吗？")}, []string{"要提交吗？"}},
		"code is no question": {[]protocol.ResponseItem{assistant("```\na ? b : c?\n```\nSee http://x/?a=b now.")},
			[]string{}},
	} {
		require.Equal(t, c.want, digest.Of(c.items).OpenQuestions, name)
	}
}

func TestLongSentencesAreCutToWhatBinds(t *testing.T) {
	filler := strings.Repeat("and some more words of no weight ", 20)
	filler = strings.Repeat(filler, 3)
	f := digest.Of([]protocol.ResponseItem{user(filler + "but never push " + filler)})
	require.Len(t, f.UserConstraints, 1)
	require.Contains(t, f.UserConstraints[0], "never push")
	require.Regexp(t, "^….*…$", f.UserConstraints[0])
}

func TestRulesReadTheEntriesOfAListWithTheLineBeforeIt(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a line that binds":      {"Do not:\n- push\n- tag\n\nFix it.", []string{"Do not: push", "Do not: tag"}},
		"a blank line":           {"You must:\n\n1. run the tests", []string{"You must: run the tests"}},
		"a heading":              {"## Rules:\n- Go 1.26\n- Never push.", []string{"Go 1.26", "Never push."}},
		"no list":                {"Always print this:\n```\nx\n```", []string{"Always print this:"}},
		"a list of something":    {"Read these files:\n- a.go\n- b.go", []string{}},
		"text between":           {"Do not:\n- push\nThen the steps:\n- read", []string{"Do not: push"}},
		"two sentences together": {"Never push. Only read.", []string{"Never push.", "Only read."}},
	} {
		require.Equal(t, c.want, digest.Of([]protocol.ResponseItem{user(c.text)}).UserConstraints, name)
	}
}

func TestRulesAreKeptWordForWord(t *testing.T) {
	rule := "Never " + strings.Repeat("push to this branch or ", 40) + "that."
	require.Greater(t, len(rule), 900)
	require.Equal(t, []string{rule}, digest.Of([]protocol.ResponseItem{user(rule)}).UserConstraints)
}

func TestListsKeepTheNewest(t *testing.T) {
	var items []protocol.ResponseItem
	for i := range 1250 {
		items = append(items, user(numbered("Never use rule ", i)), shell("", numbered("make ", i)))
	}
	f := digest.Of(items)
	require.Len(t, f.CommandsRun, 200)
	require.Equal(t, "make 1050", f.CommandsRun[0])
	require.Len(t, f.UserConstraints, 1000)
	require.Equal(t, "Never use rule 250", f.UserConstraints[0])
	require.Equal(t, "Never use rule 1249", f.UserConstraints[999])
	f = digest.Of([]protocol.ResponseItem{user(strings.Repeat("Never use a rule.\n", 2) + lines(150))})
	require.Len(t, f.UserConstraints, 99, "of one message the first ones, and each once")
}

func lines(n int) (text string) {
	for i := range n {
		text += numbered("Never use rule ", i) + "\n"
	}
	return text
}

func requireSound(t require.TestingT, f digest.Facts) {
	for kind, list := range lists(f) {
		most, longest := 200, 400
		if kind == int(digest.UserConstraint) {
			most, longest = 1000, 1000
		}
		require.NotNil(t, list)
		require.LessOrEqual(t, len(list), most)
		seen := map[string]bool{}
		for _, entry := range list {
			require.NotEmpty(t, entry)
			require.LessOrEqual(t, len(entry), longest)
			require.True(t, utf8.ValidString(entry), "%q", entry)
			require.NotContains(t, entry, "\n")
			require.False(t, seen[entry], "twice: %q", entry)
			seen[entry] = true
		}
	}
}

func TestFactsAreSoundForAnyItems(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		items := stretch().Draw(t, "items")
		f := digest.Of(items)
		requireSound(t, f)
		require.Equal(t, f, digest.Of(items), "the same again")
	})
}

func FuzzOf(f *testing.F) {
	f.Add("Never push. Why?", "go test > log", patch, "Exit code: 1\n")
	f.Add("```\n```\n1. 不要？", "cat <<EOF\nEOF", `{"command":["bash","-c","rm x"]}`, `{"metadata":{"exit_code":-1}}`)
	f.Add(strings.Repeat("n' pas ", 50), "cd ''", `{"cmd":"*** Begin Patch\n*** Move to: x"}`, "\xff")
	f.Fuzz(func(t *testing.T, words, script, arguments, output string) {
		requireSound(t, digest.Of([]protocol.ResponseItem{
			user(words), assistant(words), shell("a", script), answer("a", output),
			function("b", "shell", arguments), answer("b", output), custom("c", "apply_patch", arguments), user(output),
			item(nil),
		}))
	})
}
