package listen

import (
	"context"
	"sync"
	"time"
)

// beatsPerSilence is the number of heartbeats within the time of silence.
const beatsPerSilence = 3

// beat limits the silence of the connection, and sends heartbeats until stop is called. It does
// nothing if silence is 0.
func (c *Client) beat(silence time.Duration) (stop func()) {
	conn, ok := c.raw.(*timeoutConn)
	if silence == 0 || !ok {
		return func() {}
	}
	conn.isOpen.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	var beats sync.WaitGroup
	beats.Go(func() { c.sendBeats(ctx, conn, silence/beatsPerSilence) })
	return func() {
		cancel()
		beats.Wait()
	}
}

// sendBeats sends a ping whenever nothing was written for a pause. It does not disturb a write that
// waits for the other side. An error shows in Next and Write, too.
func (c *Client) sendBeats(ctx context.Context, conn *timeoutConn, pause time.Duration) {
	due := time.NewTicker(pause)
	defer due.Stop()
	for before := conn.writes.Load(); ; before = conn.writes.Load() {
		select {
		case <-ctx.Done():
			return
		case <-due.C:
		}
		if writes := conn.writes.Load(); writes == before && writes%2 == 0 {
			c.ping(ctx, pause)
		}
	}
}

// ping sends a ping and waits for its answer for at most a pause. The answer is read by Next, so it
// does not come while nothing is read.
func (c *Client) ping(ctx context.Context, pause time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	_ = c.ws.Ping(ctx)
}
