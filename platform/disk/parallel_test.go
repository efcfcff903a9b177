package disk

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResultsAreInOrder(t *testing.T) {
	jobs := func(yield func(int) bool) {
		for n := 0; n < 1000 && yield(n); n++ {
		}
	}
	want := 0
	for n := range InOrder(jobs, func(n int) int { return -n }) {
		require.Equal(t, -want, n)
		want++
	}
	require.Equal(t, 1000, want)
	for n := range InOrder(jobs, func(n int) int { return n }) {
		if n == 10 {
			break // no goroutine is left, as TestMain checks
		}
	}
	for range InOrder(func(func(int) bool) {}, func(n int) int { return n }) {
		t.Fatal("there is no job")
	}
}

func TestAPanicOfAJobPassesToTheCaller(t *testing.T) {
	jobs := slices.Values([]int{0, 1, 2, 3})
	var done []int
	require.PanicsWithValue(t, "two", func() {
		for n := range InOrder(jobs, func(n int) int {
			if n == 2 {
				panic("two")
			}
			return n
		}) {
			done = append(done, n)
		}
	})
	require.Equal(t, []int{0, 1}, done)
}

func TestAPanicOfAPartPassesToTheCaller(t *testing.T) {
	require.PanicsWithValue(t, "one", func() {
		Parallel(2, func(i int) {
			if i == 1 {
				panic("one")
			}
		})
	})
}

func TestValuesAreMadeAhead(t *testing.T) {
	second := make(chan bool)
	values := func(yield func(int) bool) {
		_ = yield(1)
		close(second)
		_ = yield(2)
	}
	var got []int
	for n := range Ahead(values) {
		<-second // the second value is made while the first one is handled
		got = append(got, n)
	}
	require.Equal(t, []int{1, 2}, got)
}

func TestValuesAheadEndWithTheIteration(t *testing.T) {
	for made := range 20 {
		ended := false
		n := 0
		for range Ahead(func(yield func(int) bool) {
			defer func() { ended = true }()
			for yield(0) {
			}
		}) {
			if n++; n > made {
				break
			}
		}
		require.True(t, ended)
	}
}

func TestAPanicOfAValuePassesToTheCaller(t *testing.T) {
	var got []int
	require.PanicsWithValue(t, "third", func() {
		for n := range Ahead(func(yield func(int) bool) {
			_ = yield(1) && yield(2)
			panic("third")
		}) {
			got = append(got, n)
		}
	})
	require.Equal(t, []int{1, 2}, got)
}
