package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// TestAnyEdits draws turns, edits and restarts of the engine, on a disk that fills, fails and crashes.
// A simple model of the responses knows the excluded items: no client and no model request ever has
// them.
func TestAnyEdits(t *testing.T) {
	sample.Check(t, func(rt *rapid.T) {
		deeds := rapid.SliceOfN(rapid.Custom(drawDeed), 1, 25).Draw(rt, "deeds")
		if problems := carryOut(t, deeds); len(problems) > 0 {
			rt.Fatalf("%s", strings.Join(problems, "\n"))
		}
	})
}

// deed is something that the client does, or that happens, to the item with a number.
type deed struct {
	what   string
	number int
	stored bool // the thread is not loaded
}

func drawDeed(t *rapid.T) deed {
	return deed{
		what: rapid.SampledFrom([]string{"say", "say", "run", "exclude", "exclude", "exclude", "include", "delete", "undo",
			"undo", "redo",
			"restore", "leave", "leave", "crash", "full", "no sync", "heal", "heal"}).Draw(t, "what"),
		number: rapid.IntRange(0, 30).Draw(t, "number"),
		stored: rapid.IntRange(0, 5).Draw(t, "stored") == 0,
	}
}

// fates are the items that are out: "excluded", "deleted".
type fates map[string]string

// editor is a client with a naive model of a context.
type editor struct {
	*rig
	thread   string
	problems []string
	fault    *fault
	words    int
	// known are the items that the client was shown when nothing was amiss.
	known []gjson.Result
	// past are the fates after each edit that was answered and not undone, and after
	// those behind now, which are undone.
	past []fates
	now  int
	// maybe are the fates after edits that were refused: a crash may keep their lines.
	maybe []fates
}

func carryOut(t *testing.T, deeds []deed) (problems []string) {
	synctest.Test(t, func(t *testing.T) {
		mem := faultfs.NewMem(home)
		e := &editor{rig: newRig(t, mem, mem), past: []fates{{}}}
		rigs := []*rig{e.rig}
		defer func() {
			for _, r := range rigs {
				r.release()
			}
		}()
		e.thread = e.begin(1)
		e.fault = e.disk.fail(nil)
		for _, d := range append(deeds, deed{what: "heal"}, deed{what: "leave"}, deed{what: "say"}) {
			e.carryOut(d)
			if e.rig != rigs[len(rigs)-1] {
				rigs = append(rigs, e.rig)
			}
		}
		for _, r := range rigs {
			problems = append(problems, r.checker.problems()...)
		}
		if d := e.difference(e.thread); d != "" {
			e.report("%s", d)
		}
		problems = append(problems, e.problems...)
	})
	return problems
}

func (e *editor) report(format string, args ...any) {
	e.problems = append(e.problems, fmt.Sprintf(format, args...))
}

func (e *editor) carryOut(d deed) {
	if d.stored {
		e.end()
	}
	switch d.what {
	case "say", "run":
		e.load()
		e.talk(d.what)
	case "leave":
		e.end()
		e.load()
	case "crash":
		e.crash(d.number)
	case "full":
		e.spoil(errFull, writes...)
	case "no sync":
		e.spoil(syscall.EIO, faultfs.OpSync)
	case "heal":
		e.fault.heal()
	default:
		e.edit(d)
	}
	e.look()
}

func (e *editor) spoil(err error, ops ...faultfs.Op) {
	e.fault.heal()
	e.fault = e.disk.fail(err, ops...)
}

// end ends the engine, and begins a new one.
func (e *editor) end() {
	if err := e.close(time.Minute); err != nil {
		e.report("%v", err)
	}
	if held := e.mem.Held(); len(held) > 0 {
		e.report("locked after the end: %v", held)
	}
	if wrong := wrongWith(e.mem, e.thread); wrong != "" {
		e.report("%s", wrong)
	}
	e.restart()
}

// load resumes the thread, on a healed disk if need be.
func (e *editor) load() {
	if e.serve(resume(e.thread)) == nil {
		e.fault.heal()
		if e.serve(resume(e.thread)) == nil {
			e.report("the thread cannot be resumed")
		}
	}
}

// serve returns the response to a request, or nil if the disk failed it.
func (e *editor) serve(c call) *gjson.Result {
	got := e.clients.answersTo(e.post(1, c))
	switch {
	case len(got) != 1:
		e.report("%s has %d answers", c.method, len(got))
	case got[0].err == nil:
		return &got[0].body
	case !slices.Contains([]protocol.Kind{protocol.KindStorage, protocol.KindRolloutUnreadable, protocol.KindNothingToUndo,
		protocol.KindNothingToRedo}, got[0].err.Data.Kind):
		e.report("%s is refused: %s", c.method, got[0].err.Message)
	}
	return nil
}

