package tool

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
)

// pumped runs a pump on the output of write, and returns the pieces and the transcript.
func pumped(t *testing.T, keep, wire int, write func(*os.File)) (pieces []string, text string) {
	t.Helper()
	out, in, err := outputPipe()
	require.NoError(t, err)
	started := false
	p := newPump(newSource(out), keep, wire, func(text string) {
		require.True(t, started)
		pieces = append(pieces, text)
	})
	go p.run(func() { started = true })
	write(in)
	require.NoError(t, in.Close())
	<-p.done
	require.True(t, started)
	return pieces, p.close()
}

func TestPumpPassesOnOutput(t *testing.T) {
	pieces, text := pumped(t, 100, 100, func(in *os.File) {
		for _, piece := range []string{"a", "\xe2\x82", "\xac", "\xff", "end\xe2"} {
			_, err := in.WriteString(piece)
			require.NoError(t, err)
		}
	})
	require.Equal(t, "a€\ufffdend\ufffd", strings.Join(pieces, ""))
	require.Equal(t, "a€\ufffdend\ufffd", text)
	require.NotContains(t, pieces, "")
}

func TestPumpWithoutOutput(t *testing.T) {
	pieces, text := pumped(t, 100, 100, func(*os.File) {})
	require.Empty(t, pieces)
	require.Empty(t, text)
}

func TestPumpCoalescesWhileOutputIsBlocked(t *testing.T) {
	out, in, err := outputPipe()
	require.NoError(t, err)
	entered, release := make(chan struct{}), make(chan struct{})
	var pieces []string
	p := newPump(newSource(out), 100, 1<<20, func(text string) {
		if len(pieces) == 0 {
			close(entered)
			<-release
		}
		pieces = append(pieces, text)
	})
	go p.run(func() {})
	_, err = in.WriteString("first")
	require.NoError(t, err)
	<-entered
	for range 4_000 {
		_, err := in.WriteString(strings.Repeat("x", 10))
		require.NoError(t, err)
	}
	close(release)
	require.NoError(t, in.Close())
	<-p.done
	require.Equal(t, []string{"first", strings.Repeat("x", readSize), strings.Repeat("x", 40_000-readSize)}, pieces)
}

func TestPumpSendsTheNoticeOnce(t *testing.T) {
	const notice = core.MoreOutput
	for _, c := range []struct {
		written string
		want    []string
	}{
		{"0123456789", []string{"0123456789"}},
		{"0123456789a", []string{"0123456789", notice}},
		{"012345678é", []string{"012345678", notice}},
		{strings.Repeat("x", 3*readSize), []string{"xxxxxxxxxx", notice}},
	} {
		pieces, text := pumped(t, 1<<20, 10, func(in *os.File) {
			_, err := in.WriteString(c.written)
			require.NoError(t, err)
		})
		require.Equal(t, c.want, pieces)
		require.Equal(t, c.written, text)
	}
	pieces, _ := pumped(t, 100, 10, func(in *os.File) {
		for range 30 {
			_, err := in.WriteString("0123")
			require.NoError(t, err)
		}
	})
	require.Equal(t, "0123012301"+notice, strings.Join(pieces, ""))
}

// TestPumpBoundsPieces, except for commands in the background.
func TestPumpBoundsPieces(t *testing.T) {
	for wire, want := range map[int]int{1 << 20: core.MaxOutputPieces + 1, math.MaxInt: 2 * core.MaxOutputPieces} {
		p := newPump(newSource(nil), 1<<20, wire, func(string) {})
		for range 2 * core.MaxOutputPieces {
			require.True(t, p.keep("x"))
		}
		require.Equal(t, want, p.passed)
		require.Len(t, p.close(), 2*core.MaxOutputPieces)
	}
}

// TestPumpDoesNotWaitAfterTheEnd: a process may still hold the other end of the pipe. Earlier output is
// complete.
func TestPumpDoesNotWaitAfterTheEnd(t *testing.T) {
	out, in, err := outputPipe()
	require.NoError(t, err)
	defer in.Close()
	entered, release := make(chan struct{}, 100), make(chan struct{})
	var text strings.Builder
	p := newPump(newSource(out), 100, 1<<20, func(piece string) {
		entered <- struct{}{}
		<-release
		text.WriteString(piece)
	})
	go p.run(func() {})
	_, err = in.WriteString("first")
	require.NoError(t, err)
	<-entered
	_, err = in.WriteString(strings.Repeat("x", 60_000))
	require.NoError(t, err)
	p.setEnded()
	close(release)
	<-p.done
	require.Equal(t, "first"+strings.Repeat("x", 60_000), text.String())
}

func TestClosedPumpCallsNothing(t *testing.T) {
	out, in, err := outputPipe()
	require.NoError(t, err)
	defer in.Close()
	p := newPump(newSource(out), 100, 100, func(string) { panic("output") })
	require.Empty(t, p.close())
	p.run(func() { panic("started") })
	require.True(t, !pending(p.done))
}

func TestClosedPumpStopsReading(t *testing.T) {
	out, in, err := outputPipe()
	require.NoError(t, err)
	defer in.Close()
	var p *pump
	calls, kept := 0, ""
	p = newPump(newSource(out), 100, 1<<20, func(string) {
		calls++
		kept = p.close()
	})
	_, err = in.WriteString("one")
	require.NoError(t, err)
	go p.run(func() {})
	for pending(p.done) {
		if _, err := in.WriteString("two"); err != nil {
			break // the pump has closed the pipe
		}
	}
	<-p.done
	require.Equal(t, 1, calls)
	require.True(t, strings.HasPrefix(kept, "one"))
}
