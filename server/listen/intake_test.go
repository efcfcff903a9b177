package listen

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// smallIntake returns an intake with one share of each class.
func smallIntake(maxPatience time.Duration) *Intake {
	return &Intake{patience: 50 * time.Millisecond, maxPatience: maxPatience,
		classes: [2]class{{bytes: mediumBytes, shares: 1}, {bytes: maxMessage, shares: 1}}}
}

// beginMessage sends a part of a message of two MiB.
func beginMessage(t *testing.T, ws *websocket.Conn) {
	t.Helper()
	w, err := ws.Writer(t.Context(), websocket.MessageText)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 2<<20))
	require.NoError(t, err)
}

// requireEcho sends a message and requires the same message.
func requireEcho(t *testing.T, ws *websocket.Conn, length int) {
	t.Helper()
	ws.SetReadLimit(-1)
	sent := strings.Repeat("x", length)
	require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte(sent)))
	_, got, err := ws.Read(t.Context())
	require.NoError(t, err)
	require.True(t, sent == string(got))
}

// TestSilentClientLosesItsShare begins a message without an end. Short messages of others pass meanwhile. A long one
// takes the share, and the silent client learns why.
func TestSilentClientLosesItsShare(t *testing.T) {
	l := echoes(t, Options{Intake: smallIntake(time.Hour)})
	silent, other := visit(t, l), visit(t, l)
	beginMessage(t, silent)
	requireEcho(t, other, 1000)
	requireEcho(t, other, 2<<20)
	_, _, err := silent.Read(t.Context())
	require.Equal(t, websocket.StatusTryAgainLater, websocket.CloseStatus(err))
	require.ErrorContains(t, err, "other clients waited")
	requireEcho(t, other, 3<<20)
}

// TestSlowClientLosesItsShareLater sends a message in small parts without an end. A message of another client takes
// the share after the maximum.
func TestSlowClientLosesItsShareLater(t *testing.T) {
	const most = 300 * time.Millisecond
	l := echoes(t, Options{Intake: smallIntake(most)})
	slow, other := visit(t, l), visit(t, l)
	w, err := slow.Writer(t.Context(), websocket.MessageText)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 2<<20))
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for err := error(nil); err == nil; time.Sleep(5 * time.Millisecond) {
			_, err = w.Write(make([]byte, 8<<10))
		}
	}()
	begin := time.Now()
	requireEcho(t, other, 2<<20)
	require.GreaterOrEqual(t, time.Since(begin), most/2)
	<-ended
}

// TestManyMessagesShareTheIntake sends long messages from many clients at once. All pass, one after the other.
func TestManyMessagesShareTheIntake(t *testing.T) {
	intake := NewIntake()
	for i := range intake.classes {
		intake.classes[i].shares = 1
	}
	l := echoes(t, Options{Intake: intake})
	done := make(chan error)
	for range 8 {
		ws := visit(t, l)
		ws.SetReadLimit(-1)
		go func() {
			err := ws.Write(t.Context(), websocket.MessageText, make([]byte, 3<<20))
			if err == nil {
				_, _, err = ws.Read(t.Context())
			}
			done <- err
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
}

// TestOpenHandshakesKeepNoClientOut opens more connections without a request than are permitted.
func TestOpenHandshakesKeepNoClientOut(t *testing.T) {
	l := echoes(t, Options{})
	var first net.Conn
	for i := range 2 * maxHandshakes {
		c, err := net.Dial("unix", l.Address.Path)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		if i == 0 {
			first = c
		}
	}
	requireEcho(t, visit(t, l), 10)
	require.NoError(t, first.SetReadDeadline(time.Now().Add(30*time.Second)))
	_, err := first.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the oldest connection is open")
}
