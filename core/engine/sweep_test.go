package engine_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// TestEveryDiskOperationMayFail runs a thread on a disk whose n-th operation fails, for n = 0, 1, 2, …
// until none does. Each failure costs at most one request or one turn, and is reported. Everything
// else is unaffected.
func TestEveryDiskOperationMayFail(t *testing.T) {
	sample.NoRace(t)
	for name, f := range faults() {
		t.Run(name, func(t *testing.T) { sweep(t, f, (*life).run) })
	}
}

// faults returns the ways in which operations fail.
func faults() map[string]faultfs.Fault {
	return map[string]faultfs.Fault{
		"one operation":          {Count: 1, Err: syscall.EIO},
		"one, in part":           {Count: 1, Err: syscall.ENOSPC, Partial: true},
		"two":                    {Count: 2, Err: syscall.EIO},
		"three, in part":         {Count: 3, Err: syscall.ENOSPC, Partial: true},
		"one write":              {Count: 1, Err: syscall.ENOSPC, Partial: true, Only: []faultfs.Op{faultfs.OpWrite}},
		"two writes":             {Count: 2, Err: syscall.ENOSPC, Partial: true, Only: []faultfs.Op{faultfs.OpWrite}},
		"one sync":               {Count: 1, Err: syscall.EIO, Only: []faultfs.Op{faultfs.OpSync, faultfs.OpSyncDir}},
		"sync, and the way back": {Count: 2, Err: syscall.EIO, Only: []faultfs.Op{faultfs.OpSync, faultfs.OpTruncate}},
	}
}

// words returns the messages of each error: the cause and the remedy.
func words() map[error]string {
	return map[error]string{
		syscall.EIO:    "input/output error: the disk reports errors; check it, then try again",
		syscall.ENOSPC: "no space left on device: free space on this disk and try again",
		syscall.EROFS:  "read-only file system: make the disk writable, or set CODEX_HOME to another folder",
		syscall.EMFILE: "too many open files: raise the limit of open files (ulimit -n)",
	}
}

// sweep moves a fault along the life until the life passes, and reports each kind of
// problem once. One operation after the other fails with another error, and the same one with
// another in another sweep. With -short it skips operations.
func sweep(t *testing.T, f faultfs.Fault, run func(*life)) {
	errs := []error{f.Err, syscall.EROFS, syscall.EMFILE}
	found := map[string][]int{}
	step := sample.Stride(13)
	if testing.Short() {
		f.First = f.Count + len(f.Only)
	}
	for hit := true; hit; f.First += step {
		var problems []string
		f.Err = errs[(f.First+f.Count+len(f.Only))%len(errs)]
		problems, hit = runWithFault(t, f, run)
		for _, p := range problems {
			p = threadID.ReplaceAllString(p, "ID")
			found[p] = append(found[p], f.First)
		}
	}
	require.Greater(t, f.First, 10, "operations of the scenario")
	for p, at := range found {
		t.Errorf("%s\n\tfailing operation: %v", p, at[:min(len(at), 10)])
	}
}

// threadID matches an id.
var threadID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// runWithFault runs a scenario with a fault. It returns the violations, and whether an operation
// failed.
func runWithFault(t *testing.T, f faultfs.Fault, run func(*life)) (problems []string, hit bool) {
	synctest.Test(t, func(t *testing.T) {
		mem := faultfs.NewMem(home)
		faulty := faultfs.Wrap(mem, f)
		l := &life{rig: newRig(t, mem, faulty), words: words()[f.Err], broken: f.Err == syscall.EIO}
		defer l.release()
		l.setup.policy = protocol.ApprovalUntrusted
		run(l)
		if l.costs > faulty.Failures() {
			l.report("%d failures cost %d requests or turns", faulty.Failures(), l.costs)
		}
		problems, hit = append(l.problems, l.checker.problems()...), faulty.Failures() > 0
	})
	return problems, hit
}

// life is the scenario of one thread: a start, a turn with a command that the user approves, a
// name, another turn, a resume by another engine, and a third turn.
type life struct {
	*rig
	thread   string
	problems []string
	// words must be in each error.
	words string
	// broken reports whether an error may be about the file itself.
	broken bool
	// costs counts rejected requests and failed turns.
	costs int
	// want is the context items that the client has, with its edits.
	want []wanted
}

