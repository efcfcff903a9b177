package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/posix"
	"appserver/test/sample"
)

// old returns a line without an ordinal, as older versions wrote it.
func old(n int) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.678Z","type":"event_msg","payload":{"n":%d}}`, n) + "\n"
}

func numbered(ordinal int) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":%d,"type":"event_msg","payload":{"n":%d}}`,
		ordinal, ordinal) + "\n"
}

func kinds(s rollout.Report) []rollout.FindingKind {
	all := []rollout.FindingKind{}
	for _, f := range s.Findings {
		all = append(all, f.Kind)
	}
	return all
}

// ailments lists defects within a file of thread A.
var ailments = map[string]struct {
	content string
	want    []rollout.FindingKind
	// left lists the findings that a repair keeps.
	left []rollout.FindingKind
}{
	"sound":            {metaLine + numbered(1), nil, nil},
	"older, and sound": {metaOfA + old(1) + old(2), nil, nil},
	"empty":            {"", []rollout.FindingKind{rollout.FoundEmpty}, []rollout.FindingKind{rollout.FoundEmpty}},
	"torn":             {metaLine + numbered(1) + `{"timestamp":`, []rollout.FindingKind{rollout.FoundTorn}, nil},
	"no LF":            {metaLine + strings.TrimSpace(numbered(1)), []rollout.FindingKind{rollout.FoundUnended}, nil},
	"middle":           {metaLine + "?\n" + numbered(2), []rollout.FindingKind{rollout.FoundDamage}, nil},
	"older, in middle": {metaOfA + old(1) + "[]\n{\n" + old(4),
		[]rollout.FindingKind{rollout.FoundDamage, rollout.FoundDamage}, nil},
	"at the end":         {metaLine + numbered(1) + "{}\n", []rollout.FindingKind{rollout.FoundDamage}, nil},
	"nothing but damage": {"?\n", []rollout.FindingKind{rollout.FoundDamage, rollout.FoundNoMeta}, nil},
	"first line damaged": {"\x00\n" + contextLine + numbered(4),
		[]rollout.FindingKind{rollout.FoundDamage, rollout.FoundNoMeta}, nil},
	"first line missing": {numbered(1) + numbered(2), []rollout.FindingKind{rollout.FoundNoMeta}, nil},
	"no room for it": {old(0) + old(1), []rollout.FindingKind{rollout.FoundNoMeta},
		[]rollout.FindingKind{rollout.FoundNoMeta}},
	"mark": {"\ufeff" + metaLine + numbered(1), []rollout.FindingKind{rollout.FoundMark}, nil},
	"CRLF": {strings.ReplaceAll(metaLine+numbered(1), "\n", "\r\n"),
		[]rollout.FindingKind{rollout.FoundCRLF}, nil},
	"twice": {metaLine + numbered(1) + numbered(1), []rollout.FindingKind{rollout.FoundTwice},
		[]rollout.FindingKind{rollout.FoundTwice}},
	"disorder": {metaLine + numbered(3) + numbered(2), []rollout.FindingKind{rollout.FoundDisorder},
		[]rollout.FindingKind{rollout.FoundDisorder}},
	"another's": {strings.ReplaceAll(metaLine, threadA, threadB), []rollout.FindingKind{rollout.FoundForeign},
		[]rollout.FindingKind{rollout.FoundForeign}},
	"everything": {"\ufeff?\r\n" + strings.TrimSpace(numbered(5)) + "\r\n" + numbered(5) + numbered(2) + `{"ty`,
		[]rollout.FindingKind{
			rollout.FoundMark, rollout.FoundCRLF, rollout.FoundDamage, rollout.FoundTwice, rollout.FoundDisorder,
			rollout.FoundTorn, rollout.FoundNoMeta},
		[]rollout.FindingKind{rollout.FoundTwice, rollout.FoundDisorder}},
}

func TestVerifyFindsDamageAndRepairRemovesIt(t *testing.T) {
	for name, c := range ailments {
		t.Run(name, func(t *testing.T) {
			store, mem := memStore()
			path := put(t, mem, store.PathFor(threadA, begin), c.content)
			require.ElementsMatch(t, c.want, kinds(store.Verify(path)))
			require.Equal(t, c.content, get(t, mem, path), "to look changes nothing")
			requireRepaired(t, store, mem, path)
			require.ElementsMatch(t, c.left, kinds(store.Verify(path)))
		})
	}
}

// requireRepaired repairs a file. The file loads as before, has nothing left to repair, and
// its original is kept.
func requireRepaired(t require.TestingT, store *rollout.Store, mem *faultfs.Mem, path string) rollout.Repaired {
	before, err := store.Read(path)
	require.NoError(t, err)
	was := content(t, mem, path)
	done, err := store.Repair(path)
	require.NoError(t, err)
	require.Empty(t, mem.Held())
	after, err := store.Read(path)
	require.NoError(t, err)
	requireSameLoad(t, before, after)
	require.False(t, store.Verify(path).Repairable())
	require.GreaterOrEqual(t, after.Size, before.Size, "never shorter")
	if done.Kept == "" {
		require.Equal(t, was, content(t, mem, path), "nothing to repair, nothing changed")
		return done
	}
	require.Equal(t, was, content(t, mem, done.Kept))
	return done
}

