package economy

import (
	"fmt"
	"io"
	"strings"
)

// saved returns by how many percent b is less than a.
func saved(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return 100 * (a - b) / a
}

func (m *result) tokensSaved() float64 { return saved(float64(m.off.sent), float64(m.auto.sent)) }

// priceSaved returns by how many percent auto is cheaper, with the ratio for which it decided.
func (m *result) priceSaved(ratio float64) float64 {
	auto := m.auto
	if ratio == autoHalf.ratio {
		auto = m.half
	}
	return saved(m.off.price(ratio), auto.price(ratio))
}

func share(c counted) string {
	if c.all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d", c.kept, c.all)
}

// thousands returns a number in thousands.
func thousands(n int64) string { return fmt.Sprintf("%dk", (n+500)/1000) }

const tableHead = "| session | turns | requests | edits | sent, off | sent, auto | saved | uncached, off | uncached, auto " +
	"| price at 0.1 | price at 0.5 | read again, off/auto | facts | rules | recall@3 |\n" +
	"| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"

func (m *result) row() string {
	facts, rules := together(m.local.span), m.local.span[constraint]
	return "| " + strings.Join([]string{
		m.name, fmt.Sprint(len(m.session.turns)), fmt.Sprint(m.auto.requests), fmt.Sprint(m.edits),
		thousands(m.off.sent), thousands(m.auto.sent),
		fmt.Sprintf("%.1f %%", m.tokensSaved()), thousands(m.off.uncached()), thousands(m.auto.uncached()),
		fmt.Sprintf("%+.1f %%", -m.priceSaved(0.1)), fmt.Sprintf("%+.1f %%", -m.priceSaved(0.5)),
		fmt.Sprintf("%d/%d", m.againOff, m.again), share(facts), share(rules), share(m.recall),
	}, " | ") + " |\n"
}

// totals are the sums over sessions.
type totals struct {
	sessions                        int
	off, auto, half, turns, quarter usage
	// worst is the least saving of a session in price, at either ratio. The others are the ones of masking, at 0.1.
	worst, worstTurns, worstQuarter float64
	local, small, model             [factKinds]counted
	localSoFar, smallSoFar          [factKinds]counted
	compactions                     [3]int
	recall                          counted
}

func sum(results []result) (t totals) {
	t.worst, t.worstTurns, t.worstQuarter = 100, 100, 100
	for i := range results {
		m := &results[i]
		t.sessions++
		for _, pair := range []struct{ to, of *usage }{{&t.off, &m.off}, {&t.auto, &m.auto}, {&t.half, &m.half},
			{&t.turns, &m.turns}, {&t.quarter, &m.quarter}} {
			pair.to.add(*pair.of)
		}
		t.worst = min(t.worst, m.priceSaved(0.1), m.priceSaved(0.5))
		t.worstTurns = min(t.worstTurns, saved(m.off.price(0.1), m.turns.price(0.1)))
		t.worstQuarter = min(t.worstQuarter, saved(m.off.price(0.1), m.quarter.price(0.1)))
		for kind := range factKinds {
			t.local[kind].add(m.local.span[kind])
			t.small[kind].add(m.small.span[kind])
			t.model[kind].add(m.model.span[kind])
			t.localSoFar[kind].add(m.local.soFar[kind])
			t.smallSoFar[kind].add(m.small.soFar[kind])
		}
		for i, a := range []*audit{&m.local, &m.small, &m.model} {
			t.compactions[i] += a.compactions
		}
		t.recall.add(m.recall)
	}
	return t
}

// print prints the sums.
func (t *totals) print(w io.Writer) {
	fmt.Fprintf(w, "\n| strategy | requests | sent | uncached | fewer tokens | price at 0.1 | price at 0.5 | worst session at 0.1 |\n"+
		"| --- | --: | --: | --: | --: | --: | --: | --: |\n")
	row := func(name string, u usage, worst string) {
		fmt.Fprintf(w, "| %s | %d | %s | %s | %.1f %% | %+.1f %% | %+.1f %% | %s |\n", name, u.requests, thousands(u.sent),
			thousands(u.uncached()), saved(float64(t.off.sent), float64(u.sent)), -saved(t.off.price(0.1), u.price(0.1)),
			-saved(t.off.price(0.5), u.price(0.5)), worst)
	}
	row(off.name, t.off, "–")
	row(autoTenth.name, t.auto, fmt.Sprintf("%+.1f %% (either ratio)", -t.worst))
	row(autoHalf.name, t.half, "")
	row(maskTurns.name, t.turns, fmt.Sprintf("%+.1f %%", -t.worstTurns))
	row(maskQuarter.name, t.quarter, fmt.Sprintf("%+.1f %%", -t.worstQuarter))
	fmt.Fprintf(w, "\n| summaries | compactions |")
	for kind := range factKinds {
		fmt.Fprintf(w, " %s |", kind)
	}
	fmt.Fprintf(w, "\n| --- | --: | --: | --: | --: | --: | --: |\n")
	facts := func(name string, n int, of [factKinds]counted) {
		fmt.Fprintf(w, "| %s | %d |", name, n)
		for kind := range factKinds {
			fmt.Fprintf(w, " %s (%.1f %%) |", share(of[kind]), of[kind].percent())
		}
		fmt.Fprintln(w)
	}
	facts("extract, of each span", t.compactions[0], t.local)
	facts("extract, of all so far", t.compactions[0], t.localSoFar)
	facts("16k, of each span", t.compactions[1], t.small)
	facts("16k, of all so far", t.compactions[1], t.smallSoFar)
	facts("model that omits, of each span", t.compactions[2], t.model)
}

// together returns the facts of all kinds but rules and failures that were solved.
func together(of [factKinds]counted) (c counted) {
	for kind, k := range of {
		if k2 := factKind(kind); k2 != constraint && k2 != failureSolved {
			c.add(k)
		}
	}
	return c
}

// goal is a figure that the benchmark compares with a limit.
type goal struct {
	name          string
	reached, want float64
}

func (t *totals) goals(short *totals) []goal {
	rules := counted{}
	for _, of := range [][factKinds]counted{t.local, t.small, t.model} {
		rules.add(of[constraint])
	}
	return []goal{
		{"fewer tokens sent, percent", saved(float64(t.off.sent), float64(t.auto.sent)), 45},
		{"lower net price at 0.1, percent", saved(t.off.price(0.1), t.auto.price(0.1)), 25},
		{"lower net price of the worst session, percent", min(t.worst, short.worst), -1},
		{"facts kept, percent", together(t.local).percent(), 97},
		{"facts kept with 16k, percent", together(t.small).percent(), 90},
		{"rules kept, percent", rules.percent(), 100},
		{"recall@3, percent", t.recall.percent(), 95},
	}
}

func (g *goal) String() string {
	state := "ok"
	if g.reached < g.want {
		state = "missed"
	}
	return fmt.Sprintf("%-6s %s: %.1f (goal %.0f)", state, g.name, g.reached, g.want)
}
