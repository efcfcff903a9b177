package command

import "strings"

// Quote writes an argument vector as one line that a POSIX shell splits into the same arguments. It
// quotes as the reference implementation does (the rules of Rust's shlex 1.3), so that clients see
// the same text. The forms are, in order of preference: bare if no shell changes the word, in
// single quotes, in double quotes, in pieces.
func Quote(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = quoteWord(arg)
	}
	return strings.Join(words, " ")
}

// style is a set of ways to write a piece of a word.
type style uint8

const (
	bare style = 1 << iota
	single
	double
)

func quoteWord(arg string) string {
	if arg == "" {
		return "''"
	}
	var line strings.Builder
	for arg != "" {
		n, way := piece(arg)
		way.write(&line, arg[:n])
		arg = arg[n:]
	}
	return line.String()
}

// piece returns the length of the longest prefix that can be written in one way, and the ways to
// write it.
func piece(arg string) (int, style) {
	ways := stylesOf(arg[0])
	if arg[0] == '^' {
		// Interactive shells replace ^ at the start of a line, and bash everywhere in double quotes. So
		// it is written right after an opening single quote.
		ways = single
	}
	for i := 1; i < len(arg); i++ {
		left := ways & stylesOf(arg[i])
		if left == 0 {
			return i, ways
		}
		ways = left
	}
	return len(arg), ways
}

// stylesOf returns the ways to write a byte after another one. Some shells differ from POSIX. In
// single quotes, fish reads a backslash as an escape. In double quotes, Python's shlex keeps the
// backslash before $ and `, and interactive shells replace !.
func stylesOf(c byte) style {
	switch c {
	case '\'', '\\':
		return double
	case '$', '`', '!':
		return single
	case '^':
		return 0
	}
	if isBare(c) {
		return bare | single | double
	}
	return single | double
}

func isBare(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("+-./:@]_", c) >= 0
}

// write adds a piece in the plainest of the ways.
func (s style) write(line *strings.Builder, text string) {
	switch {
	case s&bare != 0:
		line.WriteString(text)
	case s&single != 0:
		line.WriteString("'" + text + "'")
	default:
		line.WriteString(`"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(text) + `"`)
	}
}
