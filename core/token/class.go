package token

import (
	"unicode"
	"unicode/utf8"
)

// class is the class of a character for the split patterns. Each character has one.
type class uint8

const (
	lower   class = iota // a to z
	upper                // A to Z
	letter               // \p{L} beyond ASCII
	mark                 // \p{M}
	digit                // \p{N}
	blank                // tab, line tabulation, form feed, space
	newline              // CR, LF
	space                // \s beyond ASCII
	slash                // /
	quote                // '
	rubout               // U+007F, which the library's matcher passes over
	sign                 // everything else
	numClasses
)

// classes is a set.
type classes uint16

func setOf(list ...class) (set classes) {
	for _, c := range list {
		set |= 1 << c
	}
	return set
}

func (set classes) has(c class) bool { return set>>c&1 != 0 }

// asciiClasses are the classes of the ASCII characters.
func asciiClasses() (table [utf8.RuneSelf]class) {
	for b := range table {
		table[b] = asciiClass(byte(b))
	}
	return table
}

func asciiClass(b byte) class {
	switch {
	case 'a' <= b && b <= 'z':
		return lower
	case 'A' <= b && b <= 'Z':
		return upper
	case '0' <= b && b <= '9':
		return digit
	case b == '\n', b == '\r':
		return newline
	case b == '\t', b == '\v', b == '\f', b == ' ':
		return blank
	case b == '/':
		return slash
	case b == '\'':
		return quote
	case b == '\x7f':
		return rubout
	}
	return sign
}

// wideClass is the class of a character beyond ASCII. What is not UTF-8 is read as
// U+FFFD, a sign.
func wideClass(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsMark(r):
		return mark
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return sign
}
