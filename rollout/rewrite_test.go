package rollout_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/rollout"
)

// evenOnly keeps the session_meta and every second line of linesFrom.
func evenOnly(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
	return line, line.Type != protocol.LineEventMsg || gjson.GetBytes(line.Payload, "n").Int()%2 == 0
}

// appendAndClose opens a thread, appends lines and closes it with a projection.
func appendAndClose(t *testing.T, store *rollout.Store, path string, p rollout.Projection,
	lines ...protocol.RolloutLine) error {
	t.Helper()
	log, _, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.Append(lines, false))
	return log.CloseRewritten(p)
}

// rewrittenThread returns a thread of a session_meta and lines 1 to 5, of which the main
// file has the even ones.
func rewrittenThread(t *testing.T, disk rollout.FS, dir string) (*rollout.Store, string) {
	t.Helper()
	store := rollout.NewStore(disk, dir)
	path := put(t, disk, store.PathFor(threadA, begin), metaLine)
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(1, 6)...))
	return store, path
}

// numbers returns the lines of linesFrom that there are.
func numbers(contents *rollout.Contents) []int64 {
	all := []int64{}
	for _, l := range contents.Lines {
		if n := gjson.GetBytes(l.Payload, "n"); n.Exists() {
			all = append(all, n.Int())
		}
	}
	return all
}

// alone returns the lines that a reader without the backup finds.
func alone(t *testing.T, disk rollout.FS, path string) *rollout.Contents {
	t.Helper()
	store, mem := memStore()
	contents, err := store.Read(put(t, mem, store.PathFor(threadA, begin), get(t, disk, path)))
	require.NoError(t, err)
	return contents
}

func TestARewrittenFileIsWhatAPlainReaderShallSee(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	require.Equal(t, []int64{2, 4}, numbers(alone(t, rollout.OS(), path)))
	require.True(t, strings.HasPrefix(get(t, rollout.OS(), path), strings.TrimSuffix(metaLine, "\n")),
		"unchanged lines stay as they stand")
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, rollout.Backup{Joined: true}, contents.Backup)
	require.Equal(t, []int64{1, 2, 3, 4, 5}, numbers(contents))
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6}, ordinals(contents))
	require.EqualValues(t, 7, contents.Next)
	marker := contents.Lines[6]
	require.Equal(t, protocol.LineContextBackup, marker.Type)
	require.Equal(t, line(5).Timestamp, marker.Timestamp, "the time of the last line")
	require.NoError(t, store.CheckBackup(path))
	for _, p := range []string{path, path + ".bak"} {
		info, err := os.Lstat(p)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode(), p)
	}
	requireNoTemporary(t, path)
}

func requireNoTemporary(t *testing.T, path string) {
	t.Helper()
	_, err := os.Lstat(path + ".tmp")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestRewritesFollowEachOther(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	before := get(t, rollout.OS(), path+".bak")
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(7, 10)...))
	after := get(t, rollout.OS(), path+".bak")
	require.True(t, strings.HasPrefix(after, before))
	require.Equal(t, []int64{2, 4, 8}, numbers(alone(t, rollout.OS(), path)))
	require.NoError(t, appendAndClose(t, store, path, nil, linesFrom(11, 12)...))
	contents := alone(t, rollout.OS(), path)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 7, 8, 9, 11}, numbers(contents), "everything is back")
	require.Equal(t, rollout.Backup{}, contents.Backup)
	require.NoError(t, store.CheckBackup(path))
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(13, 15)...))
	require.Equal(t, []int64{2, 4, 8, 14}, numbers(alone(t, rollout.OS(), path)))
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 14}, numbers(contents))
}

func TestANewThreadCanBeRewritten(t *testing.T) {
	store, mem := memStore()
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 4), true))
	require.NoError(t, log.CloseRewritten(evenOnly))
	require.Equal(t, []int64{0, 2}, numbers(alone(t, mem, log.Path())))
	contents, err := store.Read(log.Path())
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, 3}, numbers(contents))
	require.NoError(t, log.CloseRewritten(evenOnly), "it is closed")
	require.Empty(t, mem.Held())
}

func TestNothingIsRewrittenWithoutNeed(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	log, _, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.CloseRewritten(evenOnly), "nothing was appended")
	require.Equal(t, metaLine, get(t, mem, path))
	require.NoError(t, appendAndClose(t, store, path, nil, line(1)))
	require.NotContains(t, get(t, mem, path), protocol.LineContextBackup, "it was whole and stays whole")
	require.Equal(t, []string{path}, mem.Files(home+"/sessions"))
	empty, err := store.Create(threadB, begin)
	require.NoError(t, err)
	require.NoError(t, empty.CloseRewritten(evenOnly))
	require.Empty(t, mem.Held())
}

func TestAProjectionChangesAPayloadAndNothingElse(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+
		`{"timestamp":"T","ordinal":1,"more":[1, 2],"type":"a","payload":{"long":true}}`+"\n"+
		`{"timestamp":"U","type":"","payload":{"long":true},"metadata":{"payload":3}}`+"\n"+
		`{"timestamp":"V","type":"keep","payload": {"kept": 1},"metadata":{}}`+"\r\n")
	short := func(l protocol.RolloutLine) (protocol.RolloutLine, bool) {
		if gjson.GetBytes(l.Payload, "long").Bool() {
			l.Payload = json.RawMessage("{\n\"long\":false}")
		}
		return l, l.Type != protocol.LineEventMsg
	}
	require.NoError(t, appendAndClose(t, store, path, short, line(4)))
	main, _ := cutMarker(t, get(t, mem, path))
	filled := len(main)
	main = strings.TrimRight(main, " \n") + "\n"
	require.Equal(t, metaLine+
		`{"timestamp":"T","more":[1, 2],"type":"a","payload":{"long":false},"ordinal":1}`+"\n"+
		`{"timestamp":"U","type":"","payload":{"long":false},"metadata":{"payload":3},"ordinal":2}`+"\n"+
		`{"timestamp":"V","type":"keep","payload":{"kept": 1},"metadata":{},"ordinal":3}`+"\n", main)
	require.Equal(t, len(get(t, mem, path+".bak")), filled, "and a blank line, to the size that it had")
}

