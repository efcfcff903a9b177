package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// soaker is a client of a soak.
type soaker struct {
	*soak
	caller
	number int
}

// work sends random requests until the end of the round.
func (w *soaker) work() {
	defer w.disconnect()
	for !w.isOver.Load() && !w.t.Failed() {
		requests := []func(*soakThread) outcome{w.turn, w.turn, w.turn, w.approve, w.approve, w.steer, w.interrupt,
			w.edit, w.edit, w.edit, w.trim, w.compact, w.revert, w.revert, w.revert, w.rename, w.move, w.fork, w.delete,
			w.read, w.read}
		do, th := requests[w.caller.rand.IntN(len(requests))], w.anyThread()
		w.until(func() outcome { return do(th) })
	}
}

func (w *soaker) anyThread() *soakThread {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.threads[w.caller.rand.IntN(len(w.threads))]
}

// mark returns a unique word.
func (w *soaker) mark() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.marks++
	return fmt.Sprintf("mark%dx", w.marks)
}

// request sends a request for a thread. If it succeeds, acked records the response.
func (w *soaker) request(th *soakThread, method string, params apptest.Object, acked func(gjson.Result)) outcome {
	params["threadId"] = th.ID
	answer, err := w.at.call(method, params)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done.requests++
	switch kind := kindOf(err); {
	case err == nil:
		acked(answer)
		return done
	case th.isDeleting:
		return refused
	case isRefused(err):
		return again
	case slices.Contains([]string{"", "storage", "ownerLost"}, kind):
		w.done.unknown++
		return unknown
	case kind == "internal" || kind == "rolloutUnreadable":
		w.t.Errorf("%s: %v", method, err)
	}
	return refused
}

// resume loads a thread for some requests, and subscribes to it.
func (w *soaker) resume(th *soakThread) outcome {
	w.at.subscribe(th.ID)
	got := w.request(th, "thread/resume", apptest.Object{"excludeTurns": true}, func(gjson.Result) {})
	if got == unknown {
		return again
	}
	return got
}

// unload unsubscribes, so that any node can take the thread.
func (w *soaker) unload(th *soakThread) {
	_, _ = w.at.call("thread/unsubscribe", apptest.Object{"threadId": th.ID})
}

// edit makes a random edit of the context, between two reads of it.
func (w *soaker) edit(th *soakThread) outcome {
	list := protocol.ContextGetItemsResponse{}
	read := func() outcome {
		got := w.request(th, "context/getItems", apptest.Object{}, func(r gjson.Result) {
			if err := json.Unmarshal([]byte(r.Raw), &list); err != nil {
				w.t.Error(err)
			}
			th.SetList(list.Revision, list.Items)
		})
		if got == unknown {
			return again
		}
		return got
	}
	if got := read(); got != done || len(list.Items) == 0 {
		return got
	}
	ids := []string{list.Items[w.caller.rand.IntN(len(list.Items))].ID}
	method, params := apptest.EditParams(w.t, th.ID, sample.RandomOperations(w.caller.rand, ids).Draw(w.t))
	if w.caller.rand.IntN(5) < 2 {
		method, params = []string{"context/undo", "context/redo"}[w.caller.rand.IntN(2)], apptest.Object{}
	}
	params["expectedRevision"] = list.Revision
	got := w.request(th, method, params, func(r gjson.Result) {
		w.done.edits++
		if revision := r.Get("revision").Int(); revision > th.Revision {
			th.Revision, th.List = revision, nil // the next read has the list
		}
	})
	if got == done {
		read()
	}
	return got
}

// asSteward runs a request of the steward, unless an earlier one is in doubt.
func (w *soaker) asSteward(th *soakThread, send func() outcome) outcome {
	w.mu.Lock()
	skip := th.steward != w.number || th.inDoubt
	w.mu.Unlock()
	if skip {
		return refused
	}
	got := send()
	if got == unknown {
		w.mu.Lock()
		defer w.mu.Unlock()
		th.inDoubt = true
	}
	return got
}

func (w *soaker) rename(th *soakThread) outcome {
	return w.asSteward(th, func() outcome {
		name := "name " + w.mark()
		w.mu.Lock()
		acked := th.Name.Request(name)
		w.mu.Unlock()
		return w.request(th, "thread/name/set", apptest.Object{"name": name}, func(gjson.Result) {
			w.done.names++
			acked()
		})
	})
}

// move archives a thread, or unarchives it.
func (w *soaker) move(th *soakThread) outcome {
	return w.asSteward(th, func() outcome {
		w.mu.Lock()
		method, value := "thread/archive", "true"
		if th.Archived.IsTrue() {
			method, value = "thread/unarchive", ""
		}
		acked := th.Archived.Request(value)
		w.mu.Unlock()
		return w.request(th, method, apptest.Object{}, func(gjson.Result) {
			w.done.moves++
			acked()
		})
	})
}

// fork forks a thread. A fork without a response is not known.
func (w *soaker) fork(th *soakThread) outcome {
	w.mu.Lock()
	isFull := len(w.threads) >= maxSoakThreads
	w.mu.Unlock()
	if isFull {
		return refused
	}
	var forked gjson.Result
	got := w.request(th, "thread/fork", apptest.Object{}, func(r gjson.Result) {
		w.done.forks++
		forked = r.Get("thread")
	})
	if got == done {
		w.unload(w.add(forked, w.caller.rand.IntN(soakClients), th.isCautious))
	}
	return got
}

// read requires that a node shows all items that were acknowledged before the request. Items that a revert
// of this round may have removed are not compared before the next check.
func (w *soaker) read(th *soakThread) outcome {
	w.mu.Lock()
	known := maps.Clone(th.Items)
	w.mu.Unlock()
	got := w.request(th, "thread/read", apptest.Object{"includeTurns": true}, func(r gjson.Result) {
		w.done.reads++
		shown := map[string]string{}
		for _, item := range r.Get("thread.turns.#.items|@flatten").Array() {
			shown[item.Get("id").Str] = item.Raw
		}
		for id, item := range known {
			if shown[id] != item && !th.MayBeReverted(id) {
				w.t.Errorf("item %s of thread %s\nwas   %s\nis now %s", id, th.ID, item, shown[id])
			}
		}
	})
	if got == unknown {
		return again
	}
	return got
}
