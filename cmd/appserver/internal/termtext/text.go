// Package termtext prepares texts for terminals. It removes or escapes the characters that control a
// terminal, measures texts in columns, and formats numbers for people.
//
// The texts of a context are the output of models and commands. Every text goes through Plain, PlainLines
// or Escape before a program writes it to a terminal.
package termtext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// ControlsTerminal reports whether a terminal interprets a character instead of displaying it: control
// characters, characters that change the direction of text, and line separators.
func ControlsTerminal(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// Plain returns a text as one line. It replaces characters that control a terminal by U+FFFD.
func Plain(text string) string {
	return mapText(text, func(r rune) bool { return r == '\n' || r == '\t' }, ' ')
}

// PlainLines returns a text with its newlines and tabs. It replaces other characters that control a
// terminal by U+FFFD.
func PlainLines(text string) string {
	return mapText(text, func(rune) bool { return false }, 0)
}

func mapText(text string, isSpace func(rune) bool, space rune) string {
	return strings.Map(func(r rune) rune {
		switch {
		case isSpace(r):
			return space
		case r != '\n' && r != '\t' && ControlsTerminal(r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// tabWidth is the distance between tab stops in columns.
const tabWidth = 8

// isInvisible reports whether a character has no glyph of its own. Joiners are exempt, because emoji and
// several scripts need them.
func isInvisible(r rune) bool {
	return ControlsTerminal(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
}

// Escape returns a line with spaces for tabs. It writes invisible characters as \x1b or \u202e, so that
// the reader sees them.
func Escape(line string) string {
	if isPrintableASCII(line) {
		return line
	}
	var b strings.Builder
	column := 0
	for _, r := range strings.ToValidUTF8(line, string(unicode.ReplacementChar)) {
		glyph := string(r)
		switch {
		case r >= ' ' && r <= '~':
		case r == '\t':
			glyph = strings.Repeat(" ", tabWidth-column%tabWidth)
		case isInvisible(r) && r <= 0xff:
			glyph = fmt.Sprintf(`\x%02x`, r)
		case isInvisible(r):
			glyph = fmt.Sprintf(`\u%04x`, r)
		}
		b.WriteString(glyph)
		column += Columns(glyph)
	}
	return b.String()
}

func isPrintableASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// Wrap returns the escaped lines of a text, each at most width columns wide. It has at least one line.
func Wrap(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = Escape(line)
		end := cut(line, width)
		for end < len(line) {
			lines, line = append(lines, line[:end]), line[end:]
			end = cut(line, width)
		}
		lines = append(lines, line)
	}
	return lines
}

// cut returns the number of bytes of a line that fit into width columns, and at least one character.
// It prefers the end of a word.
func cut(line string, width int) int {
	used, space := 0, 0
	for i, r := range line {
		if used += columnsOf(r); used > width && i > 0 {
			if space > 0 {
				return space
			}
			return i
		}
		if r == ' ' {
			space = i + 1
		}
	}
	return len(line)
}

// wideRunes has the ranges of characters that are two columns wide, each with its first and last one.
var wideRunes = [][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
}

// columnsOf returns the width of a character in columns.
func columnsOf(r rune) int {
	if r < 0x7f {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wideRunes {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// Columns returns the width of a text in columns.
func Columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// FirstColumns returns a text, or its beginning and an ellipsis, at most width columns together.
func FirstColumns(text string, width int) string {
	if Columns(text) <= width {
		return text
	}
	used := 0
	for i, r := range text {
		if used += columnsOf(r); used > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// LastColumns returns a text, or an ellipsis and its end, at most width columns together.
func LastColumns(text string, width int) string {
	if Columns(text) <= width {
		return text
	}
	used := Columns(text)
	for i, r := range text {
		if used <= width-1 {
			return "…" + text[i:]
		}
		used -= columnsOf(r)
	}
	return "…"
}

// Padded returns a cell with spaces to a width, before the cell if it is aligned to the right.
func Padded(cell string, width int, right bool) string {
	pad := strings.Repeat(" ", max(0, width-Columns(cell)))
	if right {
		return pad + cell
	}
	return cell + pad
}

// Grouped returns a number with commas between groups of three digits.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Percent returns a part of a whole with one decimal, or "" if the whole is not positive.
func Percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// Counted returns a number with its noun: "1 item", "2 items".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Grouped(int64(n)) + " " + thing + "s"
}
