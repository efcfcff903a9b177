package rollout_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// hiding is a Redactor that removes a word.
type hiding string

func (h hiding) Line(line protocol.RolloutLine) protocol.RolloutLine {
	line.Payload = bytes.ReplaceAll(line.Payload, []byte(h), []byte("[gone]"))
	return line
}

func (h hiding) Text(text string) string { return strings.ReplaceAll(text, string(h), "[gone]") }

func secretLine(ordinal int) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":%d,"type":"event_msg",`+
		`"payload":{"n":%d,"text":"pssst"},"more":1}`, ordinal, ordinal) + "\n"
}

// everywhere returns the content of all files of a home.
func everywhere(t *testing.T, mem *faultfs.Mem) string {
	t.Helper()
	var all strings.Builder
	for _, path := range mem.Files(home) {
		all.WriteString(get(t, mem, path))
	}
	return all.String()
}

func TestRedactTakesSecretsOutOfEveryLine(t *testing.T) {
	for name, content := range map[string]string{
		"one":        metaLine + secretLine(1) + numbered(2),
		"damaged":    metaLine + "pssst?\n" + numbered(2) + secretLine(3) + `{"torn":"pssst`,
		"older":      "\ufeff" + metaOfA + strings.ReplaceAll(old(1), `"n"`, `"pssst"`) + "\r\n" + old(2),
		"no LF":      metaLine + strings.TrimSpace(secretLine(1)),
		"disordered": metaLine + secretLine(3) + secretLine(2) + secretLine(2),
		"whole again": metaLine + secretLine(1) + `{"type":"context_backup","ordinal":2,"payload":{"bytes":0,"crc32c":0}}` +
			"\n" + secretLine(3),
	} {
		t.Run(name, func(t *testing.T) {
			store, mem := memStore()
			path := put(t, mem, store.PathFor(threadA, begin), content)
			before, err := store.Read(path)
			require.NoError(t, err)
			told, err := store.Redact(path, hiding("pssst"), false)
			require.NoError(t, err)
			require.Equal(t, content, get(t, mem, path), "only told")
			require.Equal(t, len(strings.Split(content, "pssst"))-1, told.Lines)
			done, err := store.Redact(path, hiding("pssst"), true)
			require.NoError(t, err)
			require.Equal(t, told, done)
			require.NotContains(t, everywhere(t, mem), "pssst")
			require.Equal(t, []string{path}, rolloutsIn(mem))
			require.Empty(t, mem.Held())
			requireRedacted(t, before, store, path)
			again, err := store.Redact(path, hiding("pssst"), true)
			require.NoError(t, err)
			require.Zero(t, again.Lines)
		})
	}
}

func rolloutsIn(mem *faultfs.Mem) (paths []string) {
	for _, path := range mem.Files(home) {
		if strings.Contains(path, "rollout-") {
			paths = append(paths, path)
		}
	}
	return paths
}

// requireRedacted compares a thread with its former content.
func requireRedacted(t *testing.T, before *rollout.Contents, store *rollout.Store, path string) {
	t.Helper()
	after, err := store.Read(path)
	require.NoError(t, err)
	require.NoError(t, after.Backup.Err)
	require.Equal(t, len(before.Damage), len(after.Damage))
	require.Equal(t, before.Torn, after.Torn)
	require.GreaterOrEqual(t, after.Next, before.Next)
	for i, line := range before.Lines {
		require.Equal(t, hiding("pssst").Line(line), after.Lines[i])
	}
}

func TestRedactMakesARewrittenFileWhole(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+secretLine(1))
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(2, 9)...))
	require.Contains(t, get(t, mem, path+".bak"), "pssst", "excluded, and in the backup only")
	require.NotContains(t, get(t, mem, path), "pssst")
	before, err := store.Read(path)
	require.NoError(t, err)
	done, err := store.Redact(path, hiding("pssst"), true)
	require.NoError(t, err)
	require.Equal(t, path+".bak", done.Removed)
	require.NotContains(t, everywhere(t, mem), "pssst")
	requireRedacted(t, before, store, path)
	require.NoError(t, appendAndClose(t, store, path, evenOnly, line(30)), "it can be rewritten again")
	require.NoError(t, store.CheckBackup(path))
}

func TestRedactRefuses(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+secretLine(1))
	log, _, err := store.Open(path)
	require.NoError(t, err)
	_, err = store.Redact(path, hiding("pssst"), true)
	var locked *rollout.LockedError
	require.ErrorAs(t, err, &locked)
	require.NoError(t, log.Close())
	put(t, mem, path+".bak", strings.ReplaceAll(metaLine, threadA, threadB))
	_, err = store.Redact(path, hiding("pssst"), true)
	require.ErrorContains(t, err, "is not an earlier state of this rollout", "another's backup is not removed")
	_, err = store.Redact("/notes.jsonl", hiding("pssst"), true)
	var name *rollout.NameError
	require.ErrorAs(t, err, &name)
}

