package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// controlsTerminal reports whether a terminal interprets a character instead of displaying it: control
// characters, characters that change the direction of text, and line separators.
func controlsTerminal(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// plain returns a text as one line without characters that control a terminal.
func plain(text string) string {
	return mapText(text, func(r rune) bool { return r == '\n' || r == '\t' }, ' ')
}

// plainLines returns a text without characters that control a terminal, except newlines and tabs.
func plainLines(text string) string {
	return mapText(text, func(rune) bool { return false }, 0)
}

func mapText(text string, isSpace func(rune) bool, space rune) string {
	return strings.Map(func(r rune) rune {
		switch {
		case isSpace(r):
			return space
		case r != '\n' && r != '\t' && controlsTerminal(r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// plainError is an error whose message has no characters that control a terminal.
type plainError struct{ error }

// Error returns the message, which may have several lines.
func (e plainError) Error() string { return plainLines(e.error.Error()) }

// Unwrap returns the original error.
func (e plainError) Unwrap() error { return e.error }

// writeJSON writes one document, and escapes characters that control a terminal.
func writeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing %T: %w", v, err)
	}
	var out strings.Builder
	for _, r := range buf.String() {
		if r != '\n' && controlsTerminal(r) { // at most four digits
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// wideRunes has the ranges of characters that are two columns wide, each with its first and last one.
var wideRunes = [][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
}

// columnsOf returns the width of a character in columns.
func columnsOf(r rune) int {
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

// columns returns the width of a text in columns.
func columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// firstColumns returns a text, or its beginning and an ellipsis, at most width columns together.
func firstColumns(text string, width int) string {
	if columns(text) <= width {
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

// grouped returns a number with commas between groups of three digits.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// percent returns a part of a whole with one decimal, or "" if the whole is not positive.
func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// counted returns a number with its noun: "1 item", "2 items".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(int64(n)) + " " + thing + "s"
}

// age returns a duration in its largest unit.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(d, 0)/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// table is text in columns. The first row is the header.
type table struct {
	// right has the columns that are aligned to the right.
	right map[int]bool
	rows  [][]string
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = plain(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// write writes the table, and shortens lines that are wider than width.
func (t *table) write(w io.Writer, width int) {
	widths := map[int]int{}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(padded(cell, widths[i], t.right[i]) + "  ")
		}
		fmt.Fprintln(w, firstColumns(strings.TrimRight(line.String(), " "), width))
	}
}

func padded(cell string, width int, right bool) string {
	pad := strings.Repeat(" ", width-columns(cell))
	if right {
		return pad + cell
	}
	return cell + pad
}
