package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// leave ends the engine, and puts a new one in its place.
func (r *rig) leave() {
	r.t.Helper()
	require.NoError(r.t, r.close(time.Minute))
	require.Empty(r.t, r.mem.Held())
	r.restart()
	r.clients.forget()
}

// leaveAndResume lets a client resume a thread on a new engine.
func (r *rig) leaveAndResume(thread string) {
	r.t.Helper()
	r.leave()
	r.ask(1, resume(thread))
}

// rolloutsOf returns the files below sessions that carry a thread's id: the rollout comes
// first, then its backup.
func rolloutsOf(mem *faultfs.Mem, thread string) (paths []string) {
	for _, path := range mem.Files(home) {
		if isRollout(path) && strings.Contains(path, thread) {
			paths = append(paths, path)
		}
	}
	return paths
}

// files returns a thread's rollout and its backup, or "".
func (r *rig) files(thread string) (main, backup string) {
	r.t.Helper()
	paths := rolloutsOf(r.mem, thread)
	require.LessOrEqual(r.t, len(paths), 2, "nothing is left behind: %v", paths)
	if len(paths) == 2 {
		require.Equal(r.t, paths[0]+".bak", paths[1])
		backup = get(r.t, r, paths[1])
	}
	return get(r.t, r, paths[0]), backup
}

// overwrite puts a text in the place of a file.
func overwrite(t *testing.T, r *rig, path, text string) {
	t.Helper()
	require.NoError(t, r.mem.Remove(path))
	put(t, r, path, text)
}

// plain returns the items that a reader without edits and backups would send to a model.
func plain(r *rig, text string) []protocol.ResponseItem {
	var lines []protocol.RolloutLine
	for line := range strings.Lines(text) {
		kind := gjson.Get(line, "type").Str
		if kind != protocol.LineContextEdit && kind != protocol.LineContextBackup {
			lines = append(lines, protocol.RolloutLine{Type: kind, Payload: json.RawMessage(gjson.Get(line, "payload").Raw)})
		}
	}
	return core.Load("", core.Options{}, r.setup.Settings(), lines).Prompt().Items
}

// wrongWith returns the defect of a thread's files on a disk, or "". Lines of a rejected append that
// could not be truncated are no defect.
func wrongWith(disk *faultfs.Mem, thread string) string {
	store := rollout.NewStore(disk, home)
	path, err := store.Find(thread)
	if err != nil {
		return err.Error()
	}
	contents, err := store.Read(path)
	if err == nil {
		err = contents.Backup.Err
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// itemsOf returns the items in a result of rig.context.
func itemsOf(context string) []gjson.Result {
	_, answer, _ := strings.Cut(context, " ")
	return gjson.Parse(answer).Get("items").Array()
}
