package rollout_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// compressAll compresses all threads of a store and requires that it compressed n files.
func compressAll(t *testing.T, store *rollout.Store, n int) rollout.Compression {
	t.Helper()
	done := store.Compress(context.Background(), rollout.CompressQuery{}, store.CompressThread)
	paths := 0
	for _, c := range done.Compressed {
		paths += len(c.Paths)
	}
	require.Equal(t, n, paths, done)
	return done
}

// cut changes the length of a file.
func cut(t *testing.T, path string, by int64) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()+by))
}

func TestACompressedThreadIsThatOfThePlainFile(t *testing.T) {
	dir := t.TempDir()
	store, path := rewrittenThread(t, rollout.OS(), dir)
	put(t, rollout.OS(), store.PathFor(threadB, begin), strings.ReplaceAll(metaLine, threadA, threadB)+userLine("hello")+
		"no JSON\n"+strings.Repeat(contextLine, 2000)+`{"timestamp":"torn`)
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(path, at, at))
	type state struct {
		Read, Other *rollout.Contents
		Verified    rollout.Report
		List        rollout.Page
		Loaded      int
	}
	look := func() (s state) {
		var err error
		s.Read, err = store.Read(path)
		require.NoError(t, err)
		s.Other, err = store.Read(store.PathFor(threadB, begin))
		require.NoError(t, err)
		s.Verified = store.Verify(path)
		require.NoError(t, store.CheckBackup(path))
		s.List, err = rollout.NewStore(rollout.OS(), dir).List(rollout.Query{Unlisted: true, SortKey: rollout.SortUpdated})
		require.NoError(t, err)
		s.Loaded = load(t, store, path)
		return s
	}
	before := look()
	require.Len(t, before.List.Heads, 2)
	done := compressAll(t, store, 2)
	require.Empty(t, done.Kept)
	require.Less(t, done.After, done.Before)
	for _, gone := range []string{path, path + ".bak", store.PathFor(threadB, begin)} {
		require.NoFileExists(t, gone)
		require.FileExists(t, gone+".zst")
	}
	require.Equal(t, before, look())
	compressAll(t, store, 0)

	found, err := store.Find(threadA)
	require.NoError(t, err)
	require.Equal(t, path, found)
	require.Equal(t, threadA, rollout.ThreadID(path+".zst"))
}

func TestACompressedThreadIsChangedAsAPlainOne(t *testing.T) {
	dir := t.TempDir()
	store, path := rewrittenThread(t, rollout.OS(), dir)
	compressAll(t, store, 1)

	archived, err := store.Archive(path)
	require.NoError(t, err)
	require.FileExists(t, archived+".zst")
	require.FileExists(t, archived+".bak.zst")
	path, err = store.Unarchive(archived + ".zst")
	require.NoError(t, err)
	require.FileExists(t, path+".zst")
	require.NoFileExists(t, archived+".zst")

	require.NoError(t, appendAndClose(t, store, path+".zst", evenOnly, line(6)), "the stored name is a name of the thread")
	read, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, numbers(read))
	require.NoFileExists(t, path+".zst")

	compressAll(t, store, 1)
	redacted, err := store.Redact(path, hiding("longer"), true)
	require.NoError(t, err)
	require.Positive(t, redacted.Lines)
	require.NoFileExists(t, path+".zst")
	require.NoFileExists(t, path+".bak.zst")
	require.NotContains(t, get(t, rollout.OS(), path), "longer")

	compressAll(t, store, 1)
	require.NoError(t, store.Delete(threadA))
	require.Empty(t, filesBelow(t, filepath.Join(dir, "sessions")))
}

func TestAThreadWithAWriterIsNotCompressed(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	log, _, err := store.Open(path)
	require.NoError(t, err)
	done := compressAll(t, store, 0)
	require.Len(t, done.Kept, 1)
	require.Equal(t, threadA, done.Kept[0].ID)
	require.Contains(t, done.Kept[0].Reason, "already has an active writer")
	require.NoError(t, log.Append(linesFrom(6, 7), true))
	require.NoError(t, log.Close())
	compressAll(t, store, 1)
}

func TestOnlyOldFilesOfChosenThreadsAreCompressed(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	old := time.Now().Add(-rollout.CompressAge - time.Hour)
	for n := range 3 {
		path := put(t, rollout.OS(), store.PathFor(idOf(n), begin), metaLine+strings.Repeat(userLine("hello"), 20))
		if n > 0 {
			require.NoError(t, os.Chtimes(path, old, old))
		}
	}
	query := rollout.CompressQuery{Before: time.Now().Add(-rollout.CompressAge), Threads: []string{idOf(0), idOf(1)}}
	require.Len(t, store.Compress(context.Background(), query, nil).Compressed, 1)
	done := store.Compress(context.Background(), query, store.CompressThread)
	require.Len(t, done.Compressed, 1)
	require.Equal(t, idOf(1), done.Compressed[0].ID)
	require.Len(t, filesBelow(t, dir), 3)
}

