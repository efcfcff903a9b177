package command

import (
	"slices"
	"strings"

	"appserver/platform/pattern"
	"appserver/protocol"
)

// kind is the purpose of a program.
type kind int

const (
	// silent programs have no action.
	silent kind = iota + 1
	// readers print files, or shape their piped input.
	readers
	// filters shape their piped input.
	filters
	listers
	searchers
)

// usage describes the arguments of a program.
type usage struct {
	kind kind
	// valued lists the flags whose value is the next argument.
	valued string
	// lead is the number of operands before the files: 1 for awk, whose first operand is a program.
	lead int
	// other lists flags that change the purpose of the program.
	other string
}

const (
	grepValued = "-e -f -A -B -C -m -d -D --regexp --file --after-context --before-context --context " +
		"--max-count --include --exclude --exclude-dir --color --label --binary-files"
	rgValued = "-e -f -A -B -C -E -g -j -m -M -r -t -T -d --regexp --file --after-context --before-context " +
		"--context --encoding --glob --iglob --threads --max-count --max-columns --replace --type --type-not " +
		"--max-depth --max-filesize --sort --sortr --color --colors --engine --type-add --context-separator"
	fdValued = "-t -e -E -d -c -S -o -j --type --extension --exclude --max-depth --min-depth --color --size " +
		"--owner --changed-within --changed-before --threads --base-directory"
)

// usages are the programs that are understood by their flags alone.
var usages = map[string]usage{
	"echo": {kind: silent}, "printf": {kind: silent}, "pwd": {kind: silent}, "true": {kind: silent}, ":": {kind: silent},

	"cat":  {kind: readers},
	"head": {kind: readers, valued: "-n -c --lines --bytes"},
	"tail": {kind: readers, valued: "-n -c -s --lines --bytes --pid --sleep-interval"},
	"nl":   {kind: readers, valued: "-b -d -f -h -i -l -n -s -v -w"},
	"less": {kind: readers, valued: "-p -P -j -x", other: "-o -O"},
	"more": {kind: readers, valued: "-n"},
	"bat": {
		kind:   readers,
		valued: "-r -l -H -m --line-range --language --highlight-line --theme --style --color --paging",
	},
	"awk": {kind: readers, valued: "-F -v", lead: 1, other: "-f -i"},

	"wc":     {kind: filters},
	"sort":   {kind: filters, valued: "-k -t -S -T", other: "-o --output"},
	"uniq":   {kind: filters, valued: "-f -s -w"},
	"cut":    {kind: filters, valued: "-b -c -d -f"},
	"tr":     {kind: filters, lead: 2},
	"column": {kind: filters, valued: "-s -o -c -N"},
	"rev":    {kind: filters}, "tac": {kind: filters}, "fold": {kind: filters, valued: "-w"},

	"ls":           {kind: listers, valued: "-I -w -T --ignore --width --tabsize --hide"},
	"tree":         {kind: listers, valued: "-I -L -P --filelimit --charset", other: "-o"},
	"git ls-files": {kind: listers, valued: "-x -X --exclude --exclude-from"},

	"grep": {kind: searchers, valued: grepValued}, "egrep": {kind: searchers, valued: grepValued},
	"fgrep": {kind: searchers, valued: grepValued},
	"rg":    {kind: searchers, valued: rgValued, other: "--pre --type-list --version"},
	"ag":    {kind: searchers, valued: "-A -B -C -G -m -p --ignore --depth --file-search-regex --max-count"},
	"git grep": {kind: searchers, valued: grepValued + " --max-depth --threads",
		other: "-O --open-files-in-pager"},
}

// recognise returns the actions of a call, none for one that only shapes output, or false if the
// call is not understood.
func recognise(name string, args []string, piped bool) ([]protocol.CommandAction, bool) {
	switch name {
	case "find":
		return find(args)
	case "fd", "fdfind":
		return fd(getopt(args, fdValued))
	case "sed":
		return sed(getopt(args, "-e -f -l --expression --file"), piped)
	case "rg":
		if given := getopt(args, rgValued); given.has("--files") {
			return []protocol.CommandAction{listOf(given.operands)}, true
		}
	}
	use, known := usages[name]
	given := getopt(args, use.valued)
	if !known || given.has(strings.Fields(use.other)...) {
		return nil, false
	}
	return use.apply(given, piped)
}

func (u usage) apply(given arguments, piped bool) ([]protocol.CommandAction, bool) {
	files := given.operands[min(u.lead, len(given.operands)):]
	switch u.kind {
	case silent:
		return nil, true
	case readers:
		return reads(files, piped)
	case filters:
		return nil, piped && len(files) == 0
	case listers:
		return []protocol.CommandAction{listOf(files)}, true
	}
	return search(given)
}

// reads returns an action for each file. Without files, the program shapes its piped input.
func reads(files []string, piped bool) ([]protocol.CommandAction, bool) {
	var found []protocol.CommandAction
	for _, file := range files {
		if file == "" || file == "-" {
			return nil, false
		}
		found = append(found, readOf(file))
	}
	return found, piped || len(found) > 0
}

func search(given arguments) ([]protocol.CommandAction, bool) {
	query, ok := given.value("-e", "--regexp")
	paths := given.operands
	if !ok {
		if len(paths) == 0 {
			return nil, false
		}
		query, paths = paths[0], paths[1:]
	}
	return []protocol.CommandAction{searchOf(query, paths)}, true
}

// printOnly matches a sed script that prints lines by their numbers.
var printOnly = pattern.New(`^(\d+|\$)(,(\d+|\$))?p$`)

func sed(given arguments, piped bool) ([]protocol.CommandAction, bool) {
	script, ok := given.value("-e", "--expression")
	files := given.operands
	if !ok && len(files) > 0 {
		script, files = files[0], files[1:]
	}
	switch {
	case given.has("-i", "--in-place", "-f", "--file"):
		return nil, false
	case len(files) == 0:
		return nil, piped
	case !given.has("-n", "--quiet", "--silent") || !printOnly().MatchString(script):
		return nil, false
	}
	return reads(files, piped)
}

// find lists files below its first operand, or searches for names there.
func find(args []string) ([]protocol.CommandAction, bool) {
	end := slices.IndexFunc(args, func(arg string) bool { return strings.ContainsAny(arg[:min(1, len(arg))], "-(!") })
	if end < 0 {
		end = len(args)
	}
	paths, tests := args[:end], args[end:]
	query := ""
	for i, test := range tests {
		switch test {
		case "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls":
			return nil, false
		case "-name", "-iname", "-path", "-ipath", "-regex", "-iregex":
			if i+1 < len(tests) && query == "" {
				query = tests[i+1]
			}
		}
	}
	if query != "" {
		return []protocol.CommandAction{searchOf(query, paths)}, true
	}
	return []protocol.CommandAction{listOf(paths)}, true
}

// fd lists files, or searches for names if it has a pattern.
func fd(given arguments) ([]protocol.CommandAction, bool) {
	if given.has("-x", "-X", "--exec", "--exec-batch") {
		return nil, false
	}
	if len(given.operands) == 0 {
		return []protocol.CommandAction{listOf(nil)}, true
	}
	return []protocol.CommandAction{searchOf(given.operands[0], given.operands[1:])}, true
}
