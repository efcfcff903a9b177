package bench

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// growth turns on TestGrowth, which make bench-growth runs. Its times do not fail a test.
var growth = flag.Bool("growth", false, "measure requests at several sizes of the history, and print a table")

// growthTurns are the turns of a rollout of 1 MB. Each has an output of 4 KB, which is twice in the file. A compaction
// comes every 50 turns, and growthContext turns after the last one, so all sizes have the same context.
const growthTurns, growthContext = 100, 25

// TestGrowth measures each request that reads or changes a thread, with histories of several sizes, and prints a
// table. Each request has a new process. It asserts that all was answered, and no times.
func TestGrowth(t *testing.T) {
	if !*growth {
		t.Skip("make bench-growth runs it")
	}
	rounds := benchNumbers(t, "APPSERVER_BENCH_ROUNDS", 3)[0]
	table := &growthTable{sizes: benchNumbers(t, "APPSERVER_BENCH_MB", 1, 10, 100, 1000)}
	for _, size := range table.sizes {
		t.Run(fmt.Sprintf("%d MB", size), func(t *testing.T) {
			for range rounds { // the requests trim the thread, so each round has a new one
				r := newGrowthRun(t, table, size)
				for _, request := range growthRequests {
					r.measure(request)
				}
				require.NoError(t, os.RemoveAll(r.home))
			}
		})
	}
	fmt.Print(table)
}

// growthRequest is a request of the table.
type growthRequest struct {
	// name is shown after the method.
	method, name string
	// params follow the id of the thread in the params.
	params string
	// loaded has the thread resumed before, and warm has the request sent before as well.
	loaded, warm bool
	// beforeLast adds the last turn as beforeTurnId.
	beforeLast bool
	// fresh removes what earlier processes keep beside the rollouts.
	fresh bool
	// until is the beginning of the message that ends the request. It is the response if empty.
	until string
	// undo is sent afterwards.
	undo string
	// end has the end of the process measured as well.
	end bool
}

var growthRequests = []growthRequest{
	{method: "thread/resume", name: "without turns, first", params: `,"excludeTurns":true`, fresh: true},
	{method: "thread/resume", name: "without turns, again", params: `,"excludeTurns":true`},
	{method: "thread/resume", name: "all turns"},
	{method: "thread/read", name: "without turns"},
	{method: "thread/read", name: "all turns", params: `,"includeTurns":true`},
	{method: "thread/list"},
	{method: "thread/search", params: `,"searchTerm":"dull"`},
	{method: "thread/searchOccurrences", name: "a text in every turn", params: `,"searchTerm":"dull"`},
	{method: "thread/searchOccurrences", name: "a text in no turn", params: `,"searchTerm":"nowhere"`},
	{method: "thread/turns/list"},
	{method: "thread/items/list"},
	{method: "thread/timeline/list"},
	{method: "thread/item/read", params: `,"itemId":"m7"`},
	{method: "thread/usage/list"},
	{method: "thread/checkpoint/list"},
	{method: "thread/name/set", params: `,"name":"a name"`},
	{method: "thread/archive", undo: "thread/unarchive"},
	{method: "thread/fork", name: "without turns", params: `,"excludeTurns":true`},
	{method: "thread/fork", name: "all turns"},
	{method: "turn/start", name: "to `turn/completed`", params: `,"input":[{"type":"text","text":"hi"}]`,
		loaded: true, until: turnCompleted},
	{method: "thread/turns/list", name: "loaded", loaded: true},
	{method: "thread/items/list", name: "loaded", loaded: true},
	{method: "thread/timeline/list", name: "loaded", loaded: true},
	{method: "thread/name/set", name: "loaded", params: `,"name":"another"`, loaded: true},
	{method: "context/getItems", name: "first", loaded: true},
	{method: "context/getItems", name: "again", loaded: true, warm: true},
	{method: "context/getUsage", loaded: true},
	{method: "context/getPrompt", loaded: true},
	{method: "context/search", params: `,"query":"dull"`, loaded: true},
	{method: "context/search", name: "removed items too", params: `,"query":"dull","includeRemoved":true`, loaded: true},
	{method: "context/suggest", loaded: true},
	{method: "context/preview", params: `,"edits":[{"type":"prune","categories":["toolOutput"]}]`, loaded: true},
	{method: "context/setInclusion", params: `,"indices":[1],"included":false`, loaded: true, undo: "context/undo",
		end: true},
	{method: "context/prune", params: `,"categories":["toolOutput"]`, loaded: true, undo: "context/undo"},
	{method: "context/prune", name: "kept", params: `,"categories":["toolOutput"]`, loaded: true, end: true},
	{method: "thread/resume", name: "after the edit", params: `,"excludeTurns":true`},
	{method: "context/listEdits", loaded: true},
	{method: "thread/compact/propose", name: "strategy local", params: `,"strategy":"local"`, loaded: true},
	{method: "thread/compact/start", name: "strategy local, to `turn/completed`", params: `,"strategy":"local"`,
		loaded: true, until: turnCompleted},
	{method: "thread/context/trim", params: `,"keepLastNTurns":3`, loaded: true},
	{method: "thread/rollback", name: "one turn, to its response", params: `,"numTurns":1`, loaded: true},
	{method: "thread/revert", name: "the last turn", loaded: true, beforeLast: true},
	{method: "thread/resume", name: "after edits", params: `,"excludeTurns":true`},
}

