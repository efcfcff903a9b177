package fleet

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// markIn finds the mark in a command.
var markIn = regexp.MustCompile(`mark\d+x`)

// begin loads a thread and begins a turn in it. It returns the turn, or "".
func (w *soaker) begin(th *soakThread, mark, text string) (turn string, got outcome) {
	if got := w.resume(th); got != done {
		return "", got
	}
	return w.send(th, mark, text)
}

// send begins a turn, or adds the input to the active one.
func (w *soaker) send(th *soakThread, mark, text string) (turn string, got outcome) {
	got = w.request(th, "turn/start", apptest.Object{"input": apptest.TextInput(text)}, func(r gjson.Result) {
		turn = r.Get("turn.id").Str
		th.AddInput(mark, turn)
	})
	return turn, got
}

// await waits for the end of a turn. It interrupts one that another client has left, with a long command or
// an unanswered request.
func (w *soaker) await(th *soakThread, turn string) (status string) {
	if turn == "" {
		return ""
	}
	at := w.at
	late := time.AfterFunc(callLimit, func() { _, _ = at.call("turn/interrupt", turnParams(th, turn)) })
	defer late.Stop()
	return at.awaitTurn(th.ID, turn)
}

func turnParams(th *soakThread, turn string) apptest.Object {
	return apptest.Object{"threadId": th.ID, "turnId": turn}
}

// turn runs a turn.
func (w *soaker) turn(th *soakThread) outcome {
	mark := w.mark()
	turn, got := w.begin(th, mark, []string{
		"Nothing but " + mark,
		strings.Repeat("Very long words of "+mark+". ", 1+w.caller.rand.IntN(500)),
		"run: echo " + mark,
		"run: head -c 20000 /dev/zero | tr '\\0' x; echo " + mark,
	}[w.caller.rand.IntN(4)])
	defer w.unload(th)
	w.await(th, turn)
	return got
}

// interruptedSleep is the time of a command that is interrupted.
const interruptedSleep = time.Minute

// interrupt begins a turn with a long command, and interrupts it.
func (w *soaker) interrupt(th *soakThread) outcome {
	mark := w.mark()
	turn, got := w.begin(th, mark, fmt.Sprintf("run: echo %s; sleep %v", mark, interruptedSleep.Seconds()))
	defer w.unload(th)
	if turn != "" {
		w.request(th, "turn/interrupt", apptest.Object{"turnId": turn}, func(gjson.Result) {})
	}
	w.await(th, turn)
	return got
}

// steer begins a turn with a command, and adds an input to it.
func (w *soaker) steer(th *soakThread) outcome {
	mark := w.mark()
	turn, got := w.begin(th, mark, "run: echo "+mark+"; sleep 0.5")
	defer w.unload(th)
	if turn != "" {
		more := w.mark()
		w.request(th, "turn/steer", apptest.Object{"expectedTurnId": turn, "input": apptest.TextInput("And " + more)},
			func(gjson.Result) {
				w.done.steers++
				th.AddInput(more, turn)
			})
	}
	w.await(th, turn)
	return got
}

// approve begins a turn with a command that needs an approval. A client of another node answers.
func (w *soaker) approve(th *soakThread) outcome {
	if !th.isCautious {
		return refused
	}
	if got := w.resume(th); got != done {
		return got
	}
	defer w.unload(th)
	other, err := w.another()
	if err != nil {
		return again
	}
	if _, err := other.call("thread/resume", apptest.Object{"threadId": th.ID, "excludeTurns": true}); err != nil {
		return again
	}
	defer func() { _, _ = other.call("thread/unsubscribe", apptest.Object{"threadId": th.ID}) }()
	w.at.silence(th.ID)
	defer w.at.silence("")
	mark, file := w.mark(), w.approved()
	if w.caller.rand.IntN(4) == 0 {
		file = w.files + "/" + forbidden
	}
	turn, got := w.send(th, mark, "run: echo "+mark+" >> "+file)
	if w.await(th, turn) == "completed" && other.hasAnswered(turn) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done.approvals++
	}
	return got
}
