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
	"appserver/test/sample"
)

// sendAsync sends a request, for a thread or nil. If it succeeds, handle calls acked with the
// response.
func (s *soak) sendAsync(th *soakThread, method string, params apptest.Object,
	acked func(apptest.Message)) (id string) {
	s.t.Helper()
	c := s.Client
	if th != nil && th.second && s.second != nil {
		c = s.second
	}
	id = c.SendRequest(method, params)
	s.handlers[id] = acked
	return id
}

// maxThreads limits the threads; with more, the checks would take most of the time.
const maxThreads = 6

// sendRandom sends a random request and does not wait for the response.
func (s *soak) sendRandom() {
	s.t.Helper()
	if len(s.threads) == 0 || len(s.threads) < maxThreads && s.rand.IntN(15) == 0 {
		s.startThread("thread/start",
			apptest.Object{"cwd": []string{s.project, s.repository.Dir}[s.rand.IntN(2)], "sandbox": "danger-full-access",
				"approvalPolicy": "never"})
		return
	}
	th := s.threads[s.rand.IntN(len(s.threads))]
	requests := []func(*soakThread){
		s.sendInput, s.sendInput, s.sendInput, s.sendInput, s.sendInput, s.editContext, s.editContext, s.editContext,
		s.editContext,
		s.trimContext, s.compactThread, s.rename, s.interrupt, s.fork, s.archive, s.reload, s.writeSetting,
		s.writeRandomFile, s.forgetMemory,
		s.revert, s.revert, s.deleteThread,
	}
	requests[s.rand.IntN(len(requests))](th)
}

// startThread sends a request that creates a thread.
func (s *soak) startThread(method string, params apptest.Object) {
	s.sendAsync(nil, method, params, func(m apptest.Message) {
		var r struct{ Thread apptest.ThreadView }
		require.NoError(s.t, json.Unmarshal(m.Result, &r))
		if s.thread(r.Thread.ID) == nil {
			s.threads = append(s.threads, newSoakThread(r.Thread))
		}
	})
}

func (s *soak) mark() string {
	s.marks++
	return fmt.Sprintf("mark%dx", s.marks)
}

// sendInput starts a turn, or steers the active one.
func (s *soak) sendInput(th *soakThread) {
	mark := s.mark()
	input := apptest.TextInput(s.inputText(mark))
	if turn := th.Turn; turn != "" && s.rand.IntN(2) == 0 {
		s.sendAsync(th, "turn/steer", apptest.Object{"threadId": th.ID, "expectedTurnId": turn, "input": input},
			func(apptest.Message) { th.AddInput(mark, turn) })
		return
	}
	s.sendAsync(th, "turn/start", apptest.Object{"threadId": th.ID, "input": input},
		func(m apptest.Message) { th.AddInput(mark, gjson.GetBytes(m.Result, "turn.id").Str) })
}

// inputText returns a random input. Some make the model call tools.
func (s *soak) inputText(mark string) string {
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

// editContext sends a random edit of the context.
func (s *soak) editContext(th *soakThread) {
	var ids []string
	for id := range th.List {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if method := []string{"", "", "", "", "", "context/undo", "context/redo",
		"context/restore"}[s.rand.IntN(8)]; method != "" {
		s.sendEdit(method, apptest.Object{"threadId": th.ID}, th)
		return
	}
	if len(ids) == 0 {
		s.sendInput(th)
		return
	}
	method, params := apptest.EditParams(s.t, th.ID, sample.RandomOperations(s.rand, ids).Draw(s.t))
	s.sendEdit(method, params, th)
}

// sendEdit sends an edit. Its response can contain the new revision.
func (s *soak) sendEdit(method string, params apptest.Object, th *soakThread) {
	s.sendAsync(th, method, params, func(m apptest.Message) {
		s.count.edits++
		if revision := gjson.GetBytes(m.Result, "revision").Int(); revision > th.Revision {
			th.Revision, th.List = revision, nil // ContextItems has the list
		}
	})
}

func (s *soak) trimContext(th *soakThread) {
	s.sendEdit("thread/context/trim", apptest.Object{"threadId": th.ID, "keepLastNTurns": s.rand.IntN(4)}, th)
}

func (s *soak) compactThread(th *soakThread) {
	strategy := []string{"summary", "userMessages", "mask", "local"}[s.rand.IntN(4)]
	s.sendAsync(th, "thread/compact/start", apptest.Object{"threadId": th.ID, "strategy": strategy},
		func(apptest.Message) {})
}

func (s *soak) rename(th *soakThread) {
	name := "name " + s.mark()
	acked := th.Name.Request(name)
	s.sendAsync(th, "thread/name/set", apptest.Object{"threadId": th.ID, "name": name}, func(apptest.Message) { acked() })
}

func (s *soak) interrupt(th *soakThread) {
	s.sendAsync(th, "turn/interrupt", apptest.Object{"threadId": th.ID, "turnId": th.Turn}, func(apptest.Message) {})
}

func (s *soak) fork(th *soakThread) {
	if len(s.threads) >= maxThreads {
		s.sendInput(th)
		return
	}
	s.startThread("thread/fork", apptest.Object{"threadId": th.ID})
}

// archive archives a thread, or unarchives it.
func (s *soak) archive(th *soakThread) {
	if th.Archived.IsTrue() {
		acked := th.Archived.Request("")
		s.sendAsync(th, "thread/unarchive", apptest.Object{"threadId": th.ID}, func(apptest.Message) { acked() })
		s.sendAsync(th, "thread/resume", apptest.Object{"threadId": th.ID}, func(apptest.Message) {})
		return
	}
	acked := th.Archived.Request("true")
	s.sendAsync(th, "thread/archive", apptest.Object{"threadId": th.ID}, func(apptest.Message) { acked() })
}

// reload makes the server unload a thread, which rewrites its file, and load it again.
func (s *soak) reload(th *soakThread) {
	s.sendAsync(nil, "thread/unsubscribe", apptest.Object{"threadId": th.ID}, func(apptest.Message) {})
	s.sendAsync(nil, "thread/resume", apptest.Object{"threadId": th.ID}, func(apptest.Message) {})
}

func (s *soak) writeSetting(*soakThread) {
	value := s.mark()
	acked := s.setting.Request(value)
	s.sendAsync(nil, "config/value/write", apptest.Object{"keyPath": "tui.soak", "value": value, "mergeStrategy": "replace"},
		func(apptest.Message) { acked() })
}

// writeRandomFile writes a file outside of the project, so that no checkpoint of a turn contains
// it.
func (s *soak) writeRandomFile(*soakThread) {
	s.writeFile(filepath.Join(s.home, fmt.Sprintf("saved%d", s.rand.IntN(3))),
		strings.Repeat(s.mark(), 1+s.rand.IntN(5000)))
}

// forgetMemory deletes a memory of the thread, if it has one.
func (s *soak) forgetMemory(th *soakThread) {
	for id := range th.memories {
		if !s.forgotten[id] {
			s.forgotten[id] = true
			s.sendAsync(th, "memory/forget", apptest.Object{"ids": []string{id}},
				func(apptest.Message) { delete(th.memories, id) })
			return
		}
	}
	s.sendInput(th)
}