// TestRedactionRecoversFromFaults fails each operation, and crashes after each. The thread is
// complete at any moment, and a second call finds all secrets.
func TestRedactionRecoversFromFaults(t *testing.T) {
	for n, hit := 0, true; hit; n++ {
		mem := faultfs.NewMem(home)
		path := newRewrites(t, mem, mem).path
		sound := rollout.NewStore(mem, home)
		require.NoError(t, mem.Remove(path))
		put(t, mem, path, metaLine+secretLine(1)+numbered(2))
		require.NoError(t, appendAndClose(t, sound, path, evenOnly, linesFrom(3, 6)...))
		syncFile(t, mem, path)
		put(t, mem, path+".orig", metaLine+secretLine(1)+"pssst")
		require.NoError(t, sound.AppendName(threadA, "a pssst", begin))
		require.NoError(t, sound.AppendName(threadB, "a name", begin))
		before, err := sound.Read(path)
		require.NoError(t, err)
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.EIO, Partial: n%2 == 0})
		chance := rand.New(rand.NewPCG(uint64(n), 3))
		_, _ = rollout.NewStore(&watched{FS: disk, then: func() {
			clone := mem.CrashClone(chance)
			got, err := rollout.NewStore(clone, home).Read(path)
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(got.Lines), len(before.Lines))
			names, err := rollout.NewStore(clone, home).Names()
			require.NoError(t, err)
			require.Equal(t, "a name", names[threadB])
		}}, home).Redact(path, hiding("pssst"), true)
		hit = disk.Failures() > 0
		require.Empty(t, mem.Held())
		_, err = sound.Redact(path, hiding("pssst"), true)
		require.NoError(t, err, "failing operation %d", n)
		require.NotContains(t, everywhere(t, mem), "pssst", "failing operation %d", n)
		requireRedacted(t, before, sound, path)
		names, err := sound.Names()
		require.NoError(t, err)
		require.Equal(t, map[string]string{threadA: "a [gone]", threadB: "a name"}, names)
	}
}

// TestRedactCleansCopiesAndNames has files of Repair and of a rewrite, malformed lines, and
// names of other threads.
func TestRedactCleansCopiesAndNames(t *testing.T) {
	dir := t.TempDir()
	disk := rollout.OS()
	store := rollout.NewStore(disk, dir)
	path := put(t, disk, store.PathFor(threadA, begin), metaLine+numbered(1))
	unordered := strings.ReplaceAll(secretLine(7), `"ordinal":7,`, "")
	orig := put(t, disk, path+".orig", "\ufeff"+metaLine+unordered+"pssst?\r\n"+numbered(2)+`{"torn":"pssst`)
	lost := put(t, disk, path+".lost.1", "\x00pssst\n")
	put(t, disk, path+".tmp", secretLine(3))
	sound := put(t, disk, path+".bak.old", numbered(2))
	require.NoError(t, os.Symlink("/nowhere", path+".link"))
	require.NoError(t, os.Mkdir(path+".d", 0o700))
	names := put(t, disk, filepath.Join(dir, "session_index.jsonl"),
		`{"id":"`+threadA+`","thread_name":"old pssst","more":{"thread_name":1}}`+"\n"+
			`{"id":"`+threadB+`","thread_name":"pssst"}`+"\n"+`pssst`+"\n"+`{"Thread_Name":"pssst","ID":"`+threadA+`"}`)

	told, err := store.Redact(path, hiding("pssst"), false)
	require.NoError(t, err)
	require.True(t, told.Found())
	require.Zero(t, told.Lines)
	require.Equal(t, 2, told.Names)
	require.Equal(t, []rollout.RedactedCopy{{Path: lost, Lines: 1}, {Path: orig, Lines: 3},
		{Path: path + ".tmp", Lines: 1}}, told.Copies)
	require.Equal(t, []string{path + ".d", path + ".link"}, told.Beside)
	require.FileExists(t, path+".tmp", "it was only told")

	done, err := store.Redact(path, hiding("pssst"), true)
	require.NoError(t, err)
	require.Equal(t, told, done)
	require.Equal(t, "\ufeff"+metaLine+strings.ReplaceAll(unordered, "pssst",
		"[gone]")+"[gone]?\r\n"+numbered(2)+`{"torn":"[gone]`, get(t, disk, orig))
	require.Equal(t, "\x00[gone]\n", get(t, disk, lost))
	require.Equal(t, numbered(2), get(t, disk, sound))
	require.NoFileExists(t, path+".tmp")
	require.Equal(t, `{"id":"`+threadA+`","thread_name":"old [gone]","more":{"thread_name":1}}`+"\n"+
		`{"id":"`+threadB+`","thread_name":"pssst"}`+"\n"+`pssst`+"\n"+`{"id":"`+threadA+`","thread_name":"[gone]",`+
		`"updated_at":""}`+"\n", get(t, disk, names))
	again, err := store.Redact(path, hiding("pssst"), true)
	require.NoError(t, err)
	require.False(t, again.Found())
}
