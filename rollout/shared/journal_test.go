package shared_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/rollout/postgres/pgtest"
	"appserver/rollout/shared"
	"appserver/rollout/store"
	"appserver/test/sample"
)

// TestAFullDiskLosesNoLineOfALoadedThread fills the disk of the copies while a thread is written. The copy
// then gets the lines that it lacks from memory.
func TestAFullDiskLosesNoLineOfALoadedThread(t *testing.T) {
	full := faultfs.Wrap(rollout.OS(), faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, First: 1, Count: -1,
		Err: syscall.ENOSPC})
	node, _, reported := hookedNode(t, pgtest.Database(t), onDisk(full))
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "one"), true))
	reader := journal.LineReader()
	for n, text := range []string{"two", "three"} {
		require.NoError(t, journal.Append(texts(int64(n+1), text), true), "the database has it")
		require.JSONEq(t, string(texts(0, "one")[0].Payload), string(reader.Payload(0)))
	}
	require.Equal(t, 1, reported.count())
	require.Equal(t, 1, reader.Lines())
	full.Heal()
	require.NoError(t, journal.Append(texts(3, "four"), true))
	require.Same(t, reader, journal.LineReader())
	require.Equal(t, 4, reader.Lines())
	require.JSONEq(t, string(texts(2, "three")[0].Payload), string(reader.Payload(2)))
	require.NoError(t, reader.Err())
	require.NoError(t, journal.Close())
	require.Equal(t, []string{"one", "two", "three", "four"}, read(t, node))
}

// TestAFullDiskDoesNotPreventANewThread fills the disk before the first line of a thread.
func TestAFullDiskDoesNotPreventANewThread(t *testing.T) {
	full := faultfs.Wrap(rollout.OS(), faultfs.Fault{Only: []faultfs.Op{faultfs.OpOpen}, Count: -1, Err: syscall.ENOSPC})
	node, _, reported := hookedNode(t, pgtest.Database(t), onDisk(full))
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "one"), true))
	require.Equal(t, 1, reported.count())
	full.Heal()
	require.NoError(t, journal.Append(texts(1, "two"), true))
	require.Equal(t, 2, journal.LineReader().Lines())
	require.NoError(t, journal.Close())
	require.Equal(t, []string{"one", "two"}, read(t, node))
}

// TestTheCopyOfAForkIsBegunAgainWithAllLines has another process of the home hold the lock of a fork's copy, and end
// before it writes the copy.
func TestTheCopyOfAForkIsBegunAgainWithAllLines(t *testing.T) {
	sample.Long(t)
	node, _, reported := hookedNode(t, pgtest.Database(t), func(o *shared.Options) { o.Timeout = 2 * time.Second })
	origin := threadID[:len(threadID)-1] + "2"
	journal, err := node.Begin(origin, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "left out", "one"), true))
	require.NoError(t, journal.Close())
	_, text, err := node.Load(store.Ref{ID: origin}, &rollout.LineList{})
	require.NoError(t, err)
	seed := &rollout.Seed{First: texts(0, "zero")[0], From: text, Ordinals: []int64{0, 1},
		Choose: func(line protocol.RolloutLine) (protocol.RolloutLine, bool) { return line, *line.Ordinal > 0 }}
	lock, err := rollout.NewStore(rollout.OS(), node.Copies).Lock(threadID)
	require.NoError(t, err)
	journal, err = node.Begin(threadID, time.Now(), seed)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(2, "two"), true), "the database has it")
	require.Equal(t, 1, reported.count())
	require.NoError(t, lock.Release())
	require.NoError(t, journal.Append(texts(3, "three"), true))
	require.Equal(t, []string{"zero", "one", "two", "three"}, read(t, node), "while the journal is open")
	require.Same(t, text, journal.LineReader())
	require.JSONEq(t, string(texts(1, "one")[0].Payload), string(text.Payload(1)))
	require.NoError(t, journal.Close())
	require.Equal(t, []string{"zero", "one", "two", "three"}, read(t, node))
}

