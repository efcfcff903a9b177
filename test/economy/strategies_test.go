package economy

import "testing"

// The strategies that are compared.
var (
	off         = strategy{name: "off"}
	autoTenth   = strategy{name: "auto, 0.1", auto: true, ratio: 0.1}
	autoHalf    = strategy{name: "auto, 0.5", auto: true, ratio: 0.5}
	maskTurns   = strategy{name: "mask each turn", mask: true}
	maskQuarter = strategy{name: "mask where it saves 25 %", mask: true, share: 0.25}
	smallTarget = strategy{name: "summaries of a 16k window", target: 16_000 * 7 / 10}
	byModel     = strategy{name: "model's summaries", summary: true}
)

// result has the measurements of the replays of a session.
type result struct {
	*session
	off, auto, half, turns, quarter usage
	// again are the outputs that the model read again, with off and with auto. edits are the edits of auto.
	againOff, again, edits int
	// local, small and model are the facts kept by compactions: of the extract, of the extract with the room of a
	// 16k window, and of a summary by a model that omits nearly everything.
	local, small, model audit
	recall              counted
}

// measure replays a session with the strategies that are compared.
func measure(t *testing.T, s *session) (m result) {
	m.session = s
	known := newTexts()
	run := func(how strategy) *replay {
		r := newReplay(t, known, s, how)
		r.run()
		return r
	}
	plain := run(off)
	m.off, m.againOff, m.local = plain.usage, plain.again, plain.audit
	tenth := run(autoTenth)
	m.auto, m.again, m.edits = tenth.usage, tenth.again, tenth.edits
	m.recall = tenth.recall()
	m.half = run(autoHalf).usage
	m.turns, m.quarter = run(maskTurns).usage, run(maskQuarter).usage
	m.small, m.model = run(smallTarget).audit, run(byModel).audit
	return m
}
