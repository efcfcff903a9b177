package memory

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsHaveIDs(t *testing.T) {
	r := Row{RepoKey: "/r", Kind: Summary, TS: 1, Title: "a", Text: "b"}
	require.Len(t, r.ID(), 2*idBytes)
	same := r
	same.MsgIDs = []string{}
	require.Equal(t, r.ID(), same.ID())
	for _, other := range []Row{{Kind: Summary, TS: 1, Title: "a", Text: "b"},
		{RepoKey: "/r", Kind: Summary, TS: 2, Title: "a", Text: "b"}, {RepoKey: "/r", Kind: Summary, TS: 1, Title: "ab"}} {
		require.NotEqual(t, r.ID(), other.ID())
	}
	r.Kind = Code
	later := r
	later.TS = 2
	require.Equal(t, r.ID(), later.ID())
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"repo_key":"/r","session_id":"s","ts":1,"kind":"summary","title":"a","text":"b","msg_ids":["m"]}`))
	f.Add([]byte(`{"forget":["a"]}`))
	f.Add([]byte(`{"repo_key":"\ud800","kind":"k","text":"\u0000","msg_ids":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, ok := parseLine(raw)
		if !ok || l.forget != nil {
			return
		}
		again, err := format([]Row{l.row})
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(again), "\n"))
		require.True(t, json.Valid(again))
		second, ok := parseLine(again)
		require.True(t, ok)
		require.Equal(t, l.row, second.row)
		require.Equal(t, l.row.ID(), second.row.ID())
	})
}
