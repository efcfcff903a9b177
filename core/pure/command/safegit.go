package command

import (
	"slices"
	"strings"

	"appserver/platform/pattern"
)

// The flags of git's subcommands that write nothing and run nothing. They are lists of allowed
// flags, because git also accepts abbreviations of long flags.
const (
	gitStatusFlags = `
		-s --short -b --branch --porcelain --porcelain=v1 --porcelain=v2 -u -uno -uall -unormal
		--untracked-files --untracked-files=no --untracked-files=all --untracked-files=normal --ignored
		-v --show-stash --long -z --no-renames --`
	gitDiffFlags = `
		-p -u --patch -s --no-patch --stat --shortstat --numstat --name-only --name-status --summary --raw
		--cached --staged --color --no-color --word-diff --ignore-all-space --ignore-space-change -w -b
		--minimal --patience --histogram --no-renames --find-renames -M -C --no-ext-diff --no-textconv
		--relative -W --function-context --unified --diff-filter --exit-code --quiet -q -S -G -i -z --full-index --binary --`
	gitLogFlags = `
		--oneline --graph --all --decorate --no-decorate --abbrev-commit --pretty --format -n --max-count
		--since --until --after --before --author --committer --grep --reverse --merges --no-merges
		--first-parent --follow --date --branches --tags --remotes -F -E ` + gitDiffFlags
	gitBranchFlags = `
		-a --all -r --remotes -v -vv --verbose --list --show-current --no-color`
	gitRevParseFlags = `
		--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir
		--is-inside-work-tree --is-inside-git-dir --is-bare-repository --abbrev-ref --short --verify
		--quiet -q --symbolic-full-name`
	gitLsFilesFlags = `
		-c -d -m -o -s -u -z -t -v --cached --deleted --modified --others --stage --unmerged
		--exclude-standard --full-name --error-unmatch --directory --`
)

// gitNumber matches flags like -5, -n5 and -U3.
var gitNumber = pattern.New(`^-[nU]?\d+$`)

func safeGit(args []string) bool {
	if len(args) > 0 && args[0] == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 {
		return false
	}
	switch rest := args[1:]; args[0] {
	case "status":
		return gitFlags(rest, gitStatusFlags)
	case "diff":
		return gitFlags(rest, gitDiffFlags)
	case "log", "show":
		return gitFlags(rest, gitLogFlags)
	case "branch":
		return safeGitBranch(rest)
	case "rev-parse":
		return gitFlags(rest, gitRevParseFlags)
	case "ls-files":
		return gitFlags(rest, gitLsFilesFlags)
	}
	return false
}

// gitFlags reports whether every flag is allowed. A flag with =value is allowed if the flag is.
func gitFlags(args []string, flags string) bool {
	allowed := strings.Fields(flags)
	return !slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		known := slices.Contains(allowed, arg) || slices.Contains(allowed, name) || gitNumber().MatchString(arg)
		return isFlag(arg) && !known || runsGpg(arg)
	})
}

// runsGpg reports whether a format may check a signature, as %G? and %-GK do: that runs gpg.
func runsGpg(arg string) bool { return strings.Contains(arg, "%") && strings.Contains(arg, "G") }

// safeGitBranch rejects operands, which name branches to create, unless --list makes them patterns.
func safeGitBranch(args []string) bool {
	operand := func(arg string) bool { return !isFlag(arg) }
	return gitFlags(args, gitBranchFlags) && (slices.Contains(args, "--list") || !slices.ContainsFunc(args, operand))
}
