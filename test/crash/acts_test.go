package crash

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// later sends a request about a thread, or none; answered is called when it is noticed to have
// succeeded.
func (s *siege) later(w *told, method string, params apptest.Object, answered func(apptest.Message)) (id string) {
	s.t.Helper()
	c := s.Client
	if w != nil && w.second && s.second != nil {
		c = s.second
	}
	id = c.SendRequest(method, params)
	s.waiting[id] = answered
	return id
}

// mostSieged is how many threads are made; more would be checked for most of the time.
const mostSieged = 6

// act does something, and does not wait for what it gives.
func (s *siege) act() {
	s.t.Helper()
	if len(s.threads) == 0 || len(s.threads) < mostSieged && s.rand.IntN(15) == 0 {
		s.begin("thread/start",
			apptest.Object{"cwd": []string{s.project, s.repository.Dir}[s.rand.IntN(2)], "sandbox": "danger-full-access",
				"approvalPolicy": "never"})
		return
	}
	w := s.threads[s.rand.IntN(len(s.threads))]
	acts := []func(*told){
		s.say, s.say, s.say, s.say, s.say, s.edit, s.edit, s.edit, s.edit,
		s.trim, s.compact, s.rename, s.interrupt, s.fork, s.archive, s.leave, s.configure, s.save, s.forget,
		s.goBack, s.goBack, s.delete,
	}
	acts[s.rand.IntN(len(acts))](w)
}

// begin makes a thread.
func (s *siege) begin(method string, params apptest.Object) {
	s.later(nil, method, params, func(m apptest.Message) {
		var r struct{ Thread apptest.ThreadView }
		require.NoError(s.t, json.Unmarshal(m.Result, &r))
		if s.thread(r.Thread.ID) == nil {
			s.threads = append(s.threads, newTold(r.Thread))
		}
	})
}

func (s *siege) mark() string {
	s.marks++
	return fmt.Sprintf("mark%dx", s.marks)
}

// say gives input: a turn, with calls or without, or more of the turn under way.
func (s *siege) say(w *told) {
	mark := s.mark()
	input := apptest.TextInput(s.words(mark))
	if turn := w.turn; turn != "" && s.rand.IntN(2) == 0 {
		s.later(w, "turn/steer", apptest.Object{"threadId": w.id, "expectedTurnId": turn, "input": input},
			func(apptest.Message) { w.said(mark, turn) })
		return
	}
	s.later(w, "turn/start", apptest.Object{"threadId": w.id, "input": input},
		func(m apptest.Message) { w.said(mark, gjson.GetBytes(m.Result, "turn.id").Str) })
}

// words have the model make calls of every kind.
func (s *siege) words(mark string) string {
	patch := "*** Begin Patch\n*** Add File: " + mark + ".txt\n+" + strings.Repeat(mark, 1+s.rand.IntN(50)) +
		"\n*** End Patch\n"
	return []string{
		"Nothing but " + mark,
		strings.Repeat("Very long words of "+mark+". ", 1+s.rand.IntN(1000)),
		apptest.ScriptText(apptest.ShellCall("echo " + mark + " >> log.txt")),
		apptest.ScriptText(apptest.ShellCall("head -c 20000 /dev/zero | tr '\\0' x; echo "+mark),
			apptest.ShellCall("sleep 0.02; echo "+mark)),
		apptest.ScriptText(apptest.OneCall("apply_patch", apptest.Object{"input": patch})),
		apptest.ScriptText(apptest.OneCall("mcp__docs__echo", apptest.Object{"x": mark})),
		apptest.ScriptText(apptest.ExecCall("echo "+mark+"; sleep 600", apptest.Object{"yield_time_ms": 250})),
		apptest.ScriptText(apptest.ShellCall("echo "+mark+"; sleep 0.3"),
			apptest.OneCall("recall", apptest.Object{"query": mark})),
	}[s.rand.IntN(8)]
}

