package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// TestAnySchedule lets three clients do anything to three threads, with effects, slow
// clients, and engines that are closed and begun anew. The checker listens; at the end
// all is healed, everything ends, and memory is what the disk holds.
func TestAnySchedule(t *testing.T) {
	checkSchedules(t, events(requests, decisions, pressure, edits))
}

// TestAnyScheduleOnAFullDisk is the same with a disk that fills and empties.
func TestAnyScheduleOnAFullDisk(t *testing.T) {
	checkSchedules(t, events(requests, requests, decisions, pressure, fullness, edits))
}

// TestAnyScheduleOnABrokenDisk is the same with a disk that fails in worse ways.
func TestAnyScheduleOnABrokenDisk(t *testing.T) {
	checkSchedules(t, events(requests, requests, decisions, fullness, breakage, edits))
}

func checkSchedules(t *testing.T, one *rapid.Generator[event]) {
	sample.Check(t, func(rt *rapid.T) {
		schedule := rapid.SliceOfN(one, 1, 30).Draw(rt, "schedule")
		if problems := play(t, schedule); len(problems) > 0 {
			rt.Fatalf("%s", strings.Join(problems, "\n"))
		}
	})
}

// event is an event and the pause after it. With a negative pause, not even its consequences happen
// before the next event.
type event struct {
	what   string
	words  string
	thread int
	item   int
	conn   uint64
	pause  time.Duration
}

var (
	requests = []string{"start", "resume", "read", "name", "turn", "turn", "turn", "steer", "interrupt",
		"interrupt a turn", "unsubscribe", "list", "loaded list",
		"archive", "unarchive", "unarchive", "archive and new"}
	decisions = []string{"turn", "accept", "decline", "cancel", "refuse", "repeat"}
	pressure  = []string{"congest", "relieve", "relieve", "close"}
	edits     = []string{"items", "prompt", "exclude", "exclude", "delete", "undo", "restore"}
	fullness  = []string{"full", "heal"}
	breakage  = []string{"no sync", "gone", "heal"}
	inputs    = rapid.SampledFrom([]string{"say x", "fail", "panic", "hang", "linger", "ignore", "flood",
		"run touch a", "run cat b", "run panic", "run hang", "run linger", "run ignore", "run flood"})
	pauses = rapid.SampledFrom([]time.Duration{-1, -1, 0, 0, time.Millisecond, time.Second, 2 * grace})
)

func events(groups ...[]string) *rapid.Generator[event] {
	var whats []string
	for _, g := range groups {
		whats = append(whats, g...)
	}
	return rapid.Custom(func(t *rapid.T) event {
		e := event{what: rapid.SampledFrom(whats).Draw(t, "what"), thread: rapid.IntRange(0, 2).Draw(t, "thread"),
			item: rapid.IntRange(0, 30).Draw(t, "item"),
			conn: rapid.Uint64Range(1, 3).Draw(t, "client"), pause: pauses.Draw(t, "pause")}
		if e.what == "turn" || e.what == "steer" {
			e.words = inputs.Draw(t, "words")
		}
		return e
	})
}

// play runs a schedule in a bubble and gives what was wrong.
func play(t *testing.T, schedule []event) (problems []string) {
	synctest.Test(t, func(t *testing.T) {
		mem := faultfs.NewMem(home)
		p := &player{rig: newRig(t, mem, mem)}
		defer p.release()
		p.setup.policy = protocol.ApprovalUntrusted
		p.threads = []string{p.stored("say a"), p.begin(1), p.begin(2)}
		p.fault = p.disk.fail(nil)
		for _, e := range schedule {
			p.do(e)
		}
		problems = append(p.finish(), p.checker.problems()...)
	})
	return problems
}

type player struct {
	*rig
	threads []string
	fault   *fault
	names   int
}

