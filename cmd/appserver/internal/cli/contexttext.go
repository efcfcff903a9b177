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

// controlsTerminal reports whether a character has another effect on a terminal than to appear:
// control characters, characters that change the direction of text, and line ends.
func controlsTerminal(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// plain is a text in one line that does nothing to a terminal.
func plain(text string) string {
	return mapText(text, func(r rune) bool { return r == '\n' || r == '\t' }, ' ')
}

// plainLines is plain, but for line ends and tabs, which stay.
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

// plainError is an error whose words do nothing to a terminal.
type plainError struct{ error }

// Error has lines.
func (e plainError) Error() string { return plainLines(e.error.Error()) }

// Unwrap is the error itself.
func (e plainError) Unwrap() error { return e.error }

// writeJSON writes one document, in which characters that a terminal would obey are
// escaped.
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
		if r != '\n' && controlsTerminal(r) { // all of them have four digits
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// wide are characters that take two columns, from first to last.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
}

// columnsOf is how many columns a character takes.
func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// columns is how many columns a text takes.
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

// grouped is a number with its thousands set apart.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// percent is a part of a whole with one decimal; "" of nothing.
func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// counted is a number of things: "1 item", "2 items".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(int64(n)) + " " + thing + "s"
}

// age is a time that has passed, in its largest unit.
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

// table is text in columns, the first row being the heads.
type table struct {
	// right are the columns that end in line.
	right map[int]bool
	rows  [][]string
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = plain(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// write cuts lines that are wider than width.
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