func TestADamagedCompressedThreadIsReadAndRepaired(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	var content strings.Builder
	content.WriteString(metaLine + userLine("hello"))
	for n := range 10_000 {
		fmt.Fprintf(&content, `{"timestamp":"2026-01-02T03:04:05Z","type":"event_msg","payload":{"type":"test","n":%d}}`+"\n", n)
	}
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), content.String())
	sound := put(t, rollout.OS(), store.PathFor(threadB, begin),
		strings.ReplaceAll(metaLine, threadA, threadB)+userLine(strings.Repeat("sound ", 99)))
	compressAll(t, store, 2)
	cut(t, path+".zst", -2000)
	stored := get(t, rollout.OS(), path+".zst")

	read, err := store.Read(path)
	require.NoError(t, err)
	require.Greater(t, len(read.Lines), 1000)
	last := read.Damage[len(read.Damage)-1]
	require.Contains(t, last.Reason, "its compression is damaged after")
	require.Equal(t, read.Size, last.Offset)
	page, err := store.List(rollout.Query{})
	require.NoError(t, err)
	require.Len(t, page.Heads, 2, "the other threads are listed as before")
	require.Empty(t, page.Skipped)
	require.Empty(t, store.Verify(sound).Findings)

	report := store.Verify(path)
	require.True(t, report.Repairable())
	require.Equal(t, rollout.FindingKind("damagedCompression"), report.Findings[len(report.Findings)-1].Kind)
	_, err = store.Redact(path, hiding("hello"), true)
	require.ErrorContains(t, err, "appserver rollout repair")
	require.Equal(t, stored, get(t, rollout.OS(), path+".zst"))

	done, err := store.Repair(path)
	require.NoError(t, err)
	require.Equal(t, stored, get(t, rollout.OS(), done.Kept), "the original is kept byte for byte")
	require.Equal(t, path+".orig.zst", done.Kept)
	require.Empty(t, store.Verify(path).Findings)
	again, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, payloads(read.Lines), payloads(again.Lines)[:len(read.Lines)])
}

func TestResumingADamagedCompressedThreadReportsAndKeepsIt(t *testing.T) {
	store := rollout.NewStore(rollout.OS(), t.TempDir())
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine+strings.Repeat(userLine("hello"), 9))
	compressAll(t, store, 1)
	f, err := os.OpenFile(path+".zst", os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString("rubbish")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	stored := get(t, rollout.OS(), path+".zst")

	log, contents, err := store.Open(path)
	require.NoError(t, err)
	require.Len(t, contents.Lines, 10)
	require.Len(t, contents.Damage, 1)
	require.Contains(t, contents.Damage[0].Reason, "its compression is damaged")
	require.NoError(t, log.Append(linesFrom(10, 11), true))
	require.NoError(t, log.Close())
	require.Equal(t, stored, get(t, rollout.OS(), path+".orig.zst"))
	contents, err = store.Read(path)
	require.NoError(t, err)
	require.Len(t, contents.Lines, 11)
	require.Empty(t, contents.Damage)
}

func TestAFileWithoutReadableContentIsAProblemOfThisFileOnly(t *testing.T) {
	store := rollout.NewStore(rollout.OS(), t.TempDir())
	path := put(t, rollout.OS(), store.PathFor(threadA, begin)+".zst", "this is not compressed")
	put(t, rollout.OS(), store.PathFor(threadB, begin), metaLine+userLine("sound"))
	page, err := store.List(rollout.Query{})
	require.NoError(t, err)
	require.Len(t, page.Heads, 1)
	require.Len(t, page.Skipped, 1)
	require.ErrorContains(t, page.Skipped[0], "its compression is damaged")
	require.ErrorContains(t, page.Skipped[0], filepath.Base(store.PathFor(threadA, begin)))
	require.FileExists(t, path)
}

func TestACrashLeftBothForms(t *testing.T) {
	sample.NoRace(t)
	dir := t.TempDir()
	store, path := rewrittenThread(t, rollout.OS(), dir)
	plain := get(t, rollout.OS(), path)
	compressAll(t, store, 1)
	put(t, rollout.OS(), path, plain+`{"type":"event_msg","payload":{"n":6}}`+"\n")
	read, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, numbers(read), "the plain form counts")
	page, err := store.List(rollout.Query{Unlisted: true})
	require.NoError(t, err)
	require.Len(t, page.Heads, 1)

	require.NoError(t, store.RemoveLeftovers())
	require.NoFileExists(t, path+".zst", "the plain form has all of it")
	require.FileExists(t, path+".bak.zst")
}

// compressions is a thread with a backup that is compressed, moved and continued, twice. A failed step is repeated.
type compressions struct{ *moves }

func (s *compressions) run() {
	for round := range 2 {
		s.step(s.compress)
		s.move((*rollout.Store).Archive)
		s.move((*rollout.Store).Unarchive)
		s.step(s.compress)
		n := int64(6 + round)
		s.told = append(s.told, n)
		s.step(func() error { return s.extend(n) })
	}
}