// growthRun measures a thread of one size.
type growthRun struct {
	*testing.T
	*growthTable
	size         int
	home, thread string
}

func newGrowthRun(t *testing.T, table *growthTable, size int) growthRun {
	home := t.TempDir()
	thread := apptest.LongRollout{Turns: size*growthTurns + growthContext, Output: 64, CompactEvery: 50}.Write(t, home)
	<-time.After(3 * time.Second) // a file that changed within two seconds would be read again by each process
	c := newLineClient(t, home)
	c.settle()
	c.close()
	return growthRun{t, table, size, home, thread}
}

// measure sends a request to a new process, and ends it.
func (r growthRun) measure(request growthRequest) {
	if request.fresh {
		require.NoError(r, os.RemoveAll(filepath.Join(r.home, "appserver-cache")))
	}
	c := newLineClient(r, r.home)
	if request.loaded {
		r.call(c, "thread/resume", `,"excludeTurns":true`)
	}
	if request.warm {
		r.call(c, request.method, request.params)
	}
	params := request.params
	if request.beforeLast {
		r.call(c, "thread/turns/list", `,"limit":1,"itemsView":"notLoaded"`)
		params += fmt.Sprintf(`,"beforeTurnId":%q`, gjson.GetBytes(c.head, "result.data.0.id").Str)
	}
	began := time.Now()
	answer := r.call(c, request.method, params)
	if request.until != "" {
		answer = c.await(request.until)
	}
	took := time.Since(began)
	r.put(request, r.size, growthFigures{ms(took), peakMB(r, c.pid), float64(answer) / 1000})
	if request.undo != "" {
		r.call(c, request.undo, "")
	}
	began = time.Now()
	c.close()
	if request.end {
		r.put(growthRequest{name: "the end of the process after `" + request.method + "`"}, r.size,
			growthFigures{ms(time.Since(began)), math.NaN(), math.NaN()})
	}
}

// call sends a request of the thread and returns the length of the response.
func (r growthRun) call(c *lineClient, method, params string) int {
	length := c.call(method, fmt.Sprintf(`{"threadId":%q%s}`, r.thread, params))
	require.False(r, gjson.GetBytes(c.head, "error").Exists(), "%s: %.300s", method, c.head)
	return length
}

// growthFigures are the time, the greatest memory of the process, and the length of the answer in KB.
type growthFigures struct{ ms, megabytes, answer float64 }

