package listen

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// TestLongMessageIsNotKept checks that the buffer of a long message is freed.
func TestLongMessageIsNotKept(t *testing.T) {
	const size = 32 << 20
	read := make(chan int, 1)
	l := serving(t, Options{Serve: func(_ context.Context, c *Client) error {
		message, err := c.Next()
		read <- len(message)
		if err == nil {
			_, err = c.Next()
		}
		return err
	}})
	ws := visit(t, l)
	before := heap()
	require.NoError(t, ws.Write(t.Context(), websocket.MessageText, bytes.Repeat([]byte("x"), size)))
	require.Equal(t, size, <-read)
	require.Eventually(t, func() bool { return heap()-before < size/2 }, time.Minute, 50*time.Millisecond)
	require.NoError(t, ws.CloseNow())
}

// heap returns the heap memory in use, in bytes.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
