package find

import (
	"bytes"
	"strings"
)

// pattern is a line of a pattern file, with the rules of gitignore(5).
type pattern struct {
	parts []part
	// not is set if the line begins with an exclamation mark, dirs if it ends with a slash.
	not, dirs bool
	// base is set if only the last name of a path is compared.
	base bool
}

// part matches a byte of a path, or any number of bytes.
type part struct {
	kind kind
	set  set // of one
}

type kind uint8

// The kinds of parts: a byte of a set, any number of bytes of one name, any number of bytes, and any
// number of names with the slash after each.
const (
	one kind = iota
	star
	any
	names
)

// parsePatterns parses a pattern file.
func parsePatterns(text []byte) (list []pattern) {
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		line, _, _ = bytes.Cut(line, []byte{0})
		if len(line) > 0 && line[0] != '#' && len(line) <= longestPattern {
			list = append(list, parsePattern(trimSpaces(string(line)))...)
		}
	}
	return list
}

// longestPattern is the maximum size of a pattern in bytes. Paths are shorter.
const longestPattern = 8 << 10

// trimSpaces removes the spaces at the end that are not escaped.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// parsePattern returns the pattern of a line, or nil if it can match nothing.
func parsePattern(line string) []pattern {
	var p pattern
	line, p.not = strings.CutPrefix(line, "!")
	line, p.dirs = strings.CutSuffix(line, "/")
	p.base = !strings.Contains(line, "/")
	var ok bool
	if p.parts, ok = parseParts(strings.TrimPrefix(line, "/")); !ok || len(p.parts) == 0 {
		return nil
	}
	return []pattern{p}
}

// parseParts returns the parts of a pattern, or false if it ends within brackets or an escape.
func parseParts(text string) (parts []part, ok bool) {
	plain, slash := true, true // what came before: git compares plain bytes apart
	for n := 0; len(text) > 0; text = text[n:] {
		var p part
		if p, n = parsePart(text, plain || slash); n == 0 {
			return nil, false
		}
		parts = append(parts, p)
		plain, slash = plain && !strings.Contains(`*?[\`, text[:1]), text[n-1] == '/'
	}
	return parts, true
}

// parsePart returns the first part of a text and its length, or 0 if the part has no end. first is set
// if two stars may match names.
func parsePart(text string, first bool) (part, int) {
	switch c := text[0]; {
	case c == '*':
		return parseStars(text, first)
	case c == '?':
		return part{set: set{}.but()}, 1
	case c == '[':
		s, n := parseSet(text)
		return part{set: s.without('/')}, n
	case c != '\\':
		return part{set: set{}.with(c, c)}, 1
	case len(text) > 1:
		return part{set: set{}.with(text[1], text[1])}, 2
	}
	return part{}, 0
}

func parseStars(text string, first bool) (part, int) {
	rest := strings.TrimLeft(text, "*")
	n := len(text) - len(rest)
	switch {
	case n > 1 && first && strings.HasPrefix(rest, "/"):
		return part{kind: names}, n + 1
	case n > 1 && first && (rest == "" || strings.HasPrefix(rest, `\/`)):
		return part{kind: any}, n
	}
	return part{kind: star}, n
}

// matches reports whether the pattern matches a path, relative to the folder of its file.
func (p pattern) matches(path string, dir bool) bool {
	if p.dirs && !dir {
		return false
	}
	if p.base {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return match(p.parts, path)
}

// mark is the end of a part that matches any number of bytes, to backtrack to: the index of the next
// part, 0 for no mark, and of the byte.
type mark struct{ part, at int }

// match matches a whole text. On a mismatch the last star takes one more byte. It ends at the end of
// its name; then the last part that crosses names takes more. No other part needs another try: the
// last one can end wherever the earlier ones would let it.
func match(parts []part, text string) bool {
	var short, long mark
	i, at := 0, 0
	for i < len(parts) || at < len(text) {
		switch {
		case i < len(parts) && parts[i].kind == star:
			i++
			short = mark{i, at}
		case i < len(parts) && parts[i].kind != one:
			i++
			short, long = mark{}, mark{i, at}
		case i < len(parts) && at < len(text) && parts[i].set.has(text[at]):
			i, at = i+1, at+1
		case short.part > 0 && short.at < len(text) && text[short.at] != '/':
			short.at++
			i, at = short.part, short.at
		case long.part > 0 && long.at < len(text):
			n := step(parts[long.part-1].kind, text[long.at:])
			if n == 0 {
				return false
			}
			long.at += n
			i, at, short = long.part, long.at, mark{}
		default:
			return false
		}
	}
	return true
}

// step returns the number of further bytes of a text that a part matches, or 0.
func step(k kind, text string) int {
	if k == names {
		return strings.IndexByte(text, '/') + 1
	}
	return 1
}
