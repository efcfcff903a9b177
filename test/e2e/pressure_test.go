package e2e

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// memoryKiB returns a figure of the server's memory: VmRSS is the current amount, VmHWM the
// maximum.
func memoryKiB(c *apptest.Client, figure string) int {
	c.T.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Cmd.Process.Pid))
	require.NoError(c.T, err)
	_, rest, found := strings.Cut(string(status), "\n"+figure+":")
	require.True(c.T, found)
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(c.T, err)
	return kib
}

// streamState is a state of an answer that is streamed.
type streamState string

const (
	written streamState = "written" // a part was written
	blocked streamState = "blocked" // nothing could be written for a second
	ended   streamState = "ended"
)

// numberedStream answers with numbered deltas of 64 bytes.
type numberedStream struct {
	t      *testing.T
	deltas int
	// states has each state that the answer was in.
	states chan streamState
}

func newNumberedStream(t *testing.T, deltas int) numberedStream {
	return numberedStream{t, deltas, make(chan streamState, deltas)}
}

func (s numberedStream) answer(w io.Writer) {
	conn, _, err := http.NewResponseController(w.(http.ResponseWriter)).Hijack()
	if err != nil {
		panic(err) // the test's server catches it
	}
	defer conn.Close()
	body := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
	for i := range s.deltas {
		body = append(body, apptest.ChatChunk(apptest.Object{"content": numbered(i)}, nil)...)
		if len(body) > 64<<10 {
			s.write(conn, body)
			body = body[:0]
		}
	}
	s.write(conn, append(body, apptest.ChatChunk(apptest.Object{}, "stop")+"data: [DONE]\n\n"...))
	s.states <- ended
}

// next waits for the next state. It fails if the answer was not asked for, or has ended.
func (s numberedStream) next() streamState {
	s.t.Helper()
	select {
	case state := <-s.states:
		return state
	case <-time.After(apptest.Timeout):
		s.t.Fatal("the server does not ask for the answer")
		return ""
	}
}

func numbered(i int) string { return fmt.Sprintf("%-63d\n", i) }

