package rollout_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/posix"
)

// overwrite replaces the content of a file.
func overwrite(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// backupFaults lists defects of the backup of rewrittenThread and their errors.
var backupFaults = map[string]struct {
	make func(t *testing.T, path, content string)
	says string
}{
	"missing": {func(t *testing.T, path, _ string) { require.NoError(t, os.Remove(path)) }, "is missing"},
	"one bit": {func(t *testing.T, path, content string) {
		changed := []byte(content)
		changed[len(changed)/2] ^= 1
		overwrite(t, path, string(changed))
	}, "is damaged"},
	"cut short": {func(t *testing.T, path, content string) { overwrite(t, path, content[:len(content)-1]) }, "is damaged"},
	"empty":     {func(t *testing.T, path, _ string) { overwrite(t, path, "") }, "is damaged"},
	"of another thread": {func(t *testing.T, path, content string) {
		overwrite(t, path, strings.ReplaceAll(content, threadA, threadB))
	}, "is damaged"},
	"FIFO": {func(t *testing.T, path, _ string) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, posix.Mkfifo(path, 0o600))
	}, "named pipe"},
	"folder": {func(t *testing.T, path, _ string) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Mkdir(path, 0o700))
	}, "folder"},
	"link to self": {func(t *testing.T, path, _ string) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(path, path))
	}, "leads back to itself"},
	"link to the rollout": {func(t *testing.T, path, _ string) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(strings.TrimSuffix(path, ".bak"), path))
	}, "is damaged"},
}

func TestABackupThatIsNotRightIsRefused(t *testing.T) {
	for name, fault := range backupFaults {
		t.Run(name, func(t *testing.T) {
			store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
			content := get(t, rollout.OS(), path+".bak")
			fault.make(t, path+".bak", content)
			contents, err := store.Read(path)
			require.NoError(t, err)
			require.Equal(t, []int64{2, 4}, numbers(contents), "those of main alone")
			requireRefused(t, contents.Backup.Err, path, fault.says)
			require.False(t, contents.Backup.Joined)
			requireRefused(t, store.CheckBackup(path), path, fault.says)
			requireNotRewritten(t, store, path, fault.says)
			require.NoError(t, os.RemoveAll(path+".bak"))
			overwrite(t, path+".bak", content)
			require.NoError(t, store.CheckBackup(path), "it is back")
			contents, err = store.Read(path)
			require.NoError(t, err)
			require.Equal(t, []int64{1, 2, 3, 4, 5, 7}, numbers(contents))
		})
	}
}

func requireRefused(t *testing.T, err error, path, says string) {
	t.Helper()
	var refused *rollout.BackupError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, path+".bak", refused.Path)
	require.ErrorContains(t, err, says)
	require.ErrorContains(t, err, "excluded items cannot be shown or restored: put the right backup back")
}

// requireNotRewritten appends a line and closes the log.
func requireNotRewritten(t *testing.T, store *rollout.Store, path, says string) {
	t.Helper()
	before := get(t, rollout.OS(), path)
	err := appendAndClose(t, store, path, evenOnly, line(7))
	requireRefused(t, err, path, says)
	require.ErrorContains(t, err, "cannot rewrite "+path)
	after := get(t, rollout.OS(), path)
	require.True(t, strings.HasPrefix(after, before))
	require.Equal(t, 1, strings.Count(after[len(before):], "\n"))
	requireNoTemporary(t, path)
}

func TestABackupOfAnotherThreadIsRefused(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	other := strings.ReplaceAll(path, threadA, threadB)
	require.NoError(t, os.Rename(path, other))
	require.NoError(t, os.Rename(path+".bak", other+".bak"))
	contents, err := store.Read(other)
	require.NoError(t, err)
	requireRefused(t, contents.Backup.Err, other, "is not the backup of this thread")
}

func TestAFileWithoutANameIsJoinedBySessionMeta(t *testing.T) {
	dir := t.TempDir()
	store, path := rewrittenThread(t, rollout.OS(), dir)
	require.NoError(t, os.Rename(path, dir+"/copy"))
	require.NoError(t, os.Rename(path+".bak", dir+"/copy.bak"))
	contents, err := store.Read(dir + "/copy")
	require.NoError(t, err)
	require.Equal(t, rollout.Backup{Joined: true}, contents.Backup)
}

