package bench

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// besideRow identifies a figure.
type besideRow struct {
	name, unit, goal string
	// higher is set where more is better.
	higher bool
}

// besideTable has the figures of both servers, its rows in the order in which they came.
type besideTable struct {
	rows    []besideRow
	values  map[string][]float64 // by row and server
	printed int
}

func (t *besideTable) put(row besideRow, server string, value float64) {
	if t.values == nil {
		t.values = map[string][]float64{}
	}
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	t.values[row.name+"\x00"+server] = append(t.values[row.name+"\x00"+server], value)
}

// finished returns the rows that were completed since the last call, so that a long run shows
// progress.
func (t *besideTable) finished() string {
	var out strings.Builder
	if t.printed == 0 && len(t.rows) > 0 {
		out.WriteString("\n| | goal | ours | reference | ratio |\n| --- | --- | --- | --- | --- |\n")
	}
	for _, row := range t.rows[t.printed:] {
		ours, theirs := median(t.values[row.name+"\x00ours"]), median(t.values[row.name+"\x00reference"])
		ratio := theirs / ours
		if row.higher {
			ratio = ours / theirs
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", label(row), row.goal, figure(ours), figure(theirs), figure(ratio))
	}
	t.printed = len(t.rows)
	return out.String()
}

func label(row besideRow) string {
	if row.unit == "" {
		return row.name
	}
	return row.name + ", " + row.unit
}

// median returns the median, or NaN for an empty list.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// figure formats a number with two significant digits, and all digits before the point.
func figure(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case v < 1:
		return fmt.Sprintf("%.2f", v)
	case v < 10:
		return fmt.Sprintf("%.1f", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// benchNumbers returns the numbers that a variable of the environment names, else all.
func benchNumbers(t testing.TB, name string, all ...int) (chosen []int) {
	names := os.Getenv(name)
	if names == "" {
		return all
	}
	for _, text := range strings.Split(names, ",") {
		n, err := strconv.Atoi(text)
		require.NoError(t, err, name)
		chosen = append(chosen, n)
	}
	return chosen
}

func TestTheTableHasMediansAndRatios(t *testing.T) {
	var table besideTable
	require.Empty(t, table.finished())
	slow, fast := besideRow{name: "a page", unit: "ms", goal: "5"}, besideRow{name: "deltas a second", higher: true}
	for _, v := range []float64{9, 2, 4} {
		table.put(slow, "ours", v)
	}
	table.put(slow, "reference", 10)
	table.put(slow, "reference", 30)
	require.Equal(t, "\n| | goal | ours | reference | ratio |\n| --- | --- | --- | --- | --- |\n| a page, ms | 5 | 4.0 | 20 | 5.0 |\n", table.finished())
	table.put(fast, "ours", 123456)
	require.Equal(t, "| deltas a second |  | 123,456 |  |  |\n", table.finished())
	require.Empty(t, table.finished())
	require.Equal(t, "0.25", figure(0.25))
	require.Equal(t, "1,234,567", figure(1234567))
}
