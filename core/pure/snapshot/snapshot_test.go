package snapshot_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/snapshot"
	"appserver/core/pure/snapshot/snapshottest"
)

func numbers(n int) (l snapshot.List[int]) {
	for i := range n {
		l.Append(i)
	}
	return l
}

// again returns the list that a snapshot of a list has, and the number of blocks that were decoded since.
func again(t *testing.T, l *snapshot.List[int]) (read *snapshot.List[int], decoded *int) {
	t.Helper()
	var out bytes.Buffer
	w := snapshot.NewWriter(&out)
	l.Write(w, func(block []int) (any, error) { return block, nil })
	require.NoError(t, w.Err())
	read, decoded = new(snapshot.List[int]), new(int)
	r := snapshot.NewReader(out.Bytes())
	read.Read(r, func(first int, content []byte) (block []int, err error) {
		*decoded++
		return block, snapshot.Decode(content, &block)
	})
	require.NoError(t, r.Err())
	require.Equal(t, l.Len(), read.Len())
	return read, decoded
}

func all(l *snapshot.List[int]) (elements []int) {
	for _, e := range l.All() {
		elements = append(elements, *e)
	}
	return elements
}

func TestListsDecodeOnlyWhatIsRead(t *testing.T) {
	was := numbers(5000)
	l, decoded := again(t, &was)
	require.Equal(t, 0, *decoded)
	require.Equal(t, 4999, *l.At(4999))
	require.Equal(t, 4998, *l.At(4998))
	l.Append(5000)
	require.Equal(t, 5000, *l.At(5000))
	require.Equal(t, 1, *decoded)
	*l.At(7) = 70
	l, decoded = again(t, l)
	require.Equal(t, 0, *decoded, "a block that was not decoded is written as it was stored")
	want := append(all(&was), 5000)
	want[7] = 70
	require.Equal(t, want, all(l))
}

func TestListsAreCutAndContinued(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1024, 1025, 2048, 2500} {
		for _, length := range []int{0, 1, 1000, 1024, 1025, 2047, 2048} {
			t.Run(fmt.Sprintf("%d of %d", length, n), func(t *testing.T) {
				was := numbers(n)
				l, _ := again(t, &was)
				l.Cut(length)
				length = min(length, n)
				require.Equal(t, length, l.Len())
				l.Append(-1)
				want := append(append([]int{}, all(&was)[:length]...), -1)
				require.Equal(t, want, all(l))
				l, _ = again(t, l)
				require.Equal(t, want, all(l))
			})
		}
	}
}

func TestCopiesOfAListChangeAlone(t *testing.T) {
	was := numbers(2000)
	l, _ := again(t, &was)
	*l.At(0) = 5
	c := l.Clone()
	*c.At(0), *c.At(1500) = 6, 7
	require.Equal(t, []int{5, 1500}, []int{*l.At(0), *l.At(1500)})
}

func TestListsAreSearched(t *testing.T) {
	was := numbers(3000)
	l, decoded := again(t, &was)
	for _, wanted := range []int{-1, 0, 1023, 1024, 2999, 3000} {
		i, found := l.Search(func(e *int) int { return *e - wanted })
		require.Equal(t, max(wanted, 0), i)
		require.Equal(t, wanted >= 0 && wanted < 3000, found)
	}
	require.LessOrEqual(t, *decoded, 3)
}

func TestIDsAreFoundInASnapshot(t *testing.T) {
	names := make([]string, 1000)
	var ids snapshot.IDs
	for i := range names {
		names[i] = "id" + strconv.Itoa(i)
		ids.Set(names[i], int32(i))
	}
	var out bytes.Buffer
	for range 2 { // of a snapshot of a snapshot as well
		out.Reset()
		w := snapshot.NewWriter(&out)
		ids.Write(w)
		require.NoError(t, w.Err())
		ids.Read(snapshot.NewReader(bytes.Clone(out.Bytes())))
	}
	find := func(id string) (int32, bool) {
		return ids.Find(id, func(position int32) bool { return int(position) < len(names) && names[position] == id })
	}
	for i, name := range names {
		position, found := find(name)
		require.True(t, found)
		require.Equal(t, int32(i), position)
	}
	_, found := find("unknown")
	require.False(t, found)
	ids.Set("id7", 9)
	position, _ := find("id7")
	require.Equal(t, int32(9), position)
	names = names[:500]
	_, found = find("id500")
	require.False(t, found, "its position has it no more")
}

// TestPositionsFindEachElementOfAnID compares positions with a list of ids, of which some are equal. Three snapshots
// of it are made.
func TestPositionsFindEachElementOfAnID(t *testing.T) {
	var hashes snapshot.Positions
	var ids []string
	add := func(n int) {
		for range n {
			id := "id" + strconv.Itoa(len(ids)%400)
			hashes.Add(id, len(ids))
			ids = append(ids, id)
		}
	}
	cut := func(from int) {
		hashes.Cut(from)
		ids = ids[:min(from, len(ids))]
	}
	check := func() {
		t.Helper()
		for i := range 400 {
			id := "id" + strconv.Itoa(i)
			var want []int
			for at, other := range slices.Backward(ids) {
				if other == id {
					want = append(want, at)
				}
			}
			require.Equal(t, want, slices.Collect(hashes.Backward(id)))
		}
		require.Empty(t, slices.Collect(hashes.Backward("unknown")))
	}
	for _, length := range []int{2000, 900, 0} {
		add(1000)
		check()
		snapshottest.Copy(t, hashes.Write, hashes.Read)
		check()
		add(500)
		cut(length)
		check()
		add(100)
		check()
	}
}

func TestSnapshotsThatAreCutOffAreErrors(t *testing.T) {
	var out bytes.Buffer
	w := snapshot.NewWriter(&out)
	l := numbers(3000)
	l.Write(w, func(block []int) (any, error) { return block, nil })
	var ids snapshot.IDs
	ids.Set("x", 1)
	ids.Write(w)
	var hashes snapshot.Positions
	hashes.Add("x", 1)
	hashes.Write(w)
	for end := range out.Len() {
		r := snapshot.NewReader(out.Bytes()[:end])
		var read snapshot.List[int]
		read.Read(r, nil)
		new(snapshot.IDs).Read(r)
		new(snapshot.Positions).Read(r)
		require.Error(t, r.Err(), end)
	}
}