// step repeats a step until it succeeds.
func (s *compressions) step(do func() error) {
	for range mostTries {
		err := do()
		if err == nil {
			return
		}
		s.failed(err)
	}
	require.Fail(s.t, "the disk has healed, but the step never passes")
}

func (s *compressions) compress() (err error) {
	query := rollout.CompressQuery{Threads: []string{threadA}}
	done := s.store.Compress(context.Background(), query, func(t rollout.Compressible) (rollout.CompressedThread, error) {
		one, failed := s.store.CompressThread(t)
		err = failed
		return one, failed
	})
	if len(done.Unread) > 0 {
		return fmt.Errorf("%s: %w", done.Unread[0], syscall.EIO)
	}
	return err
}

// extend appends a line, unless the last attempt has.
func (s *compressions) extend(n int64) error {
	log, contents, err := s.store.Open(s.find(s.sound))
	if err != nil {
		return err
	}
	if got := numbers(contents); got[len(got)-1] != n {
		err = log.Append(linesFrom(int(n), int(n)+1), true)
	}
	if err != nil {
		_ = log.Close()
		return err
	}
	return log.CloseRewritten(evenOnly)
}

// afterCrash reads the thread on another machine, where the last line may not be written yet.
func (s *compressions) afterCrash(mem *faultfs.Mem, what string) {
	store := rollout.NewStore(mem, home)
	contents, err := store.Read(s.find(mem))
	require.NoError(s.t, err, what)
	require.NoError(s.t, contents.Backup.Err, what)
	require.Empty(s.t, contents.Damage, what)
	got := numbers(contents)
	require.GreaterOrEqual(s.t, len(got), len(s.told)-1, what)
	require.Equal(s.t, s.told[:len(got)], got, what)
	require.NoError(s.t, store.FinishMoves(), what)
	require.NoError(s.t, store.RemoveLeftovers(), what)
	heads := 0
	for _, archived := range []bool{false, true} {
		page, err := store.List(rollout.Query{Archived: archived, Unlisted: true})
		require.NoError(s.t, err, what)
		require.Empty(s.t, page.Skipped, what)
		heads += len(page.Heads)
	}
	require.Equal(s.t, 1, heads, what)
	for _, path := range mem.Files(filepath.Join(home, "sessions")) {
		require.NotContains(s.t, path, ".tmp", what)
		require.NotContains(s.t, path, ".orig", what)
	}
	if path := s.find(mem); !store.IsArchived(path) {
		require.NoError(s.t, appendAndClose(s.t, store, path, evenOnly, line(1000)), what)
		contents, err = store.Read(path)
		require.NoError(s.t, err, what)
		require.Equal(s.t, append(got, 1000), numbers(contents), what)
	}
}

func TestACrashInACompressionKeepsTheThreadWhole(t *testing.T) {
	sample.NoRace(t)
	for seed := range uint64(6) {
		crashCompressionWith(t, seed, faultfs.Fault{})
	}
}

func TestACrashInACompressionAfterAFaultKeepsTheThreadWhole(t *testing.T) {
	sample.NoRace(t)
	for n := 0; n < 300; n += 5 * sample.Stride(7) {
		crashCompressionWith(t, uint64(n), faultfs.Fault{First: n, Count: 1 + n%3, Err: syscall.EIO})
	}
}

func crashCompressionWith(t *testing.T, seed uint64, fault faultfs.Fault) {
	mem := faultfs.NewMem(home)
	chance := rand.New(rand.NewPCG(seed, 4))
	disk := &watched{FS: mem, then: func() {}}
	s := &compressions{newMoves(t, mem, faultfs.Wrap(disk, fault))}
	crashes := 0
	disk.then = func() {
		crashes++
		s.afterCrash(mem.CrashClone(chance), fmt.Sprintf("seed %d, fault %d, crash %d", seed, fault.First, crashes))
	}
	s.run()
	require.Greater(t, crashes, 40)
}

func TestEveryOperationOfACompressionMayFail(t *testing.T) {
	sample.NoRace(t)
	for _, f := range []faultfs.Fault{
		{Count: 1, Err: syscall.EROFS}, {Count: 2, Err: syscall.EIO}, {Count: 3, Err: syscall.ENOSPC, Partial: true},
		{Count: 1, Err: syscall.EIO, Only: []faultfs.Op{faultfs.OpSyncDir, faultfs.OpRename, faultfs.OpRemove}},
	} {
		t.Run(fmt.Sprintf("%v %v %d", f.Err, f.Only, f.Count), func(t *testing.T) {
			for hit := true; hit; f.First += sample.Stride(3) {
				mem := faultfs.NewMem(home)
				disk := faultfs.Wrap(mem, f)
				s := &compressions{newMoves(t, mem, disk)}
				s.run()
				s.check(mem, f.First)
				require.Empty(t, mem.Held())
				hit = disk.Failures() > 0
			}
			require.Greater(t, f.First, 20, "the scenario has that many operations")
		})
	}
}