// write writes a part and waits for its reader, unless the connection fails.
func (s numberedStream) write(conn net.Conn, part []byte) {
	for len(part) > 0 {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // an error shows in the write
		n, err := conn.Write(part)
		part = part[n:]
		switch {
		case n > 0:
			s.states <- written
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.states <- blocked
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// untilTurnEnds calls do with each message until a turn ends, and returns its end. It waits without a limit: after the
// last delta, nothing is sent while the server stores the whole text, which takes long on a busy machine.
func untilTurnEnds(c *apptest.Client, do func(apptest.Message)) apptest.Message {
	c.T.Helper()
	for m := range c.Messages {
		if m.Method == "turn/completed" {
			return *m
		}
		do(*m)
	}
	c.T.Fatal("the server closed its output during a turn")
	return apptest.Message{}
}

// restingKiB returns the memory of the server between turns, after the tables of the tokenizer were
// loaded.
func restingKiB(c *apptest.Client, thread string) int {
	c.T.Helper()
	c.Call("context/getUsage", apptest.Object{"threadId": thread})
	return memoryKiB(c, "VmRSS")
}

var unread = flag.Duration("unread", 2*time.Second, "time for which TestUnreadStreamSlowsProvider does not read")

// TestUnreadStreamSlowsProvider streams 200,000 deltas to a client that does not read. The server
// stops reading from the provider, its memory stays bounded, and nothing is missing afterwards, for
// the client and in the rollout.
func TestUnreadStreamSlowsProvider(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	const deltas = 200_000
	stream := newNumberedStream(t, deltas)
	p := apptest.NewProvider(t, stream.answer)
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{})
	base := restingKiB(c, id)
	resume := c.StopReading()
	c.SendRequest("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("stream")})
	for state := written; state != blocked; state = stream.next() {
		require.NotEqual(t, ended, state, "the server keeps reading")
	}
	for end := time.After(*unread); end != nil; {
		select {
		case state := <-stream.states:
			require.NotEqual(t, ended, state, "the provider is still blocked")
		case <-end:
			end = nil
		}
	}
	// A busy machine collects garbage later: alone, the peak is below 64 MiB.
	require.Less(t, memoryKiB(c, "VmHWM")-base, apptest.RaceFactor*96<<10, "KiB")

	resume()
	var text strings.Builder
	end := untilTurnEnds(c, func(m apptest.Message) {
		if m.Method == "item/agentMessage/delta" {
			var p struct{ Delta string }
			require.NoError(t, json.Unmarshal(m.Params, &p))
			text.WriteString(p.Delta)
		}
	})
	require.Equal(t, "completed", gjson.GetBytes(end.Params, "turn.status").Str)
	whole := text.String()
	require.Len(t, whole, deltas*64)
	for i := range deltas {
		require.True(t, strings.HasPrefix(whole[i*64:], numbered(i)), "delta %d", i)
	}
	c.Close()

	turns := apptest.StartOffline(t, home).ReadThread(id).Turns
	require.Len(t, turns, 1)
	require.Equal(t, "completed", turns[0].Status)
	require.Equal(t, whole, gjson.GetBytes(turns[0].Items[len(turns[0].Items)-1], "text").Str)
}

// TestCommandOutputIsBounded runs a command that writes 64 MiB. The client gets half of it and a
// notice, and 40 KB are kept for the model.
func TestCommandOutputIsBounded(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	id := c.StartTrusted()
	base := restingKiB(c, id)
	c.BeginTurn(id, "run: echo first; head -c 67108864 /dev/zero | tr '\\0' x; echo; echo last")
	output := c.UntilCommand().AggregatedOutput
	require.Less(t, memoryKiB(c, "VmHWM")-base, apptest.RaceFactor*64<<10, "KiB")
	c.AwaitTurn()
	c.Close()

	require.True(t, strings.HasPrefix(output, "first\n") && strings.HasSuffix(output, "\nlast\n"), "head and tail")
	require.Less(t, len(output), 41_000)
	var text strings.Builder
	for _, m := range c.Seen {
		if m.Method == "item/commandExecution/outputDelta" {
			var p struct{ Delta string }
			require.NoError(t, json.Unmarshal(m.Params, &p))
			text.WriteString(p.Delta)
		}
	}
	require.InDelta(t, core.MaxOutputBytes, text.Len(), 200)
	require.Equal(t, core.MoreOutput, text.String()[core.MaxOutputBytes:])
}

// TestLongLinesAreAnswered sends lines of 64 MiB, and of one byte more.
// It needs much memory, so no test runs beside it.
func TestLongLinesAreAnswered(t *testing.T) {
	sample.Long(t)
	c := apptest.StartOffline(t, t.TempDir())
	line := func(id, size int) string {
		head, tail := fmt.Sprintf(`{"id":%d,"method":"model/list","params":{"junk":"`, id), `"}}`
		return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
	}
	c.Write(line(100, maxLine))
	require.Nil(t, c.UntilResponse("100").Error)
	c.Write(line(101, maxLine+1))
	require.Equal(t, "invalidRequest", c.UntilResponse("null").Error.Data.Kind)
	c.Call("model/list", apptest.Object{})
	c.Close()
}

// TestMemoryOfALongLineIsReturned compares the memory after a line of the maximum length with the memory before.
func TestMemoryOfALongLineIsReturned(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	c.Call("model/list", apptest.Object{})
	resident := func() int { return apptest.StatusKiB(t, c.Cmd.Process.Pid, "VmRSS:") }
	before := resident()
	start := `{"id":100,"method":"thread/name/set","params":{"name":"n","threadId":"`
	c.Write(start + strings.Repeat("x", maxLine-len(start)-len(`"}}`)) + `"}}`)
	refusal := c.UntilResponse("100").Error
	require.Equal(t, "invalidThreadId", refusal.Data.Kind)
	require.Less(t, len(refusal.Message), 17<<10)
	require.Contains(t, refusal.Message, "is not a UUID")
	require.Greater(t, resident(), before+64<<10)
	require.Eventually(t, func() bool { return resident() < before+16<<10 }, 30*time.Second, 50*time.Millisecond)
	c.Close()
}

// maxLine is the maximum length of an accepted line in bytes, without its end.
const maxLine = 64 << 20

// TestEachRequestHasOneResponse pipelines requests while the client does not read.
func TestEachRequestHasOneResponse(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	requests := 10_000 / apptest.RaceFactor
	c := apptest.StartOffline(t, t.TempDir())
	methods := []struct {
		name   string
		params any
		want   string // part of the response
	}{
		{"config/read", apptest.Object{}, `"result":{"config":`},
		{"model/list", apptest.Object{}, `"result":{"data":`},
		{"no/such", nil, `"code":-32601`},
		{"thread/read", apptest.Object{"threadId": "x"}, `"kind":"invalidThreadId"`},
		{"thread/list", apptest.Object{}, `"result":{"data":`},
	}
	resume := c.StopReading()
	for i := range requests {
		m := methods[i%len(methods)]
		c.Send(apptest.Object{"id": requestID(i), "method": m.name, "params": m.params})
	}
	resume()
	for open := requests; open > 0; {
		if m := c.Next(); m.Method == "" {
			open--
		}
	}
	c.Close()

	answers, overloaded := map[string]string{}, 0
	for _, m := range c.Seen {
		if m.Method == "" && m.ID != nil {
			require.Empty(t, answers[string(m.ID)], "a second response")
			answers[string(m.ID)] = m.Line
		}
	}
	for i := range requests {
		id, err := json.Marshal(requestID(i))
		require.NoError(t, err)
		answer := answers[string(id)]
		if strings.Contains(answer, `"code":-32001`) {
			overloaded++
			continue
		}
		require.Contains(t, answer, methods[i%len(methods)].want)
	}
	require.Less(t, overloaded, requests)
	require.Len(t, answers, requests+1, "plus the response to initialize")
}

// requestID returns a string or a number.
func requestID(i int) any {
	if i%2 == 0 {
		return fmt.Sprintf("request %d", i)
	}
	return -i
}

// TestAcceptedRequestsAreAnswered closes the input right after dozens of requests. The shutdown has 2.5 s for them.
func TestAcceptedRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{})
	c.Turn(id, "hello")
	c.Close()

	c = apptest.StartProcess(t, apptest.OfflineCommand(t, home))
	var lines strings.Builder
	add := func(method string, params apptest.Object) {
		c.LastID++
		line, err := json.Marshal(apptest.Object{"id": c.LastID, "method": method, "params": params})
		require.NoError(t, err)
		lines.WriteString(string(line) + "\n")
	}
	add("initialize", apptest.Object{"clientInfo": apptest.Object{"name": "test", "version": "1"}})
	add("thread/resume", apptest.Object{"threadId": id})
	for c.LastID < 40 {
		add("thread/start", apptest.Object{})
		add("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
		add("thread/name/set", apptest.Object{"threadId": id, "name": fmt.Sprint("name ", c.LastID)})
		add("thread/list", apptest.Object{})
		add("model/list", apptest.Object{})
		add("config/read", apptest.Object{"includeLayers": true})
	}
	_, err := io.WriteString(c.In, lines.String())
	require.NoError(t, err)
	c.Close()

	answers := 0
	for _, m := range c.Seen {
		if m.Method == "" {
			answers++
			require.Nil(t, m.Error, m.Line)
		}
	}
	require.Equal(t, c.LastID, answers)
	require.Equal(t, fmt.Sprint("name ", c.LastID-4), apptest.StartOffline(t, home).ReadThread(id).Name,
		"the last acknowledged name")
}

// TestUnreadClientIsDisconnected connects a client that reads none of 200,000 deltas. It is
// disconnected, others are served meanwhile, and a client that resumes the thread gets all of it.
func TestUnreadClientIsDisconnected(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	const deltas = 200_000
	stream := newNumberedStream(t, deltas)
	p := apptest.NewProvider(t, stream.answer)
	h := apptest.LaunchDaemon(t,
		apptest.ServerCommand(t, p.Home(t), "--listen", shortAddress(t, "unix://"), "-c", "compat.turn_completed_floor_ms=0"), "")
	other, slow := h.ConnectInitialized(), h.ConnectInitialized()
	id := slow.StartThread(apptest.Object{})
	slow.Call("context/getUsage", apptest.Object{"threadId": id}) // loads the tables of the tokenizer
	base := apptest.StatusKiB(t, h.Cmd.Process.Pid, "VmRSS:")
	resume := slow.StopReading()
	slow.Send(apptest.Object{"id": "stream", "method": "turn/start",
		"params": apptest.Object{"threadId": id, "input": apptest.TextInput("stream")}})
	other.StartThread(apptest.Object{})
	for seconds := 0; len(other.Diagnostics().Connections) > 1; {
		switch stream.next() {
		case written:
			seconds = 0
		case blocked:
			seconds++
			require.Less(t, seconds, 60, "the client is still connected")
		case ended:
			t.Fatal("the client is still connected, and does not hold up the provider")
		}
	}
	require.Less(t, apptest.StatusKiB(t, h.Cmd.Process.Pid, "VmHWM:")-base, apptest.RaceFactor*96<<10, "KiB")
	for view := other.CallThread("thread/resume",
		apptest.Object{"threadId": id}); view.Turns[0].Status == "inProgress"; view = other.ReadThread(id) {
		untilTurnEnds(other.Client, func(apptest.Message) {})
	}

	items := other.ReadThread(id).Turns[0].Items
	var answer struct{ Text string }
	require.NoError(t, json.Unmarshal(items[len(items)-1], &answer))
	require.Len(t, answer.Text, deltas*64)
	for i := range deltas {
		require.True(t, strings.HasPrefix(answer.Text[i*64:], numbered(i)), "delta %d", i)
	}
	resume()
	h.Terminate()
}
