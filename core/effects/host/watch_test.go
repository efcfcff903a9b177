package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// watch begins a watch, and gives the path that is told of.
func (d *desk) watch(conn uint64, id, path string) string {
	d.t.Helper()
	return result[protocol.FsWatchResponse](d.send(conn, "fs/watch", object{"watchId": id, "path": path})).Path
}

func (d *desk) unwatch(conn uint64, id string) {
	d.t.Helper()
	d.send(conn, "fs/unwatch", object{"watchId": id}).done()
}

// untilChanged waits until all of these paths were told of a watch, and gives all that were.
func (d *desk) untilChanged(id string, paths ...string) (told []string) {
	d.t.Helper()
	missing := slices.Clone(paths)
	for len(missing) > 0 {
		n, ok := d.await().Notification.(protocol.FsChangedNotification)
		require.True(d.t, ok)
		if n.WatchID != id {
			continue
		}
		require.True(d.t, slices.IsSorted(n.ChangedPaths))
		require.NotEmpty(d.t, n.ChangedPaths)
		told = append(told, n.ChangedPaths...)
		missing = slices.DeleteFunc(missing, func(p string) bool { return slices.Contains(n.ChangedPaths, p) })
	}
	return told
}

// quiet makes sure that nothing was told but what comes of a change to a file that is
// watched for this.
func (d *desk) quiet() {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), "bell")
	d.watch(99, "bell", path)
	write(d.t, path, "")
	for {
		n := d.await()
		changed := n.Notification.(protocol.FsChangedNotification)
		require.Equal(d.t, "bell", changed.WatchID, "%v", changed.ChangedPaths)
		if n.conn == 99 {
			break
		}
	}
	d.unwatch(99, "bell")
}

func TestAWatchOfADirectoryReportsItsEntries(t *testing.T) {
	d, dir := open(t), t.TempDir()
	write(t, filepath.Join(dir, "sub/in"), "")
	write(t, filepath.Join(dir, "gone"), "")
	require.Equal(t, dir, d.watch(1, "w", dir+"/."))
	file := filepath.Join(dir, "file")
	write(t, file, "new")
	require.Equal(t, []string{file}, d.untilChanged("w", file))
	write(t, file, "changed")
	d.untilChanged("w", file)
	require.NoError(t, os.Chmod(file, 0o600))
	d.untilChanged("w", file)
	require.NoError(t, os.Rename(file, filepath.Join(dir, "renamed")))
	require.NoError(t, os.Remove(filepath.Join(dir, "gone")))
	d.untilChanged("w", file, filepath.Join(dir, "renamed"), filepath.Join(dir, "gone"))
	write(t, filepath.Join(dir, "sub/in"), "deeper")
	d.quiet()
}

func TestAWatchOfAFileOutlivesItsReplacement(t *testing.T) {
	d, dir := open(t), t.TempDir()
	path := filepath.Join(dir, "file")
	write(t, path, "old")
	d.watch(1, "w", path)
	write(t, filepath.Join(dir, "other"), "")
	for i := range 3 {
		write(t, filepath.Join(dir, "new"), fmt.Sprint(i))
		require.NoError(t, os.Rename(filepath.Join(dir, "new"), path))
		require.Equal(t, []string{path}, slices.Compact(d.untilChanged("w", path)), "as editors save")
	}
	require.NoError(t, os.Remove(path))
	d.untilChanged("w", path)
	write(t, path, "back")
	d.untilChanged("w", path)
}

func TestAWatchOfAMissingPath(t *testing.T) {
	d, dir := open(t), t.TempDir()
	path := filepath.Join(dir, "a/b/c/file")
	d.watch(1, "w", path)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o755))
	write(t, filepath.Join(dir, "a/b/c/other"), "")
	write(t, path, "")
	require.Equal(t, []string{path}, slices.Compact(d.untilChanged("w", path)))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "a")))
	d.untilChanged("w", path)
	write(t, path, "again")
	d.untilChanged("w", path)
}

func TestAWatchOfADirectoryThatComesAndGoes(t *testing.T) {
	d, top := open(t), t.TempDir()
	dir := filepath.Join(top, "build")
	d.watch(1, "w", dir)
	for i := range 3 {
		require.NoError(t, os.Mkdir(dir, 0o755))
		d.untilChanged("w", dir)
		write(t, filepath.Join(dir, fmt.Sprint(i)), "")
		d.untilChanged("w", filepath.Join(dir, fmt.Sprint(i)))
		require.NoError(t, os.RemoveAll(dir))
		d.untilChanged("w", dir)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(top, "made"), 0o755))
	require.NoError(t, os.Rename(filepath.Join(top, "made"), dir))
	d.untilChanged("w", dir)
	write(t, filepath.Join(dir, "file"), "")
	d.untilChanged("w", filepath.Join(dir, "file"))
}

