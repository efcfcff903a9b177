package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// The benchmarks of context control look at lines as they leave the pipe, without
// decoding them: a list of 10,000 items costs a client more than the server.

// lineClient sends requests and waits for lines that contain a text.
type lineClient struct {
	b     testing.TB
	in    io.WriteCloser
	out   *bufio.Reader
	id    int
	close func()
	pid   int
	// head is the beginning of the line that was awaited, as far as it went into the buffer.
	head []byte
	// arrived is when the first byte of that line came.
	arrived time.Time
	// received is the number of bytes of all lines so far.
	received int64
	// ended are the turns that were completed so far.
	ended int
}

func newLineClient(b testing.TB, home string) *lineClient {
	return dialLines(b, apptest.OfflineCommand(b, home))
}

// dialLines starts a server, and initializes.
func dialLines(b testing.TB, cmd *exec.Cmd) *lineClient {
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	c := &lineClient{b: b, in: in, out: bufio.NewReaderSize(out, 1<<20), pid: cmd.Process.Pid}
	c.close = sync.OnceFunc(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, c.out)
		_ = cmd.Wait()
	})
	b.Cleanup(c.close)
	c.call("initialize", `{"clientInfo":{"name":"bench","version":"1"},"capabilities":{"experimentalApi":true}}`)
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"initialized"}`+"\n")
	require.NoError(b, err)
	return c
}

// send writes a request and gives its id.
func (c *lineClient) send(method, params string) int {
	c.id++
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, params)
	require.NoError(c.b, err)
	return c.id
}

// await reads up to the line whose members begin like this, and gives its length. The
// reference implementation writes no "jsonrpc" before them.
func (c *lineClient) await(begin string) int {
	for {
		_, _ = c.out.Peek(1) // an error comes again
		arrived := time.Now()
		length, first := 0, true
		matches := false
		for {
			part, err := c.out.ReadSlice('\n')
			length += len(part)
			c.received += int64(len(part))
			if first {
				members := bytes.TrimPrefix(bytes.TrimPrefix(part, []byte("{")), []byte(`"jsonrpc":"2.0",`))
				if bytes.HasPrefix(members, []byte(turnCompleted)) && bytes.Contains(members, []byte(`"status":"completed"`)) {
					c.ended++
				}
				if matches, first = bytes.HasPrefix(members, []byte(begin)), false; matches {
					c.head, c.arrived = append(c.head[:0], part...), arrived
				}
			}
			if err == nil {
				break
			}
			require.ErrorIs(c.b, err, bufio.ErrBufferFull)
		}
		if matches {
			return length
		}
	}
}

func (c *lineClient) call(method, params string) int {
	id := c.send(method, params)
	return c.await(fmt.Sprintf(`"id":%d,`, id))
}

// settle waits until our server has read all threads of the home.
func (c *lineClient) settle() {
	for c.call("thread/search", `{"searchTerm":"no such text"}`); !gjson.GetBytes(c.head, "result.complete").Bool(); {
		<-time.After(10 * time.Millisecond)
		c.call("thread/search", `{"searchTerm":"no such text"}`)
	}
}

const (
	contextItems  = `"method":"ContextItems"`
	turnCompleted = `"method":"turn/completed"`
)

func BenchmarkContext(b *testing.B) {
	for _, items := range []int{10_000, 100_000} {
		home := b.TempDir()
		thread := writeItems(b, home, items)
		of := func(rest string) string { return fmt.Sprintf(`{"threadId":%q%s}`, thread, rest) }
		resumed := func(b *testing.B) *lineClient {
			c := newLineClient(b, home)
			c.call("thread/resume", of(`,"excludeTurns":true`))
			return c
		}
		b.Run(fmt.Sprintf("getItems/first/items=%d", items), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := resumed(b)
				b.StartTimer()
				c.call("context/getItems", of(""))
				b.StopTimer()
				c.close()
				b.StartTimer()
			}
			milliseconds(b, 0)
		})
		b.Run(fmt.Sprintf("getItems/items=%d", items), func(b *testing.B) {
			c := resumed(b)
			before := residentKiB(b, c.pid)
			c.call("context/getItems", of(""))
			after := residentKiB(b, c.pid)
			for b.Loop() {
				c.call("context/getItems", of(""))
			}
			b.ReportMetric(float64(after-before)*1024/float64(items), "B/item")
			milliseconds(b, 10*float64(items)/10_000)
		})
		b.Run(fmt.Sprintf("toggle/items=%d", items), func(b *testing.B) {
			c := resumed(b)
			c.call("context/getUsage", of(""))
			included := false
			for b.Loop() {
				c.call("context/setInclusion", of(fmt.Sprintf(`,"indices":[7],"included":%v`, included)))
				b.StopTimer()
				c.await(contextItems)
				included = !included
				b.StartTimer()
			}
			milliseconds(b, 2)
		})
		b.Run(fmt.Sprintf("prune/items=%d", items), func(b *testing.B) {
			c := resumed(b)
			c.call("context/getUsage", of(""))
			for b.Loop() {
				c.call("context/prune", of(`,"categories":["toolOutput"]`))
				b.StopTimer()
				c.await(contextItems)
				c.call("context/undo", of(""))
				c.await(contextItems)
				b.StartTimer()
			}
			milliseconds(b, 0)
		})
		b.Run(fmt.Sprintf("notification/items=%d", items), func(b *testing.B) {
			c := resumed(b)
			c.call("context/getUsage", of(""))
			var delay time.Duration
			pinned := true
			for b.Loop() {
				c.call("context/pin", of(fmt.Sprintf(`,"indices":[7],"pinned":%v`, pinned)))
				start := time.Now()
				b.SetBytes(int64(c.await(contextItems)))
				delay += time.Since(start)
				pinned = !pinned
			}
			b.ReportMetric(delay.Seconds()*1e3/float64(b.N), "ms-after-the-response")
		})
	}
}

// milliseconds reports the time and, if there is one, the budget.
func milliseconds(b *testing.B, budget float64) {
	if budget > 0 {
		b.ReportMetric(budget, "budget-ms")
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
}

// writeItems writes a thread with that many context items: questions, calls, outputs
// and answers of about 250 bytes.
func writeItems(b testing.TB, home string, items int) string {
	thread, f := apptest.BeginRollout(b, home)
	w := bufio.NewWriter(f)
	text := strings.Repeat("The parser takes what it can and says where it stopped. ", 4)
	for i := range items / 4 {
		for _, item := range []string{
			fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"%d %s"}]}`, i, text),
			fmt.Sprintf(`{"type":"function_call","name":"shell","arguments":"{\"command\":\"ls -l %d\"}","call_id":"call_%d"}`,
				i, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"Exit code: 0\n%s"}`, i, text),
			fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}`, text),
		} {
			fmt.Fprintf(w, `{"timestamp":"2026-11-21T11:45:07.000Z","type":"response_item","payload":%s}`+"\n", item)
		}
	}
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
	return thread
}