func TestADamagedBackupMarkerIsReported(t *testing.T) {
	for _, payload := range []string{"{}", "null", `{"bytes":0}`, `{"bytes":-1,"crc32c":0}`, `{"bytes":"0","crc32c":0}`,
		`{"bytes":1.5,"crc32c":0}`, "[]"} {
		store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
		main, _ := cutMarker(t, get(t, rollout.OS(), path))
		overwrite(t, path, main+`{"type":"context_backup","payload":`+payload+"}\n")
		contents, err := store.Read(path)
		require.NoError(t, err)
		requireRefused(t, contents.Backup.Err, path, "context_backup line is damaged")
		requireNotRewritten(t, store, path, "context_backup line is damaged")
	}
}

func TestABackupThatCannotBeReadIsNoErrorOfTheRollout(t *testing.T) {
	mem := faultfs.NewMem(home)
	_, path := rewrittenThread(t, mem, home)
	for op, reason := range map[faultfs.Op]error{faultfs.OpOpen: syscall.EMFILE, faultfs.OpStat: syscall.EIO,
		faultfs.OpRead: syscall.EACCES} {
		second := faultfs.Fault{Only: []faultfs.Op{op}, First: 1, Count: 1, Err: reason}
		switch op {
		case faultfs.OpOpen:
			second.Count = 2 // an open without descriptors is retried once
		case faultfs.OpStat:
			second.First = 3 // skips two calls for the rollout and one for the backup
		}
		contents, err := rollout.NewStore(faultfs.Wrap(mem, second), home).Read(path)
		require.NoError(t, err)
		require.Equal(t, []int64{2, 4}, numbers(contents))
		require.ErrorIs(t, contents.Backup.Err, reason)
		require.ErrorContains(t, contents.Backup.Err, path+".bak cannot be read: ")
		require.ErrorContains(t, contents.Backup.Err, map[faultfs.Op]string{
			faultfs.OpOpen: "too many open files: " +
				"excluded items cannot be shown or restored until the backup can be read: " +
				"raise the limit of open files (ulimit -n)",
			faultfs.OpStat: "input/output error: excluded items cannot be shown or restored until the backup can be " +
				"read: the disk reports errors; check it, then try again",
			faultfs.OpRead: "permission denied: excluded items cannot be shown or restored until the backup can be " +
				"read: give this user access to it",
		}[op])
	}
}

// wholeThread returns a thread that was never rewritten.
func wholeThread(t *testing.T) (*rollout.Store, string) {
	t.Helper()
	store := rollout.NewStore(rollout.OS(), t.TempDir())
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine)
	require.NoError(t, appendAndClose(t, store, path, nil, linesFrom(1, 4)...))
	return store, path
}

func TestCheckBackupOfAWholeFile(t *testing.T) {
	store, path := wholeThread(t)
	require.EqualError(t, store.CheckBackup(path), path+".bak is missing: the rollout is complete and does not need it")
	content := get(t, rollout.OS(), path)
	for _, earlier := range []string{"", metaLine, content} {
		overwrite(t, path+".bak", earlier)
		require.NoError(t, store.CheckBackup(path))
	}
	for _, other := range []string{content + "x", strings.ReplaceAll(metaLine, threadA, threadB), "x"} {
		overwrite(t, path+".bak", other)
		var refused *rollout.BackupError
		require.ErrorAs(t, store.CheckBackup(path), &refused)
		require.True(t, refused.Whole)
	}
	require.ErrorIs(t, store.CheckBackup(path+".gone"), os.ErrNotExist)
}

func TestABackupThatIsNotTheRolloutsStaysAsItIs(t *testing.T) {
	for name, other := range map[string]func(content string) string{
		"of another thread": func(content string) string { return strings.ReplaceAll(content, threadA, threadB) },
		"other bytes":       func(string) string { return "something else\n" },
		"longer":            func(content string) string { return content + strings.Repeat(metaLine, 9) },
	} {
		t.Run(name, func(t *testing.T) {
			store, path := wholeThread(t)
			foreign := other(get(t, rollout.OS(), path))
			overwrite(t, path+".bak", foreign)
			err := appendAndClose(t, store, path, evenOnly, line(4))
			var refused *rollout.BackupError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, "is not an earlier state of this rollout: "+
				"the rollout is complete, but cannot be rewritten until that file is moved away")
			require.Equal(t, foreign, get(t, rollout.OS(), path+".bak"))
			require.Equal(t, []int64{1, 2, 3, 4}, numbers(alone(t, rollout.OS(), path)))
			requireNoTemporary(t, path)
		})
	}
}

