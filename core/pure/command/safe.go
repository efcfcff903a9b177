package command

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"appserver/platform/pattern"
)

// Reading is the certainty that a script only reads.
type Reading int

const (
	// MayWrite is the result for scripts that are not known to read only.
	MayWrite Reading = iota
	// ReadsConfined is the result for scripts that only read by their text. Files can still change what they do: a
	// link leads to a secret of another process, the configuration of git names a program, a profile redefines a
	// name. So the kernel must confine them to reading, or the user must decide.
	ReadsConfined
	// ReadsAnywhere is the result for scripts that, by their text, also open no file and no repository. They read
	// names and attributes of files, and the output of each other.
	ReadsAnywhere
)

// Safe reports whether a shell script only reads by its text. Every simple command in it must be on a list of
// programs, with arguments that make it write nothing and run nothing else. It returns false if it is not certain.
func Safe(script string) bool { return ReadingIn("", script) != MayWrite }

// ReadingIn returns the certainty for a script that runs in dir, or in an unknown directory if dir is empty.
func ReadingIn(dir, script string) Reading {
	if !plain(script) || revealing("", path.Clean(dir)) {
		return MayWrite
	}
	file, ok := parse(script)
	if !ok || commented(file) {
		return MayWrite
	}
	all, ok := calls(script, file)
	if !ok || len(all) == 0 {
		return MayWrite
	}
	least := ReadsAnywhere
	for _, c := range all {
		least = min(least, c.reading(dir))
	}
	return least
}

// plain reports whether all shells read the characters of a script alike. They differ on carriage
// returns, NUL bytes and invalid UTF-8.
func plain(script string) bool {
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
	return utf8.ValidString(script) && !strings.ContainsFunc(script, control)
}

// commented reports whether a script has comments, which interactive shells read as arguments.
func commented(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		_, comment := n.(*syntax.Comment)
		found = found || comment
		return !found
	})
	return found
}

// treeReaders read whole trees; below the root, that includes /proc.
var treeReaders = map[string]bool{"grep": true, "egrep": true, "fgrep": true, "rg": true}

// readsRoot reports whether such a program, with these arguments in dir, may read from the root.
func readsRoot(dir string, args []string) bool {
	isRoot := func(text string) bool { return path.Clean(text) == "/" || dir != "" && path.Join(dir, text) == "/" }
	return dir != "" && path.Clean(dir) == "/" || slices.ContainsFunc(args, isRoot)
}

func (c call) reading(dir string) Reading {
	if slices.ContainsFunc(c.args, func(w word) bool { return w.loose }) {
		return MayWrite
	}
	texts := c.texts()
	reveals := func(text string) bool { return revealing(dir, text) }
	if slices.ContainsFunc(texts, reveals) || treeReaders[texts[0]] && readsRoot(dir, texts[1:]) {
		return MayWrite
	}
	rule, known := readOnly[texts[0]]
	switch {
	case !known || !rule(texts[1:]):
		return MayWrite
	case c.opensNothing():
		return ReadsAnywhere
	}
	return ReadsConfined
}

// rule reports whether a program with these arguments only reads.
type rule func(args []string) bool

// readOnly are the programs that count as reading.
var readOnly = map[string]rule{
	"basename": anyArguments, "cat": anyArguments, "cut": anyArguments, "dirname": anyArguments,
	"echo": anyArguments, "egrep": anyArguments, "false": anyArguments, "fgrep": anyArguments,
	"grep": anyArguments, "head": anyArguments, "id": anyArguments, "ls": anyArguments, "nl": anyArguments,
	"pwd": anyArguments, "readlink": anyArguments, "realpath": anyArguments, "rev": anyArguments,
	"stat": anyArguments, "tr": anyArguments, "true": anyArguments, "uname": anyArguments,
	"wc": anyArguments, "which": anyArguments, "whoami": anyArguments,

	"date": safeDate,
	"find": safeFind,
	"git":  safeGit,
	"rg":   safeRg,
	"sed":  safeSed,
	"sort": clusters("bcCdfghikMnrRsuV,."), // without -o, which writes
	"tail": safeTail,                       // without -f, which never ends
	"uniq": safeUniq,
}

func anyArguments([]string) bool { return true }

// safeTail rejects operands like +5f, the old form of -f.
func safeTail(args []string) bool {
	old := func(arg string) bool { return arg != "" && arg[0] == '+' && strings.Trim(arg[1:], "0123456789") != "" }
	return clusters("cnqv")(args) && !slices.ContainsFunc(args, old)
}

// clusters allows operands, and clusters of one-letter flags and digits.
func clusters(letters string) rule {
	return func(args []string) bool {
		for _, arg := range args {
			if isFlag(arg) && strings.Trim(arg[1:], letters+"0123456789") != "" {
				return false
			}
		}
		return true
	}
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// safeDate rejects operands that are not a format: they set the clock.
func safeDate(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool {
		return arg != "-u" && arg != "-R" && arg != "--utc" && arg != "-Iseconds" && arg != "-I" &&
			!strings.HasPrefix(arg, "+") && !strings.HasPrefix(arg, "--date=")
	})
}

// findTests are the tests and actions of find that write nothing.
const findTests = `
	-H -L -P -a -amin -and -atime -cmin -ctime -depth -empty -executable -false -follow -gid -group -iname
	-inum -ipath -iregex -links -ls -maxdepth -mindepth -mmin -mount -mtime -name -newer -not -o -or -path
	-perm -print -print0 -printf -prune -quit -readable -regex -regextype -samefile -size -true -type -uid
	-user -wholename -writable -xdev`

// findNumber matches operands like those of -mtime -7 and -size -10k.
var findNumber = pattern.New(`^-\d+[a-zA-Z]?$`)

func safeFind(args []string) bool {
	allowed := strings.Fields(findTests)
	return !slices.ContainsFunc(args, func(arg string) bool {
		return isFlag(arg) && !slices.Contains(allowed, arg) && !findNumber().MatchString(arg)
	})
}

// safeRg rejects flags that run programs, also in their short forms and if they may be values of
// other flags.
func safeRg(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool {
		if strings.HasPrefix(arg, "--") {
			return arg != "--pretty" && strings.HasPrefix(arg, "--pre") ||
				strings.HasPrefix(arg, "--hostname-bin") || strings.HasPrefix(arg, "--search-zip")
		}
		return isFlag(arg) && strings.Contains(arg, "z")
	})
}

// safeSed allows one form: sed -n 1,5p FILE...
func safeSed(args []string) bool {
	return len(args) >= 2 && args[0] == "-n" && printOnly().MatchString(args[1]) &&
		!slices.ContainsFunc(args[2:], isFlag)
}

// safeUniq rejects operands, because uniq writes to the second one.
func safeUniq(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool { return !isFlag(arg) }) && clusters("cdiuD")(args)
}
