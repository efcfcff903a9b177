package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/termtext"
)

// plainError is an error whose message has no characters that control a terminal. So it overrides Error.
type plainError struct{ error }

// Error returns the message, which may have several lines.
func (e plainError) Error() string { return termtext.PlainLines(e.error.Error()) }

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
		if r != '\n' && termtext.ControlsTerminal(r) { // at most four digits
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	_, err := io.WriteString(w, out.String())
	return err
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
		cells[i] = termtext.Plain(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// write writes the table, and shortens lines that are wider than width.
func (t *table) write(w io.Writer, width int) {
	widths := map[int]int{}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], termtext.Columns(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(termtext.Padded(cell, widths[i], t.right[i]) + "  ")
		}
		fmt.Fprintln(w, termtext.FirstColumns(strings.TrimRight(line.String(), " "), width))
	}
}