// requireSameLoad ignores lines that a repair adds.
func requireSameLoad(t require.TestingT, before, after *rollout.Contents) {
	lines := after.Lines
	isMeta := func(l protocol.RolloutLine) bool { return l.Type == protocol.LineSessionMeta }
	if !slices.ContainsFunc(before.Lines, isMeta) && len(lines) > 0 && isMeta(lines[0]) {
		lines = lines[1:]
	}
	if n := len(lines) - 1; n == len(before.Lines) && lines[n].Type == protocol.LineRepaired {
		lines = lines[:n]
	}
	require.Equal(t, len(before.Lines), len(lines))
	for i := range lines {
		require.Equal(t, before.Lines[i], lines[i])
	}
	require.Equal(t, before.Next, after.Next)
	require.Equal(t, before.Backup.Joined, after.Backup.Joined)
}

func content(t require.TestingT, disk rollout.FS, path string) string {
	f, err := disk.OpenFile(path, 0, 0)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	data := make([]byte, info.Size())
	if len(data) > 0 {
		_, err = f.ReadAt(data, 0)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	return string(data)
}

func TestNoOrdinalIsGivenTwice(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+numbered(7)+numbered(2))
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.EqualValues(t, 8, contents.Next)
}

func TestRepairKeepsTheDamagedFile(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+"first\n"+numbered(2)+"second\n"+`{"torn`)
	put(t, mem, path+".orig", "mine")
	put(t, mem, path+".lost", "mine too")
	done := requireRepaired(t, store, mem, path)
	require.Equal(t, path+".orig.1", done.Kept)
	require.Equal(t, path+".lost.1", done.Lost)
	require.Equal(t, "first\nsecond\n{\"torn\n", get(t, mem, done.Lost))
	require.Equal(t, "mine", get(t, mem, path+".orig"))
	require.Equal(t, "mine too", get(t, mem, path+".lost"))
	require.NotContains(t, mem.Files(home), path+".tmp")
	again, err := store.Repair(path)
	require.NoError(t, err)
	require.Empty(t, again.Kept)
}

func TestRepairKeepsTheOrderOfLines(t *testing.T) {
	store, mem := memStore()
	content := metaLine + "damaged, and rather longer than what takes its place\n" + numbered(2) + numbered(3)
	path := put(t, mem, store.PathFor(threadA, begin), content)
	requireRepaired(t, store, mem, path)
	require.Equal(t, strings.Index(content, numbered(2)), strings.Index(get(t, mem, path), numbered(2)))
}

func TestRepairGivesAFileWithoutAnIDItsName(t *testing.T) {
	store, mem := memStore()
	dir := strings.TrimSuffix(store.PathFor(threadA, begin), "/rollout-2026-01-02T03-04-05-"+threadA+".jsonl")
	path := put(t, mem, dir+"/copy of a thread.jsonl", metaLine+numbered(1))
	survey := store.Verify(path)
	require.Equal(t, []rollout.FindingKind{rollout.FoundName}, kinds(survey))
	require.Equal(t, threadA, survey.ThreadID)
	done, err := store.Repair(path)
	require.NoError(t, err)
	found, err := store.Find(threadA)
	require.NoError(t, err)
	require.Equal(t, done.To, found)
	require.NotContains(t, mem.Files(home), path)
	require.Equal(t, metaLine+numbered(1), get(t, mem, done.Kept))

	second := put(t, mem, dir+"/another copy.jsonl", metaLine+numbered(1))
	_, err = store.Repair(second)
	require.ErrorIs(t, err, os.ErrExist, "no rollout is overwritten")
	nameless := put(t, mem, dir+"/none.jsonl", numbered(1)+"?\n")
	_, err = store.Repair(nameless)
	var name *rollout.NameError
	require.ErrorAs(t, err, &name)
}

func TestRepairOfARewrittenFileKeepsItsBackup(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(1, 9)...))
	backup := get(t, mem, path+".bak")
	write(t, mem, path, "damage\n"+numbered(20)+`{"torn`)
	requireRepaired(t, store, mem, path)
	require.Equal(t, backup, get(t, mem, path+".bak"))
	require.NoError(t, store.CheckBackup(path))
	require.NoError(t, appendAndClose(t, store, path, evenOnly, line(30)))
}

func TestABackupOfAnotherThreadIsFound(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+numbered(1))
	put(t, mem, path+".bak", strings.ReplaceAll(metaLine, threadA, threadB))
	survey := store.Verify(path)
	require.Equal(t, []rollout.FindingKind{rollout.FoundBackup}, kinds(survey))
	require.Contains(t, survey.Findings[0].Message, "is not an earlier state of this rollout")
	require.False(t, survey.Repairable())
}

