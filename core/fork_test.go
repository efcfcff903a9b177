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
	at, refusal := m.thread.ForkAt(a.option("last"), a.option("before"))
	if refusal != nil {
		fmt.Fprintf(b, "refused: %s %s\n", refusal.Data.Kind, refusal.Message)
		return nil
	}
	lines, err := core.ForkLines(numbered(m.lines), at, m.thread.ForkMeta(threadID, m.now))
	if err != nil {
		return err
	}
	in := core.Fork{To: m.caller(), Env: m.world, Options: m.options, Name: m.thread.Name(),
		ExcludeTurns: a.has("exclude")}
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
