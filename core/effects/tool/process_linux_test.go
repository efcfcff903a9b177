package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStat(t *testing.T) {
	fields := " 5 6 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0 0"
	p, ok := parseStat("4 (a) R 1) b (c) S" + fields)
	require.True(t, ok)
	require.Equal(t, process{pid: 4, parent: 5, group: 6, session: 7, start: 99}, p)
	p, ok = parseStat("4 (x) Z" + fields)
	require.True(t, ok)
	require.True(t, p.zombie)
	for _, bad := range []string{"", "4", "4 (", ") (", "4 (x) S 1 2 3", "x (x) S" + fields, "4 (x) S a" + fields} {
		_, ok := parseStat(bad)
		require.False(t, ok, bad)
	}
}

// FuzzParseStat: any process name is accepted, and no other text panics.
func FuzzParseStat(f *testing.F) {
	f.Add("bash", 4, 5, 6, 7, uint32(99))
	f.Add("a) R 1 2 (", 4, 5, 6, 7, uint32(99))
	f.Add("4 (a) ", 0, -1, -1, -1, uint32(0))
	f.Fuzz(func(t *testing.T, name string, pid, parent, group, session int, start uint32) {
		stat := fmt.Sprintf("%d (%s) S %d %d %d%s %d 0", pid, name, parent, group, session, strings.Repeat(" 0", 15), start)
		p, ok := parseStat(stat)
		require.True(t, ok)
		require.Equal(t, process{pid: pid, parent: parent, group: group, session: session, start: uint64(start)}, p)
		parseStat(name)
	})
}