// talk runs a turn. Its prompt must have the texts of in, and none of out.
func (e *editor) talk(word string) {
	e.words++
	words := fmt.Sprintf("%s touch w%d.", word, e.words)
	asked := len(e.agent.asked())
	served := e.serve(turn(e.thread, words))
	prompts := e.agent.asked()
	for _, p := range prompts[asked:] {
		e.checkPrompt(encode(p.Items))
	}
	if ends := e.ends(1); served != nil && ends[len(ends)-1] == "completed" {
		e.learn()
	}
}

func (e *editor) checkPrompt(prompt string) {
	for _, item := range e.known {
		text := item.Get("preview").Str
		_, number, found := strings.Cut(strings.TrimRight(text, `."}`), "touch w")
		isOutput := item.Get("category").Str == string(protocol.CategoryToolOutput) // its preview names its call
		if !found || isOutput {                                                     // commands without a number are equal
			continue
		}
		mark := `"text":"` + text + `"`
		if item.Get("category").Str == string(protocol.CategoryToolCall) {
			mark = "touch w" + number + `.\"`
		}
		if in := strings.Contains(prompt, mark); in && e.fates()[item.Get("id").Str] != "" {
			e.report("the agent is sent %s, which is %s", mark, e.fates()[item.Get("id").Str])
		} else if !in && e.fates()[item.Get("id").Str] == "" {
			e.report("the agent is not sent %s", mark)
		}
	}
}

func (e *editor) fates() fates { return e.past[e.now] }

// edit makes an edit, in the model if it was answered.
func (e *editor) edit(d deed) {
	next, c := maps.Clone(e.fates()), restore(e.thread)
	var id string
	if len(e.known) > 0 {
		id = e.known[d.number%len(e.known)].Get("id").Str
	}
	switch d.what {
	case "exclude":
		c = exclude(e.thread, id)
		if next[id] == "" && id != "" {
			next[id] = "excluded"
		}
	case "include":
		c = include(e.thread, id)
		delete(next, id)
	case "delete":
		if id == "" || e.known[d.number%len(e.known)].Get("category").Str == "toolCall" {
			return
		}
		c = remove(e.thread, id)
		next[id] = "deleted"
	case "undo":
		e.step(undo(e.thread), e.now-1)
		return
	case "redo":
		e.step(redo(e.thread), e.now+1)
		return
	case "restore":
		next = fates{}
	}
	got := e.serve(c)
	switch {
	case got == nil:
		e.maybe = append(e.maybe, next)
	case got.Get("changed").Int()+got.Get("removed").Int()+got.Get("restored").Int() > 0:
		e.past, e.now, e.maybe = append(e.past[:e.now+1:e.now+1], next), e.now+1, nil
	}
}

// step undoes or redoes.
func (e *editor) step(c call, to int) {
	if got := e.serve(c); got != nil {
		e.now, e.maybe = to, nil
	} else if to >= 0 && to < len(e.past) {
		e.maybe = append(e.maybe, e.past[to])
	}
}

// crash returns another machine with the files that a crash leaves.
func (e *editor) crash(seed int) {
	mem := e.mem.CrashClone(rand.New(rand.NewPCG(uint64(seed), 4)))
	e.rig = newRig(e.t, mem, mem)
	e.fault = e.disk.fail(nil)
	if wrong := wrongWith(mem, e.thread); wrong != "" {
		e.report("after a crash: %s", wrong)
	}
	e.load()
}

// look compares what the client is shown with the model.
func (e *editor) look() {
	got := e.serve(getItems(e.thread))
	if got == nil {
		return
	}
	shown := map[string]bool{}
	for _, item := range got.Get("items").Array() {
		shown[item.Get("id").Str] = item.Get("included").Bool()
	}
	wrong := e.compare(shown, e.fates())
	for _, f := range e.maybe {
		if wrong != "" && e.compare(shown, f) == "" {
			wrong, e.maybe = "", nil
			e.past, e.now = append(e.past[:e.now+1:e.now+1], f), e.now+1
		}
	}
	if wrong != "" {
		e.report("%s", wrong)
	}
}

func (e *editor) compare(shown map[string]bool, f fates) string {
	for _, item := range e.known {
		id := item.Get("id").Str
		included, listed := shown[id]
		if want := f[id]; listed == (want == "deleted") || listed && included == (want == "excluded") {
			return fmt.Sprintf("%s is %q, and shown %v, included %v", id, want, listed, included)
		}
	}
	return ""
}

// learn adds new items to the model. Listed items are included except for edits.
func (e *editor) learn() {
	known := map[string]bool{}
	for _, item := range e.known {
		known[item.Get("id").Str] = true
	}
	for _, item := range e.items(e.thread) {
		if !known[item.Get("id").Str] {
			e.known = append(e.known, item)
			if !item.Get("included").Bool() {
				e.report("a new item is excluded: %s", item.Raw)
			}
		}
	}
}