func TestVerifyFindsPathsThatAreNoFiles(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	loop := dir + "/loop-" + threadA + ".jsonl"
	require.NoError(t, os.Symlink(loop, loop))
	fifo := dir + "/fifo.jsonl"
	require.NoError(t, posix.Mkfifo(fifo, 0o600))
	for path, want := range map[string]rollout.FindingKind{loop: rollout.FoundLoop, fifo: rollout.FoundSpecial,
		dir: rollout.FoundSpecial, dir + "/gone": rollout.FoundUnreadable} {
		survey := store.Verify(path)
		require.Equal(t, []rollout.FindingKind{want}, kinds(survey), path)
		require.Contains(t, survey.Findings[0].Message, path)
		done, err := store.Repair(path)
		require.NoError(t, err)
		require.Empty(t, done.Kept)
	}
}

func TestRepairHeedsTheLock(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+"?\n")
	log, _, err := store.Open(path)
	require.NoError(t, err)
	_, err = store.Repair(path)
	var locked *rollout.LockedError
	require.ErrorAs(t, err, &locked)
	require.NoError(t, log.Close())
	require.Equal(t, metaLine+"?\n", get(t, mem, path))
}

func TestALinkIsNotRepaired(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	file := put(t, rollout.OS(), dir+"/elsewhere", metaLine+"?\n")
	path := store.PathFor(threadA, begin)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(file, path))
	_, err := store.Repair(path)
	require.ErrorContains(t, err, "it is a symbolic link")
	require.Equal(t, metaLine+"?\n", get(t, rollout.OS(), path))
}

// TestARepairedFileLoadsAsTheDamagedOne draws files of sound and damaged lines.
func TestARepairedFileLoadsAsTheDamagedOne(t *testing.T) {
	sample.Check(t, func(r *rapid.T) {
		pieces := []string{metaLine, metaOfA, contextLine, old(1), "?\n", "\n", "  \n", "{}\n", "[1]\r\n",
			`{"type":"x","payload":1,"ordinal":-4}` + "\r\n", "\ufeff\n", "\x00\x00\n",
			"\x00\x00" + metaLine, `{"timestamp":"cu` + userLine("a"), strings.TrimSpace(metaLine) + userLine("b"),
			strings.TrimSpace(metaLine) + "\x00" + `{"timestamp":` + "\n",
			`{"type":"context_backup","payload":{"bytes":0,"crc32c":0}}` +
				"\n", `{"type":"context_backup","payload":{"bytes":9,"crc32c":0}}` + "\n", `{"torn`}
		text := rapid.SampledFrom([]string{"", "\ufeff", metaLine}).Draw(r, "begin")
		for range rapid.IntRange(0, 12).Draw(r, "lines") {
			if rapid.Bool().Draw(r, "numbered") {
				text += numbered(rapid.IntRange(0, 15).Draw(r, "ordinal"))
			} else {
				text += rapid.SampledFrom(pieces).Draw(r, "piece")
			}
		}
		if rapid.Bool().Draw(r, "cut") {
			text = text[:rapid.IntRange(0, len(text)).Draw(r, "at")]
		}
		mem := faultfs.NewMem(home)
		store := rollout.NewStore(mem, home)
		path := store.PathFor(threadA, begin)
		require.NoError(r, mem.MkdirAll(filepath.Dir(path), 0o700))
		f, err := mem.OpenFile(path, createNew, 0o600)
		require.NoError(r, err)
		_, err = f.Write([]byte(text))
		require.NoError(r, err)
		require.NoError(r, f.Close())
		requireRepaired(r, store, mem, path)
	})
}

// TestRepairRecoversFromFaults fails each operation, and crashes after each.
func TestRepairRecoversFromFaults(t *testing.T) {
	text := "\ufeff" + metaLine + "?\n" + numbered(2) + `{"torn`
	for n, hit := 0, true; hit; n++ {
		mem := faultfs.NewMem(home)
		path := newRewrites(t, mem, mem).path
		require.NoError(t, mem.Remove(path))
		put(t, mem, path, text)
		syncFile(t, mem, path)
		want, err := rollout.NewStore(mem, home).Read(path)
		require.NoError(t, err)
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.EIO, Partial: n%2 == 0})
		chance := rand.New(rand.NewPCG(uint64(n), 3))
		_, err = rollout.NewStore(&watched{FS: disk, then: func() {
			got, err := rollout.NewStore(mem.CrashClone(chance), home).Read(path)
			require.NoError(t, err)
			requireSameLoad(t, want, got)
		}}, home).Repair(path)
		hit = disk.Failures() > 0
		got, readErr := rollout.NewStore(mem, home).Read(path)
		require.NoError(t, readErr)
		requireSameLoad(t, want, got)
		require.Empty(t, mem.Held())
		if err != nil && strings.HasPrefix(get(t, mem, path), "\ufeff") {
			require.Equal(t, text, get(t, mem, path))
		}
		require.NotContains(t, mem.Files(home), path+".tmp")
		done, err := rollout.NewStore(mem, home).Repair(path)
		require.NoError(t, err)
		if done.Kept != "" {
			require.Equal(t, text, get(t, mem, done.Kept))
		}
	}
}

func syncFile(t *testing.T, disk rollout.FS, path string) {
	t.Helper()
	f, err := disk.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	require.NoError(t, disk.SyncDir(filepath.Dir(path)))
}
