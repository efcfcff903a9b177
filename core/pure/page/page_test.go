package page_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/page"
	"appserver/test/sample"
)

func ExampleDirection_Indices() {
	letters := []string{"a", "b", "c", "d", "e"}
	begin := page.Descending.Begin(len(letters))
	for more := true; more; {
		var indices []int
		indices, more = page.Descending.Indices(begin, len(letters), 2, nil)
		for _, i := range indices {
			fmt.Print(letters[i], " ")
		}
		fmt.Println(more)
		begin = page.Descending.Next(indices[len(indices)-1])
	}
	// Output:
	// e d true
	// c b true
	// a false
}

func TestSizeIsWithinItsLimits(t *testing.T) {
	require.Equal(t, 25, page.Size(nil, 25, 100))
	for requested, want := range map[uint32]int{0: 1, 1: 1, 99: 99, 100: 100, 101: 100, math.MaxUint32: 100} {
		require.Equal(t, want, page.Size(&requested, 25, 100), requested)
	}
	require.Equal(t, page.Unlimited, page.Size(new(uint32(math.MaxUint32)), page.Unlimited, page.Unlimited))
}

func TestFirstReportsMoreOnlyIfThereIsMore(t *testing.T) {
	for size, want := range map[int]string{
		0: "[] true", 2: "[1 2] true", 3: "[1 2 3] false", page.Unlimited: "[1 2 3] false",
	} {
		entries, more := page.First([]int{1, 2, 3}, size)
		require.Equal(t, want, fmt.Sprint(entries, more), size)
	}
	entries, more := page.First([]int(nil), 5)
	require.Empty(t, entries)
	require.False(t, more)
}

func TestNoEntriesOutsideOfTheList(t *testing.T) {
	for _, d := range []page.Direction{page.Ascending, page.Descending} {
		for _, begin := range []int{-1, 3} {
			indices, more := d.Indices(begin, 3, 5, nil)
			require.Empty(t, indices)
			require.False(t, more)
		}
	}
}

// TestPagesAreTheWholeList reads all pages of a list. Each entry that fits is on exactly one page,
// in order, and no page but the only one of an empty list is empty.
func TestPagesAreTheWholeList(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]page.Direction{page.Ascending, page.Descending}).Draw(t, "direction")
		list := rapid.SliceOfN(rapid.Bool(), 0, 30).Draw(t, "list")
		size := rapid.IntRange(1, 8).Draw(t, "size")
		fits := func(i int) bool { return list[i] }
		var want, got []int
		for i := range list {
			if list[i] {
				want = append(want, i)
			}
		}
		if d == page.Descending {
			slices.Reverse(want)
		}
		begin := d.Begin(len(list))
		for more := true; more; {
			var indices []int
			indices, more = d.Indices(begin, len(list), size, fits)
			require.LessOrEqual(t, len(indices), size)
			if more {
				require.Len(t, indices, size)
			}
			got = append(got, indices...)
			if len(indices) > 0 {
				begin = d.Next(indices[len(indices)-1])
			}
		}
		require.Equal(t, want, got)
	})
}
