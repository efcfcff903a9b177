package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// soakSample is one sample of the server's resources.
type soakSample struct {
	seconds                                      float64
	resident, live, goroutines, files, processes int // the first two in KiB
	threads                                      int
}

// soakMeasures returns the columns that must not grow, with the variation that load can cause.
func soakMeasures() []soakMeasure {
	return []soakMeasure{
		{"resident memory, MiB", 1024, 24 << 10, func(s soakSample) int { return s.resident }},
		{"live heap, MiB", 1024, 12 << 10, func(s soakSample) int { return s.live }},
		{"goroutines", 1, 40, func(s soakSample) int { return s.goroutines }},
		{"file descriptors", 1, 30, func(s soakSample) int { return s.files }},
		{"child processes", 1, 12, func(s soakSample) int { return s.processes }},
		{"loaded threads", 1, 12, func(s soakSample) int { return s.threads }},
	}
}

type soakMeasure struct {
	name        string
	unit, slack int
	of          func(soakSample) int
}

func measure(g *apptest.WebSocketClient, h *apptest.Daemon, at time.Duration) soakSample {
	g.T.Helper()
	d := g.Diagnostics()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.Cmd.Process.Pid))
	require.NoError(g.T, err)
	return soakSample{
		seconds: at.Seconds(), resident: int(*d.Memory.ResidentBytes >> 10), live: int(d.Memory.LiveBytes >> 10),
		goroutines: d.Goroutines,
		files:      len(files), processes: len(apptest.WithDescendants(g.T, h.Cmd.Process.Pid)) - 1,
		threads: d.Threads.Loaded,
	}
}

// exceeds reports whether more is in use than before the clients, without pools. Pools have up to
// eight idle connections to the model with two goroutines each, and connections to two databases
// with three files each.
func (s soakSample) exceeds(before soakSample) bool {
	return s.threads > before.threads || s.processes > before.processes || s.goroutines > before.goroutines+24 ||
		s.files > before.files+24
}

// requireFlat compares the last quarter of a run with the second one. Medians may differ by the
// slack plus a quarter.
func requireFlat(t *testing.T, samples []soakSample) {
	t.Helper()
	require.Greater(t, len(samples), 8)
	n := len(samples)
	for _, m := range soakMeasures() {
		early, late := m.median(samples[n/4:n/2]), m.median(samples[n*3/4:])
		require.LessOrEqual(t, late, early*5/4+m.slack, "%s: in the second quarter and in the last", m.name)
		t.Logf("%s: %d, then %d", m.name, early/m.unit, late/m.unit)
	}
}

func (m soakMeasure) median(samples []soakSample) int {
	all := make([]int, len(samples))
	for i, s := range samples {
		all[i] = m.of(s)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// writeSoak writes the samples as a table, and as a diagram with a line for each measure.
func writeSoak(t *testing.T, dir string, samples []soakSample) {
	t.Helper()
	var table strings.Builder
	table.WriteString("seconds")
	for _, m := range soakMeasures() {
		table.WriteString(",\"" + m.name + "\"")
	}
	for _, s := range samples {
		fmt.Fprintf(&table, "\n%.1f", s.seconds)
		for _, m := range soakMeasures() {
			fmt.Fprintf(&table, ",%d", m.of(s)/m.unit)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "soak.csv"), []byte(table.String()+"\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "soak.svg"), []byte(soakPicture(samples)), 0o644))
}

// The sizes of a diagram's panel.
const (
	panelWidth  = 720
	panelHeight = 90
)

func soakPicture(samples []soakSample) string {
	var b strings.Builder
	measures := soakMeasures()
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", panelWidth+40, len(measures)*(panelHeight+30)+20)
	for i, m := range measures {
		m.draw(&b, samples, 20+i*(panelHeight+30))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw draws one panel from 0 to the maximum.
func (m soakMeasure) draw(b *strings.Builder, samples []soakSample, top int) {
	highest, last := 1, samples[len(samples)-1].seconds
	for _, s := range samples {
		highest = max(highest, m.of(s))
	}
	fmt.Fprintf(b, "<text x=\"20\" y=\"%d\">%s: up to %d, over %.0f s</text>\n", top+12, m.name, highest/m.unit, last)
	fmt.Fprintf(b, "<rect x=\"20\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#ccc\"/>\n<polyline fill=\"none\" stroke=\"#1560a8\" points=\"", top+18, panelWidth, panelHeight)
	for _, s := range samples {
		fmt.Fprintf(b, "%.1f,%.1f ", 20+s.seconds/last*panelWidth,
			float64(top+18+panelHeight)-float64(m.of(s))/float64(highest)*panelHeight)
	}
	b.WriteString("\"/>\n")
}
