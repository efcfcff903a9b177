package fleet

import (
	"slices"

	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// trim replaces items by a trim point.
func (w *soaker) trim(th *soakThread) outcome {
	return w.request(th, "thread/context/trim", apptest.Object{"keepLastNTurns": w.caller.rand.IntN(4)},
		func(gjson.Result) { w.done.trims++ })
}

// compact starts a compaction.
func (w *soaker) compact(th *soakThread) outcome {
	if got := w.resume(th); got != done {
		return got
	}
	defer w.unload(th)
	strategy := []string{"summary", "userMessages", "mask", "local"}[w.caller.rand.IntN(4)]
	return w.request(th, "thread/compact/start", apptest.Object{"strategy": strategy},
		func(gjson.Result) { w.done.trims++ })
}

// revert removes some of the last turns. The first turn stays, because lists omit threads without one.
func (w *soaker) revert(th *soakThread) outcome {
	return w.asSteward(th, func() outcome {
		w.mu.Lock()
		if len(th.Turns) < 2 {
			w.mu.Unlock()
			return refused
		}
		slices.Sort(th.Turns)
		first := th.Turns[len(th.Turns)-1-w.caller.rand.IntN(min(2, len(th.Turns)-1))]
		executed, rejected := th.RequestRevert(first)
		w.mu.Unlock()
		got := w.request(th, "thread/revert", apptest.Object{"beforeTurnId": first}, func(gjson.Result) {
			w.done.reverts++
			executed()
		})
		if got == refused || got == again {
			w.mu.Lock()
			defer w.mu.Unlock()
			rejected()
		}
		return got
	})
}

// delete deletes a thread, and starts another one if there are few.
func (w *soaker) delete(th *soakThread) outcome {
	if w.caller.rand.IntN(3) > 0 {
		return refused
	}
	got := w.asSteward(th, func() outcome {
		w.mu.Lock()
		th.isDeleting = true
		w.mu.Unlock()
		return w.requestDeletion(th)
	})
	w.mu.Lock()
	isFull := len(w.threads) >= soakThreads
	w.mu.Unlock()
	if got == done && !isFull {
		w.until(func() outcome { return w.start(th.isCautious) })
	}
	return got
}

func (w *soaker) requestDeletion(th *soakThread) outcome {
	_, err := w.at.call("thread/delete", apptest.Object{"threadId": th.ID})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done.requests++
	switch kind := kindOf(err); {
	case err == nil:
		w.done.deletes++
		w.remove(th)
		return done
	case slices.Contains([]string{"", "storage", "ownerLost"}, kind):
		w.done.unknown++
		return unknown
	}
	th.isDeleting = false
	if isRefused(err) {
		return again
	}
	return refused
}

// remove removes a deleted thread. The caller holds the lock, or there are no workers.
func (s *soak) remove(th *soakThread) {
	s.deleted = append(s.deleted, th.ID)
	s.threads = slices.DeleteFunc(s.threads, func(other *soakThread) bool { return other == th })
}

// start starts a thread with a turn. It is known from then on.
func (w *soaker) start(isCautious bool) outcome {
	policy := map[bool]string{true: "untrusted", false: "never"}[isCautious]
	started, err := w.at.call("thread/start", apptest.Object{"cwd": w.files, "sandbox": "danger-full-access",
		"approvalPolicy": policy})
	if err != nil {
		return again
	}
	id := apptest.Object{"threadId": started.Get("thread.id").Str, "includeTurns": true}
	begun, err := w.at.call("turn/start", apptest.Object{"threadId": id["threadId"],
		"input": apptest.TextInput("The first turn")})
	if err != nil || w.at.awaitTurn(started.Get("thread.id").Str, begun.Get("turn.id").Str) != "completed" {
		return again
	}
	read, err := w.at.call("thread/read", id)
	if err != nil {
		return again
	}
	w.unload(w.add(read.Get("thread"), w.caller.rand.IntN(soakClients), isCautious))
	return done
}
