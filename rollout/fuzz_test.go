package rollout

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

const fuzzName = "rollout-2026-01-02T03-04-05-0190a6f8-1111-7aaa-8bbb-00000000000a.jsonl"

var fuzzSeeds = []string{
	"",
	"\n",
	`{"timestamp":"t","ordinal":3,"type":"x","payload":{"a":[1,"b\n"]}}` + "\n" + `{"type":"y","payload":null}` + "\n",
	"\ufeff" + `{"type":"x","payload":1}` + "\r\n\r\n" + `{"type":"x","pay`,
	`{"type":1,"payload":1}` + "\n[]\n{}\n" + `{"type":"x"}` + "\n{{{\n\x00\n",
	`{"payload":{"type":"y"},"payload":2,"\u0074ype":"x","ordinal":9007199254740992}` + "\n" + `{"type":"x","payload":1}`,
	`{"type":"event_msg","payload":{"type":"user_message","message":"\ud800"}}` + "\n",
	`{"type":"session_meta","payload":{"id":"a","source":{"x":[`,
	`{"type":"event_msg","payload":{"type":"item_completed",` +
		`"item":{"type":"UserMessage","content":[{"type":"text"}]}}}` + "\n",
}

func FuzzAppendAfterRead(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s), []byte(`{"new":true}`))
	}
	f.Add([]byte("x"), []byte("[1,\n2]"))
	f.Fuzz(func(t *testing.T, data, payload []byte) {
		store := NewStore(OS(), t.TempDir())
		path := store.Path(fuzzName)
		require.NoError(t, appendTo(store, path, data))
		log, before, err := store.Open(path)
		require.NoError(t, err)
		line := before.Lines[:0:0]
		line = append(line, lineOf(payload))
		err = log.Append(line, false)
		require.NoError(t, log.Close())
		after, readErr := store.Read(path)
		require.NoError(t, readErr)
		require.Equal(t, before.Lines, after.Lines[:len(before.Lines)], "what was there is there")
		if !json.Valid(payload) {
			require.Error(t, err)
			require.Equal(t, before.Size, after.Size)
			return
		}
		require.NoError(t, err)
		require.Len(t, after.Lines, len(before.Lines)+1)
		require.JSONEq(t, string(protocol.ToWellFormed(payload)), string(after.Lines[len(before.Lines)].Payload))
		require.Len(t, after.Damage, len(before.Damage)+count(before.Torn))
		require.False(t, after.Torn)
	})
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
