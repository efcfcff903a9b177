package command

import (
	"slices"
	"strings"
)

// metadata are programs that open no file: they print their arguments, names and attributes of files, or facts
// about the user and the machine.
var metadata = map[string]bool{
	"basename": true, "date": true, "dirname": true, "echo": true, "false": true, "find": true, "id": true, "ls": true,
	"pwd": true, "readlink": true, "realpath": true, "stat": true, "true": true, "uname": true, "which": true,
	"whoami": true,
}

// filter describes the arguments of a program that only reads its standard input.
type filter struct {
	// flags are the letters of its flags without a value, valued the flags with one.
	flags, valued string
	// operands is the largest number of operands that name no file.
	operands int
}

const grepFilterFlags = "cEFGhHiLlnoPqsvwx"

// inputReaders are programs that read their standard input if no operand names a file.
var inputReaders = map[string]filter{
	"cat":  {flags: "AbeEnstTuv"},
	"rev":  {},
	"cut":  {flags: "ns", valued: "-b -c -d -f"},
	"grep": {flags: grepFilterFlags, valued: "-A -B -C -m", operands: 1},
	"head": {flags: "qv", valued: "-n -c"},
	"nl":   {flags: "p", valued: "-b -d -f -h -i -l -n -s -v -w"},
	"sort": {flags: "bcCdfghiMnRrsuV", valued: "-k -t"},
	"tail": {flags: "qv", valued: "-n -c"},
	"tr":   {flags: "cCdst", operands: 2},
	"uniq": {flags: "cdiuD"},
	"wc":   {flags: "cmlLw"},

	"egrep": {flags: grepFilterFlags, valued: "-A -B -C -m", operands: 1},
	"fgrep": {flags: grepFilterFlags, valued: "-A -B -C -m", operands: 1},
}

// opensNothing reports whether a call that only reads opens no file by name, so that it does not matter where the
// names lead.
func (c call) opensNothing() bool {
	texts := c.texts()
	name, args := texts[0], texts[1:]
	if metadata[name] {
		return true
	}
	f, known := inputReaders[name]
	return known && f.readsInput(args)
}

// readsInput reports whether all arguments are known and none names a file. Long flags do not count: they can be cut
// short. Operands must come last, because some systems take all after the first one as operands. - counts as a file.
func (f filter) readsInput(args []string) bool {
	given := getopt(args, f.valued)
	known := func(g flag) bool {
		letter := strings.TrimPrefix(g.name, "-")
		return len(letter) == 1 && (strings.Contains(f.flags, letter) || "0" <= letter && letter <= "9" ||
			slices.Contains(strings.Fields(f.valued), g.name))
	}
	for _, g := range given.flags {
		if !known(g) {
			return false
		}
	}
	last := len(args) - len(given.operands)
	return len(given.operands) <= f.operands && slices.Equal(given.operands, args[last:])
}
