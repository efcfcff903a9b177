package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// maxUnfinishedKiB bounds the resident memory of a server whose clients send messages without an end:
// docs/transports.md.
const maxUnfinishedKiB = 640 << 10

// TestUnfinishedMessagesAreBounded connects 20 clients that each send 59 MB of a message and no end. The server keeps
// within its bound, serves another client, and takes a message of 60 MB from it. Silent clients are disconnected.
func TestUnfinishedMessagesAreBounded(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	h := apptest.StartDaemon(t, apptest.ShortDir(t), "ws://127.0.0.1:0")
	c := h.ConnectInitialized()
	part := bytes.Repeat([]byte("x"), 1<<20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{}, 20)
	for range 20 {
		ws := h.OpenWebSocket()
		go func() {
			defer func() { ended <- struct{}{} }()
			w, err := ws.Writer(ctx, 1)
			for range 59 {
				if err == nil {
					_, err = w.Write(part)
				}
			}
			if err == nil {
				_, _, _ = ws.Read(ctx) // ends with the connection
			}
		}()
	}
	peak := 0
	watch := func() {
		peak = max(peak, apptest.StatusKiB(t, h.Cmd.Process.Pid, "VmRSS:"))
		begin := time.Now()
		c.Call("config/read", apptest.Object{})
		require.Less(t, time.Since(begin), 5*time.Second, "another client waits")
	}
	for begin := time.Now(); time.Since(begin) < 2*time.Second; {
		watch()
	}
	path := filepath.Join(t.TempDir(), "large")
	data := strings.Repeat("y", 44<<20)
	large := h.ConnectInitialized()
	done := make(chan struct{})
	go func() {
		defer close(done)
		encoded := base64.StdEncoding.EncodeToString([]byte(data))
		large.SendRequest("fs/writeFile", apptest.Object{"path": path, "dataBase64": encoded})
	}()
	for written := false; !written; {
		watch()
		select {
		case <-done:
			written = true
		default:
		}
	}
	large.UntilResponse(fmt.Sprint(large.LastID))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, len(data), info.Size())
	t.Logf("peak %d MiB", peak>>10)
	require.Less(t, peak, maxUnfinishedKiB)
	<-ended // the silent ones that held shares are disconnected
	cancel()
	h.Terminate()
}
