package core_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"appserver/core"
	"appserver/core/pure/compaction"
	"appserver/protocol"
)

// machine runs a thread like the engine: it stores the lines and the running effects. Its clock and
// ids are readable in the output. A checker checks all messages.
type machine struct {
	thread   *core.Thread
	options  core.Options
	settings core.Settings
	world    core.TurnEnv
	now      time.Time
	pace     time.Duration // how far the clock goes on at the next input
	ids      int
	requests uint64
	callers  uint64
	lines    []protocol.RolloutLine
	running  []core.Effect // those whose terminal input has not come, oldest first
	older    *string       // where the page of the timeline goes on that was read last
	draft    string        // the last one of a compaction
	full     bool          // the disk takes no lines
	lost     int           // how many lines the disk did not take in the last step
	checker  *checker
}

const threadID = "t-1"

func newMachine(report func(format string, args ...any)) *machine {
	m := &machine{
		now:  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		pace: time.Second,
		settings: core.Settings{
			Model: "model-1", Provider: "mock", Cwd: "/repo",
			ApprovalPolicy: protocol.AskForApproval{Mode: protocol.ApprovalNever},
			Reviewer:       protocol.ReviewerUser, Sandbox: protocol.SandboxDangerFullAccess.Policy(), Summary: "auto",
		},
		world: core.TurnEnv{
			Shell: "/bin/bash", Date: "2026-01-02", Timezone: "Etc/UTC", ConfinesReading: true,
			Provider: core.ProviderInfo{RequestMaxRetries: 2, StreamMaxRetries: 2, ContextWindow: new(int64(100_000))},
			Compaction: compaction.Rules{Strategy: protocol.CompactSummary, Limit: 90_000, Target: 70_000, KeepTurns: 5,
				UserTokens: 20_000},
		},
	}
	m.checker = newChecker(report)
	m.load()
	return m
}

// start returns the first input of a new thread.
func (m *machine) start(historyMode string) core.Start {
	return core.Start{
		To: m.caller(), Settings: m.settings, Options: m.options, Env: m.world,
		Meta: protocol.SessionMeta{
			ID: threadID, Timestamp: protocol.Timestamp(m.now), Cwd: m.settings.Cwd, Originator: "test", CliVersion: "1.0.0",
			ModelProvider: m.settings.Provider, HistoryMode: historyMode,
		},
	}
}

// load makes the thread of all lines so far, as after a crash: effects, and callers
// who waited for an answer, are gone.
func (m *machine) load() {
	m.running = nil
	m.thread = core.Load(threadID, m.options, m.settings, m.lines)
	m.checker.restarted(m.lines)
	if m.checker.context != nil {
		m.checker.context.restarted(m)
	}
}

func (m *machine) caller() protocol.Caller {
	m.callers++
	return protocol.Caller{Conn: 1, Request: m.callers}
}

// advance sets the time that passes before the next input.
func (m *machine) advance(d time.Duration) { m.pace = d }

func (m *machine) stamp() core.Stamp {
	m.now = m.now.Add(m.pace)
	m.pace = time.Second
	return core.Stamp{
		Now:         m.now,
		NewID:       func() string { m.ids++; return fmt.Sprintf("id-%d", m.ids) },
		NextRequest: func() uint64 { m.requests++; return m.requests - 1 },
	}
}

// take runs an input and returns its output.
func (m *machine) take(in core.Input) core.Output {
	m.lost = 0
	before := core.StorageFailed{Err: errDiskFull, Requests: m.thread.OpenRequests(), Turn: m.thread.ActiveTurn(),
		WaitingEdits: m.thread.HasWaitingEdits(),
		Settings:     m.thread.Settings()}
	m.running = slices.DeleteFunc(m.running, func(e core.Effect) bool { return ends(in, e) })
	out := m.thread.Step(m.stamp(), in)
	if m.full && len(out.Lines) > 0 {
		return m.lose(in, out, before)
	}
	m.lines = append(m.lines, out.Lines...)
	if first := len(m.lines) - len(out.Lines); len(out.Lines) > 0 && m.thread.Lines() == len(m.lines) {
		m.thread.Evict(machineDisk{m}, first, func(line int) bool { return line%3 > 0 })
	}
	for _, e := range out.Effects {
		if effectID(e) != 0 {
			m.running = append(m.running, e)
		}
	}
	m.noteDraft(out)
	m.checker.check(m, in, out)
	return out
}