func (p *player) do(e event) {
	thread := p.threads[e.thread]
	switch e.what {
	case "accept", "decline", "cancel", "refuse", "repeat":
		p.decide(e)
	case "congest":
		p.clients.congest(e.conn)
	case "relieve":
		p.clients.relieve(e.conn)
	case "close":
		p.leave()
		p.restart()
	case "full":
		p.fail(errFull, writes...)
	case "no sync":
		p.fail(syscall.EIO, faultfs.OpSync)
	case "gone":
		p.fail(syscall.EIO, everything...)
	case "heal":
		p.fault.heal()
	default:
		p.post(e.conn, p.call(e, thread))
	}
	if e.pause >= 0 {
		synctest.Wait()
		time.Sleep(e.pause)
	}
}

func (p *player) fail(err error, ops ...faultfs.Op) {
	p.fault.heal()
	p.fault = p.disk.fail(err, ops...)
}

func (p *player) call(e event, thread string) call {
	lastTurn := ""
	for _, m := range p.clients.notices(e.conn, "turn/started") {
		lastTurn = m.body.Get("turn.id").Str
	}
	switch e.what {
	case "start":
		return start()
	case "resume":
		return resume(thread)
	case "read":
		return read(thread)
	case "name":
		p.names++
		return setName(thread, fmt.Sprint(p.names))
	case "turn":
		return turn(thread, e.words)
	case "steer":
		return steer(thread, lastTurn, e.words)
	case "interrupt":
		return interrupt(thread, "")
	case "interrupt a turn":
		return interrupt("", lastTurn)
	case "unsubscribe":
		return unsubscribe(thread)
	case "archive":
		return archive(thread)
	case "unarchive":
		return unarchive(thread)
	case "archive and new":
		return archiveAndNew(thread, nil)
	case "list":
		return list(protocol.ThreadListParams{})
	case "items", "prompt", "exclude", "delete", "undo", "restore":
		return p.edit(e, thread)
	}
	return loadedList(protocol.ThreadLoadedListParams{})
}

func (p *player) edit(e event, thread string) call {
	id := fmt.Sprintf("r%d", e.item)
	switch e.what {
	case "items":
		return getItems(thread)
	case "prompt":
		return getPrompt(thread)
	case "exclude":
		return exclude(thread, id)
	case "delete":
		return remove(thread, id)
	case "undo":
		return undo(thread)
	}
	return restore(thread)
}

// decide answers the client's oldest open question, or repeats an answer to one that
// it has answered.
func (p *player) decide(e event) {
	open := p.clients.open(e.conn)
	if e.what == "repeat" {
		open = p.clients.all(e.conn, func(m message) bool { return m.kind == serverRequest })
	}
	switch {
	case len(open) == 0:
	case e.what == "refuse":
		go open[0].answer(nil, errors.New("method not found"))
	case e.what == "repeat":
		go open[0].answer(decision("accept"), nil)
	default:
		go open[0].answer(decision(e.what), nil)
	}
}

// finish ends everything and gives what is wrong then.
func (p *player) finish() (problems []string) {
	p.fault.heal()
	for conn := range uint64(4) {
		p.clients.relieve(conn)
	}
	synctest.Wait()
	for _, thread := range p.threads {
		p.post(1, interrupt(thread, ""))
		time.Sleep(2 * grace)
		p.post(1, interrupt(thread, "")) // input that waited has begun a turn
	}
	time.Sleep(2 * grace)
	for _, thread := range p.threads {
		p.post(1, setName(thread, "last")) // what could not be cut off is, before it
		if d := p.difference(thread); d != "" {
			problems = append(problems, d)
		}
	}
	return append(problems, p.leave()...)
}

// leave closes the engine, with all clients reading.
func (p *player) leave() (problems []string) {
	for conn := range uint64(4) {
		p.clients.relieve(conn)
	}
	if err := p.close(time.Minute); err != nil {
		problems = append(problems, err.Error())
	}
	p.checker.ended()
	p.checker.checkDurable(p.mem, "the disk")
	p.checker.checkDurable(worstCrash(p.mem), "a crash")
	if held := p.mem.Held(); len(held) > 0 {
		problems = append(problems, fmt.Sprintf("locked after the end: %v", held))
	}
	return problems
}
