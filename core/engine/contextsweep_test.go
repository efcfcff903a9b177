package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"appserver/protocol"
	"appserver/test/sample"
)

// TestEveryDiskOperationMayFailAroundEdits runs a thread with edits on a disk whose n-th operation
// fails. Acknowledged edits stay, and no file loses data.
func TestEveryDiskOperationMayFailAroundEdits(t *testing.T) {
	sample.NoRace(t)
	all := faults()
	for _, name := range []string{"one operation", "one, in part", "three, in part", "sync, and the way back"} {
		t.Run(name, func(t *testing.T) { sweep(t, all[name], (*life).edit) })
	}
}

// wanted is a context item that a client knows.
type wanted struct {
	id, category, preview string
	excluded, gone        bool
}

// edit runs the life of a thread in which items are excluded and deleted. The thread is rewritten,
// loaded, made whole, rewritten, edited while it is stored, and loaded again.
func (l *life) edit() {
	l.thread = l.insist(start).Get("thread.id").Str
	l.complete("run touch a")
	l.complete("say secret")
	l.learn()
	secret, output := l.last(protocol.CategoryAssistantMessage), l.last(protocol.CategoryToolOutput)
	l.change(func() call { return exclude(l.thread, secret.id) }, func() { secret.excluded = true })
	l.change(func() call { return remove(l.thread, output.id) }, func() { output.gone = true })
	l.change(func() call { return undo(l.thread) }, func() { output.gone = false })
	l.again()
	l.complete("say more")
	if strings.Contains(l.agent.last(), `"text":"secret"`) {
		l.report("the agent is sent what is excluded")
	}
	l.learn()
	secret = l.last(protocol.CategoryUserMessage)
	l.change(func() call { return restore(l.thread) }, func() {
		for i := range l.want {
			l.want[i].excluded = false
		}
	})
	l.again()
	l.leaveWhole()
	l.restart()
	l.change(func() call { return exclude(l.thread, secret.id) }, func() { secret.excluded = true })
	l.again()
	l.check()
	l.leaveWhole()
}

// complete runs turns until one is completed.
func (l *life) complete(words string) {
	for range 5 {
		before := l.costs
		l.do(words)
		if l.costs == before {
			return
		}
		l.insist(func() call { return setName(l.thread, "n") })
		if ends := l.ends(1); len(ends) > 0 && ends[len(ends)-1] == "completed" {
			return
		}
	}
	l.report("%q is never completed", words)
}

// change makes an edit, and compares.
func (l *life) change(edit func() call, effect func()) {
	l.insist(edit)
	effect()
	l.compare()
}

// again loads the thread on another engine, with its backup.
func (l *life) again() {
	l.leaveWhole()
	for range 5 {
		l.restart()
		l.clients.forget()
		l.insist(func() call { return resume(l.thread) })
		synctest.Wait()
		if !slices.ContainsFunc(l.clients.notices(1, "warning"),
			func(m message) bool { return strings.Contains(m.body.Get("message").Str, ".bak ") }) {
			l.compare()
			return
		}
		l.costs++ // the client is warned that the backup cannot be read
		l.leaveWhole()
	}
	l.report("the thread is never loaded as it was")
}

// leaveWhole ends the engine with both files whole.
func (l *life) leaveWhole() {
	l.leave()
	if wrong := wrongWith(l.mem, l.thread); wrong != "" {
		l.report("%s", wrong)
	}
	if wrong := wrongWith(worstCrash(l.mem), l.thread); wrong != "" {
		l.report("after a crash: %s", wrong)
	}
}

// learn takes what the client is shown now as what it knows.
func (l *life) learn() {
	l.compare()
	l.want = l.shown()
}

func (l *life) shown() (shown []wanted) {
	for _, item := range l.insist(func() call { return getItems(l.thread) }).Get("items").Array() {
		shown = append(shown,
			wanted{id: item.Get("id").Str, category: item.Get("category").Str, preview: item.Get("preview").Str,
				excluded: !item.Get("included").Bool()})
	}
	return shown
}

// compare checks that the client is shown what it made of the context, and of nothing
// that it knows anything else; new items come last.
func (l *life) compare() {
	var want []wanted
	for _, w := range l.want {
		if !w.gone {
			want = append(want, w)
		}
	}
	shown := l.shown()
	if len(shown) < len(want) || !slices.Equal(want, shown[:len(want)]) {
		l.report("the context is %v instead of %v", shown, want)
	}
}

// last returns the last item of a category that the client knows.
func (l *life) last(category protocol.ContextCategory) *wanted {
	for i := len(l.want) - 1; i >= 0; i-- {
		if l.want[i].category == string(category) {
			return &l.want[i]
		}
	}
	l.report("there is no %s", category)
	return &wanted{}
}