// machineDisk are the lines of a machine.
type machineDisk struct{ *machine }

// Payload returns the payload of a line.
func (d machineDisk) Payload(n int) json.RawMessage { return bytes.Clone(d.lines[n].Payload) }

func (m *machine) noteDraft(out core.Output) {
	for _, message := range out.Messages {
		if reply, ok := message.(core.Reply); ok {
			if draft, ok := reply.Result.(protocol.ThreadCompactProposeResponse); ok {
				m.draft = draft.DraftID
			}
		}
	}
}

var errDiskFull = errors.New("no space left on device")

// lose simulates a failed append: it sends no message of the step, rejects its callers, and loads the
// thread again with the open requests of the client.
func (m *machine) lose(in core.Input, out core.Output, before core.StorageFailed) core.Output {
	m.checker.refused(in, out, m.thread.OpenCallers())
	m.running = nil
	m.thread = m.thread.Again(loadAgain(m.thread.Settings(), m.lines), 0)
	m.pace = 0
	said := m.take(before)
	m.lost = len(out.Lines)
	return said
}

// last returns the youngest effect of a type under way, 0 without one.
func last[E core.Effect](m *machine) core.EffectID {
	for _, e := range slices.Backward(m.running) {
		if _, ok := e.(E); ok {
			return effectID(e)
		}
	}
	return 0
}

// first returns the oldest effect of a type under way, 0 without one.
func first[E core.Effect](m *machine) core.EffectID {
	for _, e := range m.running {
		if _, ok := e.(E); ok {
			return effectID(e)
		}
	}
	return 0
}

// effectID returns the id of an effect that ends with a terminal input, 0 for others.
func effectID(e core.Effect) core.EffectID {
	switch e := e.(type) {
	case core.ModelRequest:
		return e.ID
	case core.RunTool:
		return e.ID
	case core.PlanPatch:
		return e.ID
	case core.WritePatch:
		return e.ID
	case core.CallTool:
		return e.ID
	case core.AwaitTools:
		return e.ID
	case core.CaptureTree:
		return e.ID
	case core.ReadImage:
		return e.ID
	case core.WriteStdin:
		return e.ID
	case core.Recall:
		return e.ID
	case core.Remember:
		return e.ID
	case core.Timer:
		return e.ID
	}
	return 0
}

// ends reports whether an input is the terminal input of an effect.
func ends(in core.Input, e core.Effect) bool {
	switch e := e.(type) {
	case core.ModelRequest:
		done, isDone := in.(core.ModelDone)
		failed, isFailed := in.(core.ModelFailed)
		return isDone && done.Effect == e.ID || isFailed && failed.Effect == e.ID
	case core.RunTool:
		done, isDone := in.(core.ToolDone)
		return isDone && done.Effect == e.ID
	case core.PlanPatch:
		planned, isPlanned := in.(core.PatchPlanned)
		return isPlanned && planned.Effect == e.ID
	case core.WritePatch:
		written, isWritten := in.(core.PatchWritten)
		return isWritten && written.Effect == e.ID
	case core.CallTool:
		called, isCalled := in.(core.ToolCalled)
		return isCalled && called.Effect == e.ID
	case core.AwaitTools:
		known, isKnown := in.(core.ToolsKnown)
		return isKnown && known.Effect == e.ID
	case core.CaptureTree:
		captured, isCaptured := in.(core.TreeCaptured)
		return isCaptured && captured.Effect == e.ID
	case core.ReadImage:
		read, isRead := in.(core.ImageRead)
		return isRead && read.Effect == e.ID
	case core.WriteStdin:
		typed, isTyped := in.(core.StdinWritten)
		return isTyped && typed.Effect == e.ID
	case core.Recall:
		recalled, isRecalled := in.(core.Recalled)
		return isRecalled && recalled.Effect == e.ID
	case core.Remember:
		remembered, isRemembered := in.(core.Remembered)
		return isRemembered && remembered.Effect == e.ID
	case core.Timer:
		fired, isFired := in.(core.TimerFired)
		return isFired && fired.Effect == e.ID
	}
	return false
}

// callerOf returns the caller of the input.
func callerOf(in core.Input) protocol.Caller {
	if to := reflect.ValueOf(in).FieldByName("To"); to.IsValid() {
		return to.Interface().(protocol.Caller)
	}
	return protocol.Caller{}
}
