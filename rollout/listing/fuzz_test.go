package listing

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout/home"
)

const fuzzName = "rollout-2026-01-02T03-04-05-0190a6f8-1111-7aaa-8bbb-00000000000a.jsonl"

var fuzzSeeds = []string{
	"",
	"\n",
	`{"timestamp":"t","ordinal":3,"type":"x","payload":{"a":[1,"b\n"]}}` + "\n" + `{"type":"y","payload":null}` + "\n",
	"\ufeff" + `{"type":"x","payload":1}` + "\r\n\r\n" + `{"type":"x","pay`,
	`{"type":1,"payload":1}` + "\n[]\n{}\n" + `{"type":"x"}` + "\n{{{\n\x00\n",
	`{"payload":{"type":"y"},"payload":2,"\u0074ype":"x","ordinal":9007199254740992}` + "\n" +
		`{"type":"x","payload":1}`,
	`{"type":"event_msg","payload":{"type":"user_message","message":"\ud800"}}` + "\n",
	`{"type":"session_meta","payload":{"id":"a","source":{"x":[`,
	`{"type":"event_msg","payload":{"type":"item_completed",` +
		`"item":{"type":"UserMessage","content":[{"type":"text"}]}}}` + "\n",
}

func FuzzHead(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var all, half headScan
		all.scan(data)
		half.scan(data[:1+bytes.LastIndexByte(data[:len(data)/2], '\n')])
		require.False(t, half.hasUser() && !all.hasUser(), "a longer head finds at least as much")
		all.finish(fuzzName)
		require.Equal(t, home.ThreadID(fuzzName), all.head.ID)
		_ = SourceWord(all.head.Meta.Source)
	})
}

func FuzzCursor(f *testing.F) {
	f.Add("", "2026/01/02/"+fuzzName, int64(0))
	f.Add("e30", "\xff", int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, text, path string, updated int64) {
		if p, err := decodeCursor(text, SortCreated); err == nil && text != "" {
			require.NotEmpty(t, p.Path)
		}
		want := Position{Key: SortUpdated, Path: path, Updated: updated}
		if path == "" || !json.Valid([]byte(`"`+path+`"`)) {
			return
		}
		got, err := decodeCursor(want.Cursor(), SortUpdated)
		require.NoError(t, err)
		require.Equal(t, updated, got.Updated)
	})
}