func TestAProjectionThatIsNotJSONChangesNothing(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	bad := func(l protocol.RolloutLine) (protocol.RolloutLine, bool) {
		l.Payload = json.RawMessage(`{`)
		return l, true
	}
	err := appendAndClose(t, store, path, bad, line(1))
	require.ErrorContains(t, err, "line 0 (session_meta): its payload is not JSON")
	require.ErrorContains(t, err, "cannot rewrite "+path)
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Len(t, contents.Lines, 2)
	require.NotContains(t, mem.Files(home), path+".tmp")
	require.Empty(t, mem.Held())
	require.NoError(t, appendAndClose(t, store, path, evenOnly, line(2)))
}

func TestDamageStaysInTheBackup(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+"first\n")
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(2, 4)...))
	require.Empty(t, alone(t, mem, path).Damage)
	main := get(t, mem, path)
	write(t, mem, path, "second\n{\"to")
	contents, err := store.Read(path)
	require.NoError(t, err)
	damage := []rollout.Damage{
		{Path: path + ".bak", Line: 2, Offset: int64(len(metaLine)), Reason: "not JSON"},
		{Line: strings.Count(main, "\n") + 1, Offset: int64(len(main)), Reason: "not JSON"},
	}
	require.Equal(t, damage, contents.Damage)
	require.True(t, contents.Torn)
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(7, 9)...))
	contents, err = store.Read(path)
	require.NoError(t, err)
	require.Len(t, contents.Damage, 3)
	require.False(t, contents.Torn)
	require.Equal(t, []int64{2, 3, 7, 8}, numbers(contents))
}

// write appends as another program does.
func write(t *testing.T, disk rollout.FS, path, text string) {
	t.Helper()
	f, err := disk.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestOrdinalsOfOtherProgramsAreRaisedForGood(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	write(t, rollout.OS(), path,
		`{"type":"a","payload":1}`+"\n"+`{"ordinal":2,"type":"a","payload":2}`+"\n"+
			`{"ordinal":20,"type":"a","payload":3}`+"\n")
	want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 20}
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, want, ordinals(contents))
	for range 2 {
		require.NoError(t, appendAndClose(t, store, path, evenOnly, line(21)))
		contents, err = store.Read(path)
		require.NoError(t, err)
		require.Equal(t, want, ordinals(contents)[:len(want)], "also once they are in the backup")
	}
	require.Equal(t, []int64{0, 2, 4, 7, 8, 20}, ordinals(alone(t, rollout.OS(), path))[:6])
}

// TestDamageBehindAMarkerHasItsPlaceInTheFile has damage in the backup, and behind the marker.
func TestDamageBehindAMarkerHasItsPlaceInTheFile(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+"?\n"+string(encoded(2)))
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(3, 6)...))
	before := get(t, mem, path)
	write(t, mem, path, string(encoded(7))+"??\n")
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []rollout.Damage{
		{Path: path + ".bak", Line: 2, Offset: int64(len(metaLine)), Reason: "not JSON"},
		{Line: strings.Count(before, "\n") + 2, Offset: int64(len(before) + len(encoded(7))), Reason: "not JSON"},
	}, contents.Damage)
}

// TestALongRolloutIsRewritten rewrites a rollout of several chunks twice, and restores it.
func TestALongRolloutIsRewritten(t *testing.T) {
	store, mem := memStore()
	text := strings.Repeat("x", 100<<10)
	var all strings.Builder
	all.WriteString(metaLine)
	const count = 120
	for n := 1; n < count; n++ {
		fmt.Fprintf(&all, `{"timestamp":"t","ordinal":%d,"type":"event_msg","payload":{"n":%d,"text":"%s"}}`+"\n", n, n, text)
	}
	path := put(t, mem, store.PathFor(threadA, begin), all.String())
	want := func(step int) (numbers []int64) {
		for n := int64(1); n < count; n += int64(step) {
			numbers = append(numbers, n+int64(step)-1)
		}
		return numbers
	}
	for _, n := range []int{1, 2, 3} {
		p := rollout.Projection(evenOnly)
		if n == 3 {
			p = nil
		}
		added := protocol.RolloutLine{Type: protocol.LineEventMsg, Payload: []byte(`{}`)}
		require.NoError(t, appendAndClose(t, store, path, p, added))
		found := alone(t, mem, path)
		if n == 3 {
			require.Equal(t, want(1), numbers(found))
			require.True(t, strings.HasPrefix(get(t, mem, path), all.String()))
			require.Equal(t, rollout.Backup{}, found.Backup)
		} else {
			require.Equal(t, want(2)[:count/2-1], numbers(found))
		}
		require.Empty(t, found.Damage)
		contents, err := store.Read(path)
		require.NoError(t, err)
		require.Equal(t, want(1), numbers(contents))
		require.NoError(t, store.CheckBackup(path))
	}
}