func TestWatchesBesideEachOther(t *testing.T) {
	d, dir := open(t), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	d.watch(1, "dir", dir)
	d.watch(1, "file", filepath.Join(dir, "file"))
	d.watch(2, "dir", dir)
	require.Equal(t, link, d.watch(1, "link", link), "told as the client calls it")
	write(t, filepath.Join(dir, "file"), "")
	told := map[string]bool{}
	for len(told) < 4 {
		n := d.await()
		changed := n.Notification.(protocol.FsChangedNotification)
		for _, path := range changed.ChangedPaths {
			told[fmt.Sprint(n.conn, changed.WatchID, path)] = true
		}
	}
	require.Equal(t, map[string]bool{
		"1dir" + dir + "/file": true, "1file" + dir + "/file": true, "2dir" + dir + "/file": true, "1link" + link +
			"/file": true,
	}, told)
	d.unwatch(1, "dir")
	d.unwatch(1, "file")
	d.unwatch(1, "link")
	write(t, filepath.Join(dir, "other"), "")
	n := d.await()
	require.Equal(t, uint64(2), n.conn, "the others do not end with it")
}

func TestAnEndedWatchReportsNothing(t *testing.T) {
	d, dir := open(t), t.TempDir()
	d.watch(1, "w", dir)
	d.send(1, "fs/watch", object{"watchId": "w", "path": "/"}).refused(protocol.KindWatchExists)
	write(t, filepath.Join(dir, "a"), "")
	d.unwatch(1, "w")
	d.unwatch(1, "w")
	d.unwatch(2, "w")
	d.quiet()
	d.watch(1, "w", dir)
	write(t, filepath.Join(dir, "b"), "")
	d.untilChanged("w", filepath.Join(dir, "b"))
}

func TestWatchesEndWithTheirConnection(t *testing.T) {
	d, dir := open(t), t.TempDir()
	d.watch(1, "w", dir)
	d.watch(1, "v", filepath.Join(dir, "none"))
	d.leave(1)
	write(t, filepath.Join(dir, "none"), "")
	d.quiet()
	d.watch(2, "w", dir)
	write(t, filepath.Join(dir, "c"), "")
	d.untilChanged("w", filepath.Join(dir, "c"))
}

// TestNoWatchBeginsOnceItsConnectionIsGone: those that waited for a client to read do not.
func TestNoWatchBeginsOnceItsConnectionIsGone(t *testing.T) {
	d, dir := open(t), t.TempDir()
	resume := d.stopReading()
	var waiting []pending
	for i := range 100 {
		waiting = append(waiting, d.send(1, "fs/watch", object{"watchId": fmt.Sprint(i), "path": dir}))
	}
	d.leave(1)
	for _, p := range waiting {
		p.settled()
	}
	resume()
	write(t, filepath.Join(dir, "a"), "")
	d.quiet()
}

func TestChangesAreGathered(t *testing.T) {
	d, dir := open(t), t.TempDir()
	d.watch(1, "w", dir)
	path := filepath.Join(dir, "file")
	begin := time.Now()
	for range 500 {
		write(t, path, "x")
	}
	d.untilChanged("w", path)
	d.unwatch(1, "w")
	require.Less(t, len(d.notices), int(time.Since(begin)/(200*time.Millisecond))+1)
}

func TestManyChangesAreReportedAsOne(t *testing.T) {
	d, dir := open(t), t.TempDir()
	d.watch(1, "w", dir)
	resume := d.stopReading()
	for i := range 1500 {
		write(t, filepath.Join(dir, fmt.Sprintf("f%04d", i)), "")
	}
	time.AfterFunc(time.Second, resume)
	require.Equal(t, []string{dir}, d.untilChanged("w", dir), "the directory stands for all that is in it")
}

func TestCongestedClientsAreNotifiedLater(t *testing.T) {
	d, dir := open(t), t.TempDir()
	d.watch(1, "w", dir)
	resume := d.stopReading()
	var paths []string
	for i := range 10 {
		paths = append(paths, filepath.Join(dir, fmt.Sprint(i)))
		write(t, paths[i], "")
	}
	select {
	case n := <-d.notices:
		require.Fail(t, "told who does not read", "%v", n)
	case <-time.After(600 * time.Millisecond): // three times what changes are gathered for
	}
	resume()
	require.Equal(t, paths, d.untilChanged("w", paths...), "at once, and nothing is lost")
}

func TestWatchesAreBounded(t *testing.T) {
	d, dir := open(t), t.TempDir()
	for i := range 1000 {
		d.watch(1, fmt.Sprint(i), dir)
	}
	d.send(1, "fs/watch", object{"watchId": "more", "path": dir}).refused(protocol.KindOverloaded)
	d.watch(2, "more", dir)
	d.unwatch(1, "7")
	d.watch(1, "more", dir)
}
