package rollout_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
)

var joinSeeds = []string{
	"",
	metaLine,
	"\ufeff" + metaLine + `{"ordinal":9,"type":"a","payload":1}` + "\r\n\r\n?\n",
	metaLine + `{"type":"context_backup","payload":{"bytes":0,"crc32c":0}}` + "\n" +
		`{"ordinal":1,"type":"a","payload":1}`,
	`{"type":"context_backup","payload":{"bytes":1,"crc32c":0}}` + "\n",
	`{"type":"session_meta","payload":{"id":"` + threadB + `"}}` + "\n",
	`{"type":"a","payload":1}` + "\n" + `{"type":"to`,
}

// FuzzJoin has any bytes as file and backup, and where named is set a marker behind
// the file's that names the backup's.
func FuzzJoin(f *testing.F) {
	for _, main := range joinSeeds {
		for _, backup := range joinSeeds {
			f.Add([]byte(main), []byte(backup), true)
			f.Add([]byte(main), []byte(backup), false)
		}
	}
	f.Fuzz(func(t *testing.T, main, backup []byte, named bool) {
		if named {
			sum := crc32.Checksum(backup, crc32.MakeTable(crc32.Castagnoli))
			main = fmt.Appendf(main, "\n"+`{"type":"context_backup","payload":{"bytes":%d,"crc32c":%d}}`+"\n", len(backup), sum)
		}
		store, mem := memStore()
		path := put(t, mem, store.PathFor(threadA, begin), string(main))
		put(t, mem, path+".bak", string(backup))
		log, before, err := store.Open(path)
		require.NoError(t, err)
		requireOwnLines(t, alone(t, mem, path).Lines, before)
		if before.Backup.Err != nil {
			require.Error(t, store.CheckBackup(path))
		}
		added := protocol.RolloutLine{Type: "new", Payload: json.RawMessage(`"new"`)}
		require.NoError(t, log.Append([]protocol.RolloutLine{added}, false))
		err = log.CloseRewritten(func(l protocol.RolloutLine) (protocol.RolloutLine, bool) { return l, false })
		after, readErr := store.Read(path)
		require.NoError(t, readErr)
		require.Equal(t, before.Lines, after.Lines[:len(before.Lines)], "what was there is there")
		require.Equal(t, added.Payload, after.Lines[len(before.Lines)].Payload)
		if before.Torn {
			before.Damage = append(before.Damage, rollout.Damage{})
		}
		require.Len(t, after.Damage, len(before.Damage))
		require.Equal(t, err == nil, after.Backup.Joined && len(after.Lines) == len(before.Lines)+2, "rewritten, or told")
	})
}

// requireOwnLines looks for the file's lines from the last marker on, or for all where
// no backup was joined.
func requireOwnLines(t *testing.T, own []protocol.RolloutLine, got *rollout.Contents) {
	t.Helper()
	if got.Backup.Joined {
		last := 0
		for i, l := range own {
			if l.Type == protocol.LineContextBackup {
				last = i
			}
		}
		own = own[last:]
	}
	require.GreaterOrEqual(t, len(got.Lines), len(own))
	tail := got.Lines[len(got.Lines)-len(own):]
	for i, l := range own {
		require.Equal(t, l.Type, tail[i].Type)
		require.Equal(t, l.Payload, tail[i].Payload)
	}
}