// TestLinesThatAFailoverLostAreNotServedFromTheCopy removes the last line of a thread from the database, as a
// failover to a standby without it does. It then removes all of them.
func TestLinesThatAFailoverLostAreNotServedFromTheCopy(t *testing.T) {
	url := pgtest.Database(t)
	node, _, _ := hookedNode(t, url, nil)
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "one", "two"), true))
	pgtest.Exec(t, url, "UPDATE thread SET next = 1", "DELETE FROM line WHERE ordinal = 1")
	var lost *store.LostError
	require.ErrorAs(t, journal.Append(texts(2, "three"), true), &lost)
	require.NoError(t, journal.Close())
	require.Equal(t, []string{"one"}, read(t, node))
	journal, _, err = node.Open(store.Ref{ID: threadID}, &rollout.LineList{})
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(1, "zwei"), true))
	require.Equal(t, []string{"one", "zwei"}, read(t, node))
	pgtest.Exec(t, url, "DELETE FROM thread", "DELETE FROM line")
	require.ErrorAs(t, journal.Append(texts(2, "three"), true), &lost)
	require.NoError(t, journal.Close())
}

// TestACopyThatAnotherProcessWritesIsReadWhenItIsComplete holds the lock of a copy, as another process of the
// same home does while it fetches the lines or appends one.
func TestACopyThatAnotherProcessWritesIsReadWhenItIsComplete(t *testing.T) {
	sample.Long(t)
	node, _, _ := hookedNode(t, pgtest.Database(t), func(o *shared.Options) { o.Timeout = 2 * time.Second })
	keep(t, node, "one", "two")
	paths, err := filepath.Glob(filepath.Join(node.Copies, "sessions", "*", "*", "*", "*.jsonl"))
	require.NoError(t, err)
	whole, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	half := whole[:bytes.IndexByte(whole, '\n')+1]
	lock, err := rollout.NewStore(rollout.OS(), node.Copies).Lock(threadID)
	require.NoError(t, err)
	for _, written := range [][]byte{half, whole[:len(whole)-5], nil} {
		require.NoError(t, os.Remove(paths[0]))
		if written != nil {
			require.NoError(t, os.WriteFile(paths[0], written, 0o600))
		}
		var unavailable *store.UnavailableError
		_, _, err = node.Load(store.Ref{ID: threadID}, &rollout.LineList{})
		require.ErrorAs(t, err, &unavailable)
		_, _, err = node.Open(store.Ref{ID: threadID}, &rollout.LineList{})
		require.ErrorAs(t, err, &unavailable)
		left, err := os.ReadFile(paths[0])
		require.Equal(t, written == nil, err != nil)
		require.Equal(t, string(written), string(left), "it belongs to the other process")
		require.NoError(t, os.WriteFile(paths[0], whole, 0o600))
		require.Equal(t, []string{"one", "two"}, read(t, node), "it is complete")
	}
	require.NoError(t, lock.Release())
	require.NoError(t, os.WriteFile(paths[0], half, 0o600))
	require.Equal(t, []string{"one", "two"}, read(t, node))
}

// TestAThreadIsOpenedAsItsFormerOwnerLeftIt lets another node write a thread, and then archive it, just before
// this node takes it.
func TestAThreadIsOpenedAsItsFormerOwnerLeftIt(t *testing.T) {
	url := pgtest.Database(t)
	other, _, _ := hookedNode(t, url, nil)
	node, driver, _ := hookedNode(t, url, nil)
	journal, err := other.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(metaLine(), true))
	require.NoError(t, journal.Close())
	before := func(do func()) {
		driver.set(func(_ context.Context, call string) error {
			if call == "Take" {
				driver.set(nil)
				do()
			}
			return nil
		})
	}
	before(func() {
		journal, _, err := other.Open(store.Ref{ID: threadID}, &rollout.LineList{})
		require.NoError(t, err)
		require.NoError(t, journal.Append(texts(1, "the preview"), true))
		require.NoError(t, journal.Close())
	})
	journal, _, err = node.Open(store.Ref{ID: threadID}, &rollout.LineList{})
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(2, "another message"), true))
	require.NoError(t, journal.Close())
	page, err := node.List(rollout.Query{})
	require.NoError(t, err)
	require.Equal(t, "the preview", page.Heads[0].Preview)

	before(func() { require.NoError(t, other.Archive(store.Ref{ID: threadID})) })
	var archived *store.ArchivedError
	_, _, err = node.Open(store.Ref{ID: threadID}, &rollout.LineList{})
	require.ErrorAs(t, err, &archived)
	_, err = other.Unarchive(store.Ref{ID: threadID})
	require.NoError(t, err, "the node has released it")
}

