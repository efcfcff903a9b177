package command

import (
	"math"
	"strconv"
	"strings"
)

// Read is a range of lines of a file that a script prints. Path is as in the script, relative to its
// working directory. The first line is 1. A To of [LastLine] is the end of the file.
type Read struct {
	Path     string
	From, To int
}

// LastLine is the end of every file.
const LastLine = math.MaxInt

// Covers reports whether a range has all lines of another one.
func (r Read) Covers(other Read) bool {
	return r.Path == other.Path && r.From <= other.From && r.To >= other.To
}

// Reads returns the files that a script prints, if it does nothing else: cat, nl, head, tail -n +N and
// sed -n 'A,Bp', also with nl or cat before a pipe. It returns nil for any other script, and for one
// whose ranges are not known.
func Reads(script string) []Read {
	file, ok := parse(script)
	if !ok {
		return nil
	}
	all, ok := calls(script, file)
	if !ok {
		return nil
	}
	var found []Read
	dir, first := "", 0 // first is the index of the first read of the pipe
	for _, c := range all {
		name, args := program(c.texts())
		if name == "cd" {
			if dir, ok = enter(dir, args); !ok {
				return nil
			}
			continue
		}
		if !c.piped {
			first = len(found)
		}
		printed, ok := printedBy(name, args)
		switch {
		case !ok:
			return nil
		case c.piped && len(printed.files) > 0:
			return nil
		case c.piped:
			for i := first; i < len(found); i++ {
				if found[i].From != 1 || found[i].To != LastLine {
					return nil
				}
				found[i].From, found[i].To = printed.from, printed.to
			}
		default:
			for _, name := range printed.files {
				found = append(found, Read{join(dir, name), printed.from, printed.to})
			}
		}
	}
	return found
}

// printed are the lines that a call prints of its files, or of its input.
type printed struct {
	files    []string
	from, to int
}

// printedBy returns false for a call whose output is not a range of lines.
func printedBy(name string, args []string) (p printed, ok bool) {
	p = printed{from: 1, to: LastLine}
	switch name {
	case "cat":
		p.files = getopt(args, "").operands
	case "nl":
		p.files = getopt(args, usages["nl"].valued).operands
	case "head", "tail":
		given := getopt(plainCount(args), usages[name].valued)
		p.files = given.operands
		count, counted := given.value("-n", "--lines")
		if given.has("-c", "--bytes") || !p.limit(name, count, counted) {
			return p, false
		}
	case "sed":
		given := getopt(args, "-e -f -l --expression --file")
		if !given.has("-n", "--quiet", "--silent") || given.has("-i", "-e", "-f", "--in-place", "--expression", "--file") ||
			len(given.operands) == 0 || !p.lines(given.operands[0]) {
			return p, false
		}
		p.files = given.operands[1:]
	default:
		return p, false
	}
	for _, file := range p.files {
		if file == "" || file == "-" {
			return p, false
		}
	}
	return p, true
}

// plainCount writes head -20 as head -n 20.
func plainCount(args []string) []string {
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "0123456789") == "" {
		return append([]string{"-n", args[0][1:]}, args[1:]...)
	}
	return args
}

// limit applies the count of head or tail. The last lines of a file have no known numbers.
func (p *printed) limit(name, count string, counted bool) bool {
	if !counted {
		count = "10"
	}
	from, fromLine := strings.CutPrefix(count, "+")
	n, err := strconv.Atoi(from)
	switch {
	case err != nil || n < 1:
		return false
	case name == "head" && !fromLine:
		p.to = n
	case name == "tail" && fromLine:
		p.from = n
	default:
		return false
	}
	return true
}

// lines applies a sed script that prints lines by their numbers.
func (p *printed) lines(script string) bool {
	if !printOnly().MatchString(script) {
		return false
	}
	first, last, ranged := strings.Cut(strings.TrimSuffix(script, "p"), ",")
	p.from = lineNumber(first)
	p.to = p.from
	if ranged {
		p.to = lineNumber(last)
	}
	return p.from != LastLine
}

func lineNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return LastLine
	}
	return n
}