// edit changes the context by ids that are known of it.
func (s *siege) edit(w *told) {
	var ids []string
	for id := range w.list {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	params := apptest.Object{"threadId": w.id}
	method := []string{"context/setInclusion", "context/setInclusion", "context/setInclusion", "context/pin",
		"context/pruneByIndices", "context/undo", "context/redo", "context/restore"}[s.rand.IntN(8)]
	switch method {
	case "context/setInclusion", "context/pin", "context/pruneByIndices":
		if len(ids) == 0 {
			s.say(w)
			return
		}
		params["ids"] = []string{ids[s.rand.IntN(len(ids))]}
	}
	switch method {
	case "context/setInclusion":
		params["included"] = s.rand.IntN(3) == 0
	case "context/pin":
		params["pinned"] = s.rand.IntN(2) == 0
	}
	s.revises(method, params, w)
}

// revises sends an edit, whose answer may tell the revision that it makes.
func (s *siege) revises(method string, params apptest.Object, w *told) {
	s.later(w, method, params, func(m apptest.Message) {
		s.count.edits++
		if revision := gjson.GetBytes(m.Result, "revision").Int(); revision > w.revision {
			w.revision, w.list = revision, nil // ContextItems tells what it is
		}
	})
}

func (s *siege) trim(w *told) {
	s.revises("thread/context/trim", apptest.Object{"threadId": w.id, "keepLastNTurns": s.rand.IntN(4)}, w)
}

func (s *siege) compact(w *told) {
	strategy := []string{"summary", "userMessages", "mask", "local"}[s.rand.IntN(4)]
	s.later(w, "thread/compact/start", apptest.Object{"threadId": w.id, "strategy": strategy}, func(apptest.Message) {})
}

func (s *siege) rename(w *told) {
	name := "name " + s.mark()
	answered := w.name.ask(name)
	s.later(w, "thread/name/set", apptest.Object{"threadId": w.id, "name": name}, func(apptest.Message) { answered() })
}

func (s *siege) interrupt(w *told) {
	s.later(w, "turn/interrupt", apptest.Object{"threadId": w.id, "turnId": w.turn}, func(apptest.Message) {})
}

func (s *siege) fork(w *told) {
	if len(s.threads) >= mostSieged {
		s.say(w)
		return
	}
	s.begin("thread/fork", apptest.Object{"threadId": w.id})
}

// archive puts a thread away, or brings it back.
func (s *siege) archive(w *told) {
	if w.archived.value() {
		answered := w.archived.ask("")
		s.later(w, "thread/unarchive", apptest.Object{"threadId": w.id}, func(apptest.Message) { answered() })
		s.later(w, "thread/resume", apptest.Object{"threadId": w.id}, func(apptest.Message) {})
		return
	}
	answered := w.archived.ask("true")
	s.later(w, "thread/archive", apptest.Object{"threadId": w.id}, func(apptest.Message) { answered() })
}

// leave has a thread unloaded, which rewrites its file, and loaded again.
func (s *siege) leave(w *told) {
	s.later(nil, "thread/unsubscribe", apptest.Object{"threadId": w.id}, func(apptest.Message) {})
	s.later(nil, "thread/resume", apptest.Object{"threadId": w.id}, func(apptest.Message) {})
}

func (s *siege) configure(*told) {
	value := s.mark()
	answered := s.setting.ask(value)
	s.later(nil, "config/value/write", apptest.Object{"keyPath": "tui.soak", "value": value, "mergeStrategy": "replace"},
		func(apptest.Message) { answered() })
}

// save has a client write a file, where no checkpoint of a turn under way takes it for the turn's.
func (s *siege) save(*told) {
	s.writes(filepath.Join(s.home, fmt.Sprintf("saved%d", s.rand.IntN(3))), strings.Repeat(s.mark(), 1+s.rand.IntN(5000)))
}

// forget forgets a memory of a thread, if it has any.
func (s *siege) forget(w *told) {
	for id := range w.memories {
		if !s.forgotten[id] {
			s.forgotten[id] = true
			s.later(w, "memory/forget", apptest.Object{"ids": []string{id}}, func(apptest.Message) { delete(w.memories, id) })
			return
		}
	}
	s.say(w)
}
