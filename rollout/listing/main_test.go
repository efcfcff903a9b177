package listing_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/listing"
)

var dir = filepath.FromSlash("/home/codex")

const (
	threadA  = "0190a6f8-1111-7aaa-8bbb-00000000000a"
	threadB  = "0190a6f8-1111-7aaa-8bbb-00000000000b"
	metaLine = `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":0,"type":"session_meta","payload":{"id":"` + threadA +
		`"}}` + "\n"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)

// store is a home with a lister.
type store struct {
	*home.Home
	*listing.Lister
}

func newStore(files disk.FS, dir string) *store {
	h := home.New(files, dir, nil)
	return &store{h, listing.New(h, line.NewChunkReader())}
}

// memStore returns a store on a file system in memory.
func memStore() (*store, *faultfs.Mem) {
	mem := faultfs.NewMem(dir)
	return newStore(mem, dir), mem
}

// put writes a file of the home, and its folders.
func put(t *testing.T, files disk.FS, path, content string) string {
	t.Helper()
	require.NoError(t, files.MkdirAll(filepath.Dir(path), 0o700))
	f, err := files.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	require.NoError(t, err)
	_, err = f.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return path
}

func userLine(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"timestamp":"2026-01-02T03:04:06.000Z","ordinal":1,"type":"event_msg",` +
		`"payload":{"type":"user_message","message":` + string(quoted) + "}}\n"
}

func metaWith(members string) string {
	return `{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{` + members + "}}\n"
}

func idOf(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }

// threads creates threads numbered from 0, each 13 hours after the one before.
func threads(t *testing.T, files disk.FS, s *store, n int) {
	t.Helper()
	for i := range n {
		put(
			t,
			files,
			s.PathFor(idOf(i), begin.Add(time.Duration(i)*13*time.Hour)),
			metaWith(`"id":"x"`)+userLine(strconv.Itoa(i)),
		)
	}
}

// pages returns the previews on all pages of a query.
func pages(t *testing.T, s *store, q listing.Query) [][]string {
	t.Helper()
	var all [][]string
	for range 100 {
		page, err := s.List(q)
		require.NoError(t, err)
		previews := []string{}
		for _, h := range page.Heads {
			previews = append(previews, h.Preview)
		}
		all = append(all, previews)
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return all
		}
	}
	require.Fail(t, "the pages never end")
	return nil
}
