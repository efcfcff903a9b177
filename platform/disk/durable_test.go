package disk_test

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
)

const path = "/d/f"

// withFile returns a file system with a durable file.
func withFile(t *testing.T, content string) *faultfs.Mem {
	t.Helper()
	mem := faultfs.NewMem("/d")
	require.NoError(t, disk.Replace(mem, path, []byte(content)))
	return mem
}

func contentOf(t *testing.T, files disk.FS) string {
	t.Helper()
	f, info, err := disk.Open(files, path, os.O_RDONLY)
	require.NoError(t, err)
	data, err := disk.ReadAll(f, info.Size())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(data)
}

// TestReplaceIsAtomic fails each operation in turn, and crashes after each.
func TestReplaceIsAtomic(t *testing.T) {
	for n := 0; ; n++ {
		mem := withFile(t, "old")
		files := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC, Partial: true})
		err := disk.Replace(files, path, []byte("new content"))
		if files.Failures() == 0 {
			require.NoError(t, err)
			require.Greater(t, n, 4)
		}
		for seed := range uint64(20) {
			clone := mem.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			if err == nil {
				require.Equal(t, "new content", contentOf(t, clone), "operation %d", n)
				continue
			}
			require.Contains(t, []string{"old", "new content"}, contentOf(t, clone), "operation %d", n)
		}
		if files.Failures() == 0 {
			return
		}
	}
}

func TestAppendIsAllOrNothing(t *testing.T) {
	mem := withFile(t, "one\n")
	for _, op := range []faultfs.Op{faultfs.OpWrite, faultfs.OpSync} {
		files := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{op}, Count: 1, Err: syscall.ENOSPC, Partial: true})
		f, info, err := disk.Open(files, path, os.O_RDWR|os.O_APPEND)
		require.NoError(t, err)
		a := disk.Appender{File: f, Size: info.Size()}
		require.ErrorIs(t, a.Append([]byte("two\n"), f.Sync), syscall.ENOSPC)
		require.Equal(t, "one\n", contentOf(t, mem))
		require.NoError(t, f.Close())
	}
}

func TestAppendTerminatesTextThatCannotBeTruncated(t *testing.T) {
	mem := withFile(t, "one\n")
	files := faultfs.Wrap(mem, faultfs.Fault{
		Only: []faultfs.Op{faultfs.OpWrite, faultfs.OpTruncate}, Count: 3, Err: syscall.EIO, Partial: true,
	})
	f, info, err := disk.Open(files, path, os.O_RDWR|os.O_APPEND)
	require.NoError(t, err)
	a := disk.Appender{File: f, Size: info.Size()}
	require.ErrorIs(t, a.Append([]byte("two\n"), nil), syscall.EIO)
	require.True(t, a.Torn)
	require.NoError(t, a.Append([]byte("three\n"), f.Sync))
	require.NoError(t, f.Close())
	require.Regexp(t, `^one\n(t|tw|two)\nthree\n$`, contentOf(t, mem))
}

// TestRetryingFreesDescriptors lets the first opens of a file fail. Another goroutine may take or
// free the descriptors between a failure and its retry.
func TestRetryingFreesDescriptors(t *testing.T) {
	for name, test := range map[string]struct {
		err      error
		failures int
		frees    []bool // the results of Free
		opens    bool
	}{
		"freed":                   {syscall.EMFILE, 1, []bool{true}, true},
		"freed in the system":     {syscall.ENFILE, 1, []bool{true}, true},
		"freed by another":        {syscall.EMFILE, 1, []bool{false}, true},
		"freed, taken by another": {syscall.EMFILE, 2, []bool{true, true}, true},
		"freed, taken, none left": {syscall.EMFILE, 3, []bool{true, false}, false},
		"none to free":            {syscall.EMFILE, 2, []bool{false}, false},
		"not about descriptors":   {syscall.EIO, 1, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			files := disk.Retrying{
				FS: faultfs.Wrap(withFile(t, "x"),
					faultfs.Fault{Only: []faultfs.Op{faultfs.OpOpen}, Count: test.failures, Err: test.err}),
				Free: func() bool { calls++; return test.frees[calls-1] },
			}
			f, _, err := disk.Open(files, path, os.O_RDONLY)
			require.Len(t, test.frees, calls)
			if !test.opens {
				require.ErrorIs(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.NoError(t, f.Close())
		})
	}
}