// TestAThreadIsReleasedAfterAnOperationWithoutAnswer lets an archiving, and then a load, take all of its time.
func TestAThreadIsReleasedAfterAnOperationWithoutAnswer(t *testing.T) {
	url := pgtest.Database(t)
	node, driver, _ := hookedNode(t, url, func(o *shared.Options) { o.Timeout = time.Second })
	other, _, _ := hookedNode(t, url, nil)
	keep(t, other, "one")
	driver.set(func(ctx context.Context, call string) error {
		if call != "Move" && call != "Read" {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	for name, do := range map[string]func() error{
		"archive": func() error { return node.Archive(store.Ref{ID: threadID}) },
		"open": func() error {
			_, _, err := node.Open(store.Ref{ID: threadID}, &rollout.LineList{})
			return err
		},
	} {
		require.ErrorIs(t, do(), context.DeadlineExceeded, name)
		journal, _, err := other.Open(store.Ref{ID: threadID}, &rollout.LineList{})
		require.NoError(t, err, name)
		require.NoError(t, journal.Close())
	}
}

// TestAFailedTakeOverIsRepeated lets the load of a thread of a dead node fail once.
func TestAFailedTakeOverIsRepeated(t *testing.T) {
	url := pgtest.Database(t)
	other, _, _ := hookedNode(t, url, nil)
	keep(t, other, "one")
	pgtest.Exec(t, url, "UPDATE head SET running = true", "UPDATE thread SET node = 'dead', incarnation = 'i'")
	node, driver, _ := hookedNode(t, url, func(o *shared.Options) { o.Driver.(*hooked).ttl = 3 * time.Second })
	var failures atomic.Int64
	driver.set(func(_ context.Context, call string) error {
		if call == "Read" && failures.Add(1) == 1 {
			return syscall.ENOSPC
		}
		return nil
	})
	taken := make(chan error, 100)
	node.WatchInterrupted(func(id string) {
		journal, _, err := node.Open(store.Ref{ID: id}, &rollout.LineList{})
		if err == nil {
			err = journal.Close()
		}
		taken <- err
	})
	for _, want := range []error{syscall.ENOSPC, nil} {
		select {
		case err := <-taken:
			require.ErrorIs(t, err, want)
		case <-time.After(time.Minute):
			require.Fail(t, "the thread is not taken again")
		}
	}
}

// scarce is a disk that has no descriptor for one lock.
type scarce struct {
	disk.FS
	refuses atomic.Bool
}

func (s *scarce) Lock(path string, mode disk.LockMode) (io.Closer, error) {
	if s.refuses.CompareAndSwap(true, false) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EMFILE}
	}
	return s.FS.Lock(path, mode)
}

// TestCopiesOfIdleThreadsFreeTheirDescriptors opens a thread when there are no descriptors, while another one
// that was written to is idle. Another process of the home then has the lock of the idle one for a moment.
func TestCopiesOfIdleThreadsFreeTheirDescriptors(t *testing.T) {
	full := &scarce{FS: rollout.OS()}
	node, _, reported := hookedNode(t, pgtest.Database(t), onDisk(full))
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "one"), true))
	journal.SetIdle(true)
	full.refuses.Store(true)
	second, err := node.Begin(threadID[:len(threadID)-1]+"2", time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, second.Append(texts(0, "two"), true))
	require.False(t, full.refuses.Load())
	require.Zero(t, reported.count())
	lock, err := rollout.NewStore(rollout.OS(), node.Copies).Lock(threadID)
	require.NoError(t, err, "the copy is suspended")
	time.AfterFunc(10*time.Millisecond, func() { _ = lock.Release() })
	journal.SetIdle(false)
	require.NoError(t, journal.Resume())
	require.JSONEq(t, string(texts(0, "one")[0].Payload), string(journal.LineReader().Payload(0)))
	require.NoError(t, journal.Append(texts(1, "more"), true))
	require.NoError(t, journal.Close())
	require.NoError(t, second.Close())
	require.Equal(t, []string{"one", "more"}, read(t, node))
}
