package core_test

import (
	"fmt"
	"slices"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// fork replaces the machine's thread by a fork.
func fork(m *machine, a arguments, b *strings.Builder) error {
	at, refusal := m.thread.ForkAt(a.option("last"), a.option("before"), a.option("request"))
	if refusal != nil {
		fmt.Fprintf(b, "refused: %s %s\n", refusal.Data.Kind, refusal.Message)
		return nil
	}
	first, err := core.ForkFirst(m.thread.ForkMeta(threadID, m.now))
	if err != nil {
		return err
	}
	lines := []protocol.RolloutLine{first}
	for _, line := range numbered(m.lines) {
		if *line.Ordinal >= at {
			break
		}
		if core.ForkHas(&line) {
			lines = append(lines, line)
		}
	}
	in := core.Fork{To: m.caller(), Env: m.world, Options: m.options, Name: m.thread.Name(),
		ExcludeTurns: a.has("exclude"), AtRequest: a.option("request") != nil}
	m.lines = lines
	m.load()
	in.Settings = m.thread.Settings()
	if v := a.option("model"); v != nil {
		in.Settings.Model = *v
	}
	printOutput(b, m.take(in))
	return nil
}

// numbered adds ordinals to lines, as the rollout does when it reads them.
func numbered(lines []protocol.RolloutLine) []protocol.RolloutLine {
	lines = slices.Clone(lines)
	for i := range lines {
		if lines[i].Ordinal == nil {
			lines[i].Ordinal = new(int64(i))
		}
	}
	return lines
}
