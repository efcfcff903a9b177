package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestPage(t *testing.T) {
	all := []string{"a", "b", "c"}
	for _, tt := range []struct {
		cursor *string
		limit  *uint32
		rows   []string
		next   *string
	}{
		{nil, nil, all, nil},
		{nil, new(uint32(2)), []string{"a", "b"}, new("2")},
		{new("2"), new(uint32(2)), []string{"c"}, nil},
		{new("2"), nil, []string{"c"}, nil},
		{nil, new(uint32(3)), all, nil},
		{nil, new(uint32(0)), []string{"a"}, new("1")},
		{new("3"), nil, []string{}, nil},
		{new("1"), new(uint32(1 << 31)), []string{"b", "c"}, nil},
	} {
		rows, next, err := listPage(all, tt.cursor, tt.limit)
		require.Nil(t, err)
		require.Equal(t, tt.rows, rows)
		require.Equal(t, tt.next, next)
	}
	for _, cursor := range []string{"", "x", "-1", "4", "1.5", "99999999999999999999"} {
		_, _, err := listPage(all, &cursor, nil)
		require.NotNil(t, err, cursor)
		require.Equal(t, "invalid cursor: "+cursor+" (use the nextCursor of a page of the same list)", err.Message)
		require.Equal(t, protocol.KindInvalidParams, err.Data.Kind)
	}
	rows, next, err := listPage([]string{}, nil, new(uint32(5)))
	require.Nil(t, err)
	require.NotNil(t, rows, "an empty list is not null")
	require.Nil(t, next)
}

// TestPagesJoin checks that the pages together are the whole list, for any limit.
func TestPagesJoin(t *testing.T) {
	all := make([]int, 23)
	for i := range all {
		all[i] = i
	}
	for limit := range uint32(30) {
		var joined []int
		var cursor *string
		for range 40 {
			rows, next, err := listPage(all, cursor, &limit)
			require.Nil(t, err)
			joined = append(joined, rows...)
			if cursor = next; cursor == nil {
				break
			}
		}
		require.Equal(t, all, joined, "limit %d", limit)
	}
}
