package rollout

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"appserver/protocol"

	"github.com/stretchr/testify/require"
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
	`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text"}]}}}` + "\n",
}

func FuzzRead(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole Contents
		whole.parse(data, 1)
		require.Equal(t, nonBlank(data), len(whole.Lines)+len(whole.Damage)+count(whole.Torn), "every line is one or the other")
		for _, line := range whole.Lines {
			require.True(t, json.Valid(line.Payload), "%q", line.Payload)
			require.GreaterOrEqual(t, *line.Ordinal, int64(0))
		}
		for _, d := range whole.Damage {
			before := data[:d.Offset]
			require.Equal(t, d.Line, bytes.Count(before, []byte{'\n'})+1)
			require.True(t, len(before) == 0 || before[len(before)-1] == '\n')
		}
		for n := 2; n < 5; n++ {
			var shared Contents
			shared.parse(data, n)
			require.Equal(t, whole, shared, "the same whoever parses it")
		}
	})
}

// nonBlank counts lines by a simple implementation.
func nonBlank(data []byte) int {
	n := 0
	for i, line := range bytes.Split(data, []byte{'\n'}) {
		if i == 0 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		n += count(len(bytes.Trim(line, " \t\r")) > 0)
	}
	return n
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func FuzzAppendAfterRead(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s), []byte(`{"new":true}`))
	}
	f.Add([]byte("x"), []byte("[1,\n2]"))
	f.Fuzz(func(t *testing.T, data, payload []byte) {
		store := NewStore(OS(), t.TempDir())
		path := filepath.Join(store.home, fuzzName)
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

func FuzzValidJSON(f *testing.F) {
	for _, s := range append(fuzzSeeds, `-0.1e+5`, `01`, `1.`, `"\u12g4"`, "\"\x01\"", `[1,]`, `{"a":1,}`, ` true `, `nul`, "\"\xff\"") {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		require.Equal(t, json.Valid(b), validJSON(b), "%q", b)
	})
}

func FuzzHead(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var all, half headScan
		all.scan(data)
		half.scan(data[:1+bytes.LastIndexByte(data[:len(data)/2], '\n')])
		require.False(t, half.hasUser() && !all.hasUser(), "more lines tell more")
		all.finish(fuzzName)
		require.Equal(t, threadID(fuzzName), all.head.ID)
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

func FuzzNames(f *testing.F) {
	for _, s := range append(fuzzSeeds, `{"id":"a","thread_name":"b","updated_at":"c"}`+"\n") {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		names := parseNames(data)
		require.LessOrEqual(t, len(names), bytes.Count(data, []byte{'\n'})+1)
		require.NotContains(t, names, "")
	})
}