func (l *life) report(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

func (l *life) run() {
	l.thread = l.insist(start).Get("thread.id").Str
	l.do("run touch a")
	l.insist(func() call { return setName(l.thread, "n") })
	l.do("say more")
	l.check()
	l.leave()
	l.restart()
	l.insist(func() call { return resume(l.thread) })
	l.do("say again")
	l.check()
	l.leave()
}

// insist repeats a request until it succeeds. It resumes a thread that was unloaded.
func (l *life) insist(c func() call) gjson.Result {
	for range 10 {
		got := l.clients.answersTo(l.post(1, c()))
		if len(got) != 1 {
			l.report("%s has %d responses", c().method, len(got))
			return gjson.Result{}
		}
		if got[0].err == nil {
			return got[0].body
		}
		switch got[0].err.Data.Kind {
		case protocol.KindThreadNotFound:
			l.post(1, resume(l.thread))
			synctest.Wait()
		case protocol.KindStorage, protocol.KindRolloutUnreadable:
			l.costs++
			l.checkMessage(c().method, got[0].err.Message)
			if got[0].err.Data.Kind != protocol.KindStorage && !l.broken {
				l.report("%s has an error of kind %s, but the rollout is intact", c().method, got[0].err.Data.Kind)
			}
		default:
			l.report("%v %s: not the kind of a disk failure", got[0], got[0].err.Message)
			l.costs++
		}
	}
	l.report("%s fails after the disk recovered", c().method)
	return gjson.Result{}
}

// checkMessage checks that an error names the cause and the remedy.
func (l *life) checkMessage(where, message string) {
	what, helps, _ := strings.Cut(l.words, ": ")
	if !strings.Contains(message, what) || !strings.HasSuffix(message, helps) {
		l.report("%s has the message %q, not %q", where, message, l.words)
	}
}

// do runs a turn to its end, which may be a failure.
func (l *life) do(words string) {
	turnID := l.insist(func() call { return turn(l.thread, words) }).Get("turn.id").Str
	for _, q := range l.clients.open(1) {
		q.answer(decision("accept"), nil)
	}
	synctest.Wait()
	ends := slices.DeleteFunc(l.clients.notices(1, "turn/completed"),
		func(m message) bool { return m.body.Get("turn.id").Str != turnID })
	if len(ends) != 1 {
		l.report("%q: turn/completed is sent %d times", words, len(ends))
		return
	}
	if status := ends[0].body.Get("turn.status").Str; status == "failed" {
		l.costs++
		l.checkMessage("turn/completed", ends[0].body.Get("turn.error.message").Str)
	} else if status != "completed" {
		l.report("%q: the turn has the status %s", words, status)
	}
}

// check compares the thread with the disk while no work is in progress.
func (l *life) check() {
	l.insist(func() call { return setName(l.thread, "n") }) // also appends the end of a turn that could not be saved
	if d := l.difference(l.thread); d != "" {
		l.report("%s", d)
	}
	want := `["` + l.thread + `"]`
	if len(l.clients.notices(1, "thread/closed")) > 0 {
		want = "[]"
	}
	got := l.clients.answersTo(l.post(1, loadedList(protocol.ThreadLoadedListParams{})))[0].body.Get("data").Raw
	if got != want && got != `["`+l.thread+`"]` {
		l.report("the loaded threads are %s instead of %s", got, want)
	}
	l.checkDurable()
}

// checkDurable checks that no crash loses a reported fact.
func (l *life) checkDurable() {
	l.checker.checkDurable(l.mem, "the disk")
	l.checker.checkDurable(worstCrash(l.mem), "the worst crash")
	for seed := range uint64(3) {
		l.checker.checkDurable(l.mem.CrashClone(rand.New(rand.NewPCG(seed, 1))), "a crash")
	}
}

// leave closes the engine.
func (l *life) leave() {
	if err := l.close(time.Minute); err != nil {
		l.report("%v", err)
	}
	l.checker.ended()
	l.checkDurable()
	if held := l.mem.Held(); len(held) > 0 {
		l.report("locked after the close: %v", held)
	}
}
