package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// storeRow is a figure of files and of PostgreSQL.
type storeRow struct {
	name, unit string
	// rule is the budget in words, and limit is that of PostgreSQL, from the figure of files and the round
	// trip to the database in milliseconds.
	rule  string
	limit func(files, trip float64) float64
	// higher is set if more is better.
	higher bool
	// part is the part of the values that are below the figure: 0.5 for the median, which is the default.
	part float64
}

// storeTable has the values of both stores by the names of rows.
type storeTable struct {
	rows            []storeRow
	files, database map[string][]float64
	// trip has round trips to the database in milliseconds.
	trip    []float64
	printed int
}

func newStoreTable() *storeTable {
	return &storeTable{files: map[string][]float64{}, database: map[string][]float64{}}
}

// put adds a value of files or of PostgreSQL.
func (t *storeTable) put(row storeRow, isDatabase bool, values ...float64) {
	if !slices.ContainsFunc(t.rows, func(r storeRow) bool { return r.name == row.name }) {
		t.rows = append(t.rows, row)
	}
	of := t.files
	if isDatabase {
		of = t.database
	}
	of[row.name] = append(of[row.name], values...)
}

// finished returns the rows that were completed since the last call.
func (t *storeTable) finished() string {
	var out strings.Builder
	if t.printed == 0 && len(t.rows) > 0 {
		out.WriteString("\n| | files | PostgreSQL | ratio | limit | |\n| --- | ---: | ---: | ---: | --- | --- |\n")
	}
	for _, row := range t.rows[t.printed:] {
		files, database := row.figure(t.files[row.name]), row.figure(t.database[row.name])
		limit, verdict := row.verdict(files, database, median(t.trip))
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s |\n", label(besideRow{name: row.name, unit: row.unit}),
			figure(files), figure(database), figure(database/files), limit, verdict)
	}
	t.printed = len(t.rows)
	return out.String()
}

// figure returns the value of a row.
func (r storeRow) figure(values []float64) float64 {
	if len(values) == 0 || r.part == 0 {
		return median(values)
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(math.Ceil(r.part*float64(len(sorted)))), len(sorted))-1]
}

// verdict returns the limit, and whether the figure keeps it.
func (r storeRow) verdict(files, database, trip float64) (limit, verdict string) {
	if r.limit == nil {
		return "", ""
	}
	most := r.limit(files, trip)
	switch {
	case math.IsNaN(database) || math.IsNaN(most):
		verdict = "not measured"
	case r.higher == (database >= most) || database == most:
		verdict = "ok"
	default:
		verdict = "over"
	}
	return fmt.Sprintf("%s (%s)", figure(most), r.rule), verdict
}

func TestTheTableOfStoresHasLimits(t *testing.T) {
	table := newStoreTable()
	table.trip = []float64{1}
	slow := storeRow{name: "an append", unit: "ms", rule: "3 × + 1 rt",
		limit: func(files, trip float64) float64 { return 3*files + trip }}
	table.put(slow, false, 1, 2, 9)
	table.put(slow, true, 6)
	require.Equal(t, "\n| | files | PostgreSQL | ratio | limit | |\n| --- | ---: | ---: | ---: | --- | --- |\n"+
		"| an append, ms | 2.0 | 6.0 | 3.0 | 7.0 (3 × + 1 rt) | ok |\n", table.finished())
	fast := storeRow{name: "appends a second", rule: "0.8 ×", higher: true,
		limit: func(files, _ float64) float64 { return 0.8 * files }}
	table.put(fast, false, 1000)
	table.put(fast, true, 700)
	tail := storeRow{name: "takeover", unit: "ms", rule: "100", part: 0.99,
		limit: func(_, _ float64) float64 { return 100 }}
	for i := range 100 {
		table.put(tail, true, float64(i+1))
	}
	require.Equal(t, "| appends a second | 1,000 | 700 | 0.70 | 800 (0.8 ×) | over |\n"+
		"| takeover, ms |  | 99 |  | 100 (100) | ok |\n", table.finished())
}
