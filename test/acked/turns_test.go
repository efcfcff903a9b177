package acked

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// recorder is a test that records its failure.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.failure += fmt.Sprintf(format, args...) }

func (r *recorder) FailNow() { panic(r) }

// resolve resolves the reverts of a thread from the turns of a view. It returns the failure, or "".
func resolve(t *testing.T, th *Thread, shown ...string) string {
	var v apptest.ThreadView
	for _, id := range shown {
		v.Turns = slices.Grow(v.Turns, 1)[:len(v.Turns)+1]
		v.Turns[len(v.Turns)-1].ID = id
	}
	r := &recorder{TB: t}
	func() {
		defer func() {
			if failed := recover(); failed != nil && failed != any(r) {
				panic(failed)
			}
		}()
		th.ResolveSharedReverts(r, v)
	}()
	return r.failure
}

// TestSharedRevertsHappenAsAWholeOrNotAtAll resolves a revert to the second of three turns. A fourth turn was
// reported after its response.
func TestSharedRevertsHappenAsAWholeOrNotAtAll(t *testing.T) {
	for name, c := range map[string]struct {
		isAnswered  bool
		shown, left []string
		isWrong     bool
	}{
		"not executed":                 {false, []string{"1", "2", "3", "4"}, []string{"1", "2", "3", "4"}, false},
		"executed before the fourth":   {false, []string{"1", "4"}, []string{"1", "4"}, false},
		"executed after the fourth":    {false, []string{"1"}, []string{"1"}, false},
		"executed in part":             {false, []string{"1", "2"}, nil, true},
		"answered, before the fourth":  {true, []string{"1", "4"}, []string{"1", "4"}, false},
		"answered, after the fourth":   {true, []string{"1"}, []string{"1"}, false},
		"a turn before the revert":     {false, []string{"2", "3", "4"}, []string{"1", "2", "3", "4"}, false},
		"a turn before it, and itself": {false, []string{}, []string{"1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			th := NewThread(apptest.ThreadView{})
			for _, turn := range []string{"3", "1", "2"} {
				th.AddInput("mark"+turn, turn)
			}
			executed, _ := th.RequestRevert("2")
			if c.isAnswered {
				executed()
			}
			th.AddInput("mark4", "4")
			failure := resolve(t, th, c.shown...)
			require.Equal(t, c.isWrong, failure != "", failure)
			if !c.isWrong {
				require.Equal(t, c.left, th.Turns)
				require.Len(t, th.Marks, len(c.left), "marks of other turns stay, so that CheckView misses them")
			}
		})
	}
}

// TestRejectedRevertsHideNothing compares items after a revert that was rejected.
func TestRejectedRevertsHideNothing(t *testing.T) {
	th := NewThread(apptest.ThreadView{})
	th.AddInput("mark1", "1")
	th.AddInput("mark2", "2")
	th.TurnOf["a"], th.TurnOf["b"] = "1", "2"
	_, rejected := th.RequestRevert("2")
	require.False(t, th.MayBeReverted("a"))
	require.True(t, th.MayBeReverted("b"))
	rejected()
	require.False(t, th.MayBeReverted("b"))
}