// growthTable has a row of each request.
type growthTable struct {
	sizes   []int
	rows    []string
	figures map[string]map[int][]growthFigures // by row and size
}

func (t *growthTable) put(request growthRequest, size int, figures growthFigures) {
	name := request.name
	if request.method != "" {
		name = strings.TrimSuffix("`"+request.method+"`, "+request.name, ", ")
	}
	if t.figures == nil {
		t.figures = map[string]map[int][]growthFigures{}
	}
	if t.figures[name] == nil {
		t.rows, t.figures[name] = append(t.rows, name), map[int][]growthFigures{}
	}
	t.figures[name][size] = append(t.figures[name][size], figures)
}

// String returns the table, with medians.
func (t *growthTable) String() string {
	var out strings.Builder
	columns := func(cell func(size int) string) {
		for _, size := range t.sizes {
			fmt.Fprintf(&out, " %s |", cell(size))
		}
	}
	out.WriteString("\n| |")
	columns(func(size int) string { return fmt.Sprintf("%s MB: ms", figure(float64(size))) })
	out.WriteString(" time |")
	columns(func(size int) string { return fmt.Sprintf("%s MB: peak MB", figure(float64(size))) })
	out.WriteString(" memory | answer, KB | answer |\n| ---" + strings.Repeat(" | ---:", len(t.sizes)) + " | ---" +
		strings.Repeat(" | ---:", len(t.sizes)) + " | --- | ---: | --- |\n")
	for _, row := range t.rows {
		values := func(get func(growthFigures) float64) (list []float64) {
			for _, size := range t.sizes {
				var of []float64
				for _, f := range t.figures[row][size] {
					of = append(of, get(f))
				}
				list = append(list, median(of))
			}
			return list
		}
		times := values(func(f growthFigures) float64 { return f.ms })
		memory := values(func(f growthFigures) float64 { return f.megabytes })
		answers := values(func(f growthFigures) float64 { return f.answer })
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s |\n", row, figures(times), growthName(times, 2),
			figures(memory), growthName(memory, 5), figure(answers[len(answers)-1]), growthName(answers, 1))
	}
	return out.String()
}

func figures(values []float64) string {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = figure(v)
	}
	return strings.Join(cells, " | ")
}

// growthName names the growth of values over the last factor of ten. A difference up to slack is noise.
func growthName(values []float64, slack float64) string {
	if len(values) < 2 || math.IsNaN(values[0]) {
		return ""
	}
	last, before := values[len(values)-1], values[len(values)-2]
	switch factor := last / before; {
	case last-before <= slack || factor < 1.25:
		return "constant"
	case factor < 2:
		return "logarithmic"
	case factor < 5:
		return "below linear"
	case factor <= 13:
		return "linear"
	}
	return "above linear"
}

func TestTheGrowthTableNamesTheGrowth(t *testing.T) {
	require.Equal(t, "constant", growthName([]float64{5, 5, 6}, 0.5))
	require.Equal(t, "constant", growthName([]float64{0.1, 0.1, 0.5}, 0.5))
	require.Equal(t, "logarithmic", growthName([]float64{5, 10, 15}, 0.5))
	require.Equal(t, "below linear", growthName([]float64{5, 10, 40}, 0.5))
	require.Equal(t, "linear", growthName([]float64{1, 10, 100}, 0.5))
	require.Equal(t, "above linear", growthName([]float64{1, 10, 1000}, 0.5))
	table := &growthTable{sizes: []int{1, 10}}
	for _, v := range []float64{9, 2, 4} {
		table.put(growthRequest{method: "a/b", name: "first"}, 1, growthFigures{v, 20, 3})
		table.put(growthRequest{method: "a/b", name: "first"}, 10, growthFigures{10 * v, 21, 30})
	}
	require.Contains(t, table.String(), "\n| `a/b`, first | 4.0 | 40 | linear | 20 | 21 | constant | 30 | linear |\n")
}