func TestABackupPathThatIsNoFileStays(t *testing.T) {
	for _, name := range []string{"FIFO", "folder", "link to self"} {
		store, path := wholeThread(t)
		overwrite(t, path+".bak", "")
		backupFaults[name].make(t, path+".bak", "")
		err := appendAndClose(t, store, path, evenOnly, line(4))
		var refused *rollout.BackupError
		require.ErrorAs(t, err, &refused, name)
		require.ErrorContains(t, err, backupFaults[name].says)
		require.Equal(t, []int64{1, 2, 3, 4}, numbers(alone(t, rollout.OS(), path)))
	}
}

func TestAnOlderBackupOfAWholeFileIsReplaced(t *testing.T) {
	for name, older := range map[string]func(path, content string) error{
		"prefix": func(path, content string) error {
			return os.WriteFile(path+".bak", []byte(content[:len(metaLine)]), 0o600)
		},
		"empty":               func(path, _ string) error { return os.WriteFile(path+".bak", nil, 0o600) },
		"twin":                func(path, _ string) error { return os.Link(path, path+".bak") },
		"link to the rollout": func(path, _ string) error { return os.Symlink(path, path+".bak") },
	} {
		t.Run(name, func(t *testing.T) {
			store, path := wholeThread(t)
			require.NoError(t, older(path, get(t, rollout.OS(), path)))
			require.NoError(t, appendAndClose(t, store, path, evenOnly, line(4)))
			contents, err := store.Read(path)
			require.NoError(t, err)
			require.Equal(t, []int64{1, 2, 3, 4}, numbers(contents))
			require.Equal(t, []int64{2, 4}, numbers(alone(t, rollout.OS(), path)))
		})
	}
}

func TestTheRestOfABrokenAppendIsCutOff(t *testing.T) {
	for name, rest := range map[string]func(tail string) string{
		"begin of it":     func(tail string) string { return tail[:len(tail)/2] },
		"all of it":       func(tail string) string { return tail },
		"begin and zeros": func(tail string) string { return tail[:20] + strings.Repeat("\x00", 30) },
	} {
		t.Run(name, func(t *testing.T) {
			store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
			before := get(t, rollout.OS(), path+".bak")
			write(t, rollout.OS(), path, string(encoded(7)))
			_, marker := cutMarker(t, strings.TrimSuffix(get(t, rollout.OS(), path), string(encoded(7))))
			write(t, rollout.OS(), path+".bak", rest(marker+string(encoded(7))))
			require.NoError(t, store.CheckBackup(path))
			require.NoError(t, appendAndClose(t, store, path, evenOnly, line(8)))
			full := get(t, rollout.OS(), path+".bak")
			require.Equal(t, before+marker+string(encoded(7))+string(encoded(8)), full)
			contents, err := store.Read(path)
			require.NoError(t, err)
			require.Equal(t, []int64{1, 2, 3, 4, 5, 7, 8}, numbers(contents))
		})
	}
}

func TestABackupThatEndsInALineIsRefused(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	cut := strings.TrimSuffix(get(t, rollout.OS(), path+".bak"), "\n")
	main, _ := cutMarker(t, get(t, rollout.OS(), path))
	overwrite(t, path, main+fmt.Sprintf(`{"type":"context_backup","payload":{"bytes":%d,"crc32c":%d}}`,
		len(cut), crc32.Checksum([]byte(cut), crc32.MakeTable(crc32.Castagnoli)))+"\n")
	requireRefused(t, store.CheckBackup(path), path, "is damaged")
}

// encoded returns a line as Append writes it.
func encoded(n int) []byte {
	l := line(n)
	return append(bytes.Join([][]byte{
		[]byte(`{"timestamp":"` + l.Timestamp + `","ordinal":` + string('0'+rune(n)) +
			`,"type":"event_msg","payload":`), l.Payload, []byte("}")}, nil), '\n')
}

func TestABackupThatIsAheadIsNotCut(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	old := get(t, rollout.OS(), path)
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(7, 9)...))
	newer := get(t, rollout.OS(), path+".bak")
	overwrite(t, path, old)
	err := appendAndClose(t, store, path, evenOnly, linesFrom(11, 21)...)
	var refused *rollout.BackupError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "has lines at its end that the rollout does not refer to")
	require.Equal(t, newer, get(t, rollout.OS(), path+".bak"), "the only place that has lines 7 and 8")
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 11}, numbers(contents)[:6])
	overwrite(t, path, old)
	require.ErrorAs(t, appendAndClose(t, store, path, evenOnly, line(4)), &refused,
		"also where it is ahead by more than is new")
}
