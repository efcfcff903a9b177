package core

import (
	"io"

	"appserver/core/pure/lineref"
	"appserver/core/pure/state"
	"appserver/protocol"
)

// Load returns the thread of a rollout. Without lines it is a new thread, whose first input must be
// Start. Load skips lines that it cannot read. The defaults apply to settings that no line has.
func Load(id string, o Options, defaults Settings, lines []protocol.RolloutLine) *Thread {
	l := BeginLoad(id, defaults, nil)
	for i := range lines {
		l.Apply(&lines[i])
	}
	return l.Thread(o)
}

// Loading is a thread whose lines are being applied.
type Loading struct {
	state    *state.State
	defaults Settings
	// isFork is set if the lines are those of the fork's origin.
	isFork bool
}

// BeginLoad starts a load. If lines is not nil, payloads can be read again from it, and the thread
// keeps no more in memory than it needs.
func BeginLoad(id string, defaults Settings, lines lineref.Lines) *Loading {
	return &Loading{state: state.New(id, defaults, lines), defaults: defaults}
}

// ContinueLoad starts a load from a snapshot. The next line is the first one after it. It returns
// false if the snapshot cannot be used.
func ContinueLoad(defaults Settings, lines lineref.Lines, from []byte) (*Loading, bool) {
	s, ok := state.ReadSnapshot(from, defaults, lines)
	return &Loading{state: s, defaults: defaults}, ok
}

// Apply applies the next line.
func (l *Loading) Apply(line *protocol.RolloutLine) {
	if l.isFork && !ForkHas(line) {
		line = &protocol.RolloutLine{Ordinal: line.Ordinal}
	}
	l.state.Apply(line)
}

// ForkHas reports whether a fork has a line of its origin. It has another first line, no backup, and no request
// of the other thread.
func ForkHas(line *protocol.RolloutLine) bool {
	switch line.Type {
	case protocol.LineSessionMeta, protocol.LineContextBackup, protocol.LineTurnWaiting:
		return false
	}
	return true
}

// Lines returns the number of lines that were applied, those before a snapshot included.
func (l *Loading) Lines() int { return l.state.Lines() }

// Snapshot writes the state after the lines that were applied so far, for ContinueLoad. All payloads
// must be readable again.
func (l *Loading) Snapshot(to io.Writer) error { return l.state.WriteSnapshot(to, l.defaults) }

// Thread returns the thread after all lines are applied. The Loading must not be used afterwards.
func (l *Loading) Thread(o Options) *Thread {
	t := &Thread{state: l.state, context: &l.state.Context, transcript: &l.state.Transcript,
		builtInTools: builtInTools()}
	t.setOptions(o)
	t.state.FinishLoad(o.Next, o.Name, o.NamedAt)
	if o.Capabilities != nil {
		t.capabilities = o.Capabilities(t.state.Settings.Provider, t.state.Settings.Model)
	}
	t.applyEnv(TurnEnv{Capabilities: t.capabilities, Memory: o.Memory, Economy: o.Economy})
	t.context.MarkAnnounced()
	return t
}

// Again returns the thread as its rollout has it, after lines could not be appended. Its first input
// must be StorageFailed.
func (t *Thread) Again(l *Loading, next int64) *Thread {
	t.options.Next = next
	again := l.Thread(t.options)
	again.allowed, again.warned, again.untracked, again.announcedEnd, again.lastEffect = t.allowed, t.warned, t.untracked,
		t.announcedEnd, t.lastEffect
	again.base, again.developer, again.capabilities, again.serverTools, again.questions = t.base, t.developer,
		t.capabilities, t.serverTools, t.questions
	again.memory, again.memoryWarned, again.warnedOf = t.memory, t.memoryWarned, t.warnedOf
	again.economizes = t.economizes
	again.context.SetResponses(t.capabilities.Responses)
	again.context.ChooseForms()
	again.context.MarkStale()
	return again
}

// Lines returns the number of lines that the thread was made of.
func (t *Thread) Lines() int { return t.state.Lines() }

// Evict removes the payloads of the last lines, from the first on, from memory. See [state.State.Evict].
func (t *Thread) Evict(lines lineref.Lines, first int, worth func(line int) bool) {
	t.state.Evict(lines, first, worth)
}
