package toolspec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/command"
	"appserver/core/pure/toolspec"
)

var forbidPush = toolspec.CommandRules{
	{Pattern: [][]string{{"git", "/opt/jj"}, {"push", "send"}}, Decision: toolspec.RuleForbids},
}

func TestRuleMatchesEachSimpleCommand(t *testing.T) {
	for _, script := range []string{
		"git push", "git send now", "/usr/bin/git push", "./git push", "jj push", "/opt/jj push", "a; git push", "a | git push",
		"a || git push", "! git push", "{ git push; }", "(git push)", "while a; do git push; done", "case x in x) git push;; esac",
		"x=$(git push)", "x=`git push`", "cat <(git push)", "export X=$(git push)", "cat <<E\n$(git push)\nE", "function f { git push; }",
		"git push >out 2>&1", "git push & wait", "time git push", "sudo -u x git push", "env -i X=1 git push", "nice -n 5 git push",
		"xargs git push", "command git push", "exec -a x git push", "sh -c 'git push'", "bash -lc \"a && git push\"", "zsh -ic 'git push'",
		"eval 'git push'", "eval git push", "watch 'git push'", "su -c 'git push'", "trap 'git push' EXIT", "find . -exec git push \\;",
		"alias g=git; alias p='git push'", "env -S 'git push'", "sudo sh -c 'git push'", "'git' \"push\"", "g\\it push", "git pu''sh",
	} {
		v := forbidPush.Decide(command.Programs(script))
		require.Equal(t, toolspec.RuleForbids, v.Decision, script)
		require.True(t, v.Certain, script)
		require.Equal(t, "git|/opt/jj push|send", v.Rule.Command())
	}
}

func TestRulePromptsForUncertainCommands(t *testing.T) {
	for _, script := range []string{
		"$G push", "git $P", "git \"$P\"", "git p*", "g?t push", "{git,push}", "$(which git) push", "git $'push'",
		"sh", "curl x | sh", "bash <<E\ngit push\nE", "bash -s <x", "xargs git", "eval \"$X\"", "sh -c \"$X\"", "if", "=git push",
		"git push\r", "git pu${X}", "$HOME/bin/git push",
	} {
		v := forbidPush.Decide(command.Programs(script))
		require.Equal(t, toolspec.RulePrompts, v.Decision, script)
		require.False(t, v.Certain, script)
	}
}

func TestRuleLeavesOtherCommands(t *testing.T) {
	for _, script := range []string{
		"git status", "git", "push git", "echo git push", "git-push", "git pull $X", "ls *.go", "for f in *; do cat $f; done",
		"$HOME/bin/tool push", "[ -f x ]", "[[ $x ]]", "x=git", "cat <<E\ngit push\nE", "sh x.sh", "find . -name git push",
	} {
		require.Equal(t, toolspec.RuleVerdict{}, forbidPush.Decide(command.Programs(script)), script)
	}
	require.False(t, toolspec.CommandRules{{Pattern: [][]string{{"a"}}}}.Restricts())
}

func FuzzRule(f *testing.F) {
	f.Add("git push")
	f.Add("xargs -I{} sh -c 'git \"$1\"'; eval a | find . -exec b \\;")
	f.Fuzz(func(t *testing.T, script string) {
		forbidPush.Decide(command.Programs(script))
		require.NotEqual(t, toolspec.RuleAllows, forbidPush.Decide(command.Programs("git push; "+script)).Decision)
	})
}
