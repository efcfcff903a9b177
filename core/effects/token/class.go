package token

import (
	"unicode"
	"unicode/utf8"
)

// class is the class of a character for the split patterns. Each character has one.
type class uint8

const (
	lower   class = iota // \p{Ll}
	upper                // \p{Lu}, \p{Lt}
	letter               // \p{Lm}, \p{Lo}
	mark                 // \p{M}
	digit                // \p{N}
	blank                // \s other than CR, LF
	newline              // CR, LF
	sign                 // everything else
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

const (
	letters        classes = 1<<lower | 1<<upper | 1<<letter
	capitalClasses classes = 1<<upper | 1<<letter | 1<<mark
	smallClasses   classes = 1<<lower | 1<<letter | 1<<mark
	leads          classes = 1<<mark | 1<<blank | 1<<sign // [^\r\n\p{L}\p{N}]
)

// classTable has the classes of the ASCII characters.
type classTable [utf8.RuneSelf]class

func newClassTable() *classTable {
	t := &classTable{}
	for b := range t {
		t[b] = classOf(rune(b))
	}
	return t
}

// at returns the class of the character at i, and its size. A byte that is not UTF-8 is read as U+FFFD,
// which is a sign.
func (t *classTable) at(text string, i int) (c class, size int) {
	if b := text[i]; b < utf8.RuneSelf {
		return t[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return classOf(r), size
}

// skip returns the end of the characters of a set that begin at i.
func (t *classTable) skip(text string, i int, set classes) int {
	for i < len(text) {
		c, size := t.at(text, i)
		if !set.has(c) {
			break
		}
		i += size
	}
	return i
}

func classOf(r rune) class {
	switch {
	case r == '\r', r == '\n':
		return newline
	case unicode.Is(unicode.Lo, r):
		return letter
	case unicode.IsLower(r):
		return lower
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r):
		return letter
	case unicode.IsMark(r):
		return mark
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return blank
	}
	return sign
}
