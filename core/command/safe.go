package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Safe tells whether a shell script surely only reads: every simple command in it
// is one of a list of programs, called in a way in which they write nothing and run
// nothing else. It is false whenever it is not sure.
//
// What it cannot see is left to the user: a program of that name placed earlier in
// the PATH, and git's configuration, which may name programs to run.
func Safe(script string) bool { return SafeIn("", script) }

// SafeIn is Safe for a script that is run in a directory, "" for one that is not known.
func SafeIn(dir, script string) bool {
	if !plain(script) || strings.HasPrefix(path.Clean(dir)+"/", "/proc/") {
		return false
	}
	file, ok := parse(script)
	if !ok || commented(file) {
		return false
	}
	all, ok := calls(script, file)
	return ok && len(all) > 0 && !slices.ContainsFunc(all, func(c call) bool { return !c.safe(dir) })
}

// plain tells whether shells agree on the characters of a script: they do not on
// carriage returns, NUL bytes and bytes that are not UTF-8.
func plain(script string) bool {
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
	return utf8.ValidString(script) && !strings.ContainsFunc(script, control)
}

// commented tells whether a script has comments, which interactive shells read as
// arguments.
func commented(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		_, comment := n.(*syntax.Comment)
		found = found || comment
		return !found
	})
	return found
}

// revealing tells whether a word leads to where the environment of other processes,
// with its keys, can be read.
func revealing(text string) bool {
	return strings.Contains(text, "/proc") || strings.HasPrefix(text, "proc/")
}

// treeReaders read whole trees; from the root down /proc is among them.
var treeReaders = map[string]bool{"grep": true, "egrep": true, "fgrep": true, "rg": true}

// readsRoot tells whether arguments of such a program, called in a directory, lead there.
func readsRoot(dir string, args []string) bool {
	isRoot := func(text string) bool { return path.Clean(text) == "/" || dir != "" && path.Join(dir, text) == "/" }
	return dir != "" && path.Clean(dir) == "/" || slices.ContainsFunc(args, isRoot)
}

func (c call) safe(dir string) bool {
	if slices.ContainsFunc(c.args, func(w word) bool { return w.loose }) {
		return false
	}
	texts := c.texts()
	if slices.ContainsFunc(texts, revealing) || treeReaders[texts[0]] && readsRoot(dir, texts[1:]) {
		return false
	}
	rule, known := readOnly[texts[0]]
	return known && rule(texts[1:])
}

// rule tells whether a program with these arguments only reads.
type rule func(args []string) bool

// readOnly are the programs that Safe knows.
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
	"sort": clusters("bcCdfghikMnrRsuV,."), // not -o, which writes
	"tail": clusters("cnqv"),               // not -f, which never ends
	"uniq": safeUniq,
}

func anyArguments([]string) bool { return true }

// clusters allows one-letter flags, digits among them, and operands.
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

// safeDate leaves out operands that are no format: they set the clock.
func safeDate(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool {
		return arg != "-u" && arg != "-R" && arg != "--utc" && arg != "-Iseconds" && arg != "-I" &&
			!strings.HasPrefix(arg, "+") && !strings.HasPrefix(arg, "--date=")
	})
}

// findTests are the tests and actions of find that write nothing.
var findTests = strings.Fields(`
	-H -L -P -a -amin -and -atime -cmin -ctime -depth -empty -executable -false -follow -gid -group -iname
	-inum -ipath -iregex -links -ls -maxdepth -mindepth -mmin -mount -mtime -name -newer -not -o -or -path
	-perm -print -print0 -printf -prune -quit -readable -regex -regextype -samefile -size -true -type -uid
	-user -wholename -writable -xdev`)

// findNumber is an operand like that of -mtime -7 and -size -10k.
var findNumber = regexp.MustCompile(`^-\d+[a-zA-Z]?$`)

func safeFind(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool {
		return isFlag(arg) && !slices.Contains(findTests, arg) && !findNumber.MatchString(arg)
	})
}

// safeRg leaves out the flags that run programs, also in their short forms and
// where they may be values of other flags.
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
	return len(args) >= 2 && args[0] == "-n" && printOnly.MatchString(args[1]) &&
		!slices.ContainsFunc(args[2:], isFlag)
}

// safeUniq leaves out operands: the second one is written to.
func safeUniq(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool { return !isFlag(arg) }) && clusters("cdiuD")(args)
}
