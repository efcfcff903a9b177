package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/mcp"
)

// puppet is a server in the same process that sends fixed results. It ends after it has answered a
// call, unless stays is set.
type puppet struct {
	io.Reader                // its output
	io.Writer                // its input
	answers   [3]string      // results of initialize, tools/list and tools/call
	before    string         // output before the result of a call
	output    *io.PipeWriter // of Reader
	replies   chan string    // the first responses that it gets
	stays     bool
	lists     int    // number of tools/list requests
	answered  func() // called after the result of a call, or nil
	ended     chan struct{}
	close     func()
}

func newPuppet(before string, answers [3]string) *puppet {
	p := &puppet{answers: answers, before: before, replies: make(chan string, 10), ended: make(chan struct{})}
	fromServer, output := io.Pipe()
	input, toServer := io.Pipe()
	p.Reader, p.Writer, p.output = fromServer, toServer, output
	p.close = func() {
		_, _ = output.Close(), toServer.Close()
	}
	go p.serve(input)
	return p
}

// serve keeps reading while it answers.
func (p *puppet) serve(input *io.PipeReader) {
	defer close(p.ended)
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(input)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	for line := range lines {
		p.answer(line)
	}
}

func (p *puppet) answer(line string) {
	var request struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.Unmarshal([]byte(line), &request)
	if request.Method == "" {
		select {
		case p.replies <- line:
		default:
		}
	}
	for i, method := range []string{"initialize", "tools/list", "tools/call"} {
		if request.Method != method {
			continue
		}
		if i == 1 {
			p.lists++
		}
		last := i == 2 && !p.stays || !json.Valid([]byte(p.answers[i]))
		if i == 2 {
			_, _ = io.WriteString(p.output, p.before+"\n")
		}
		_, _ = io.WriteString(p.output, `{"jsonrpc":"2.0","id":`+string(request.ID)+`,"result":`+
			strings.ReplaceAll(p.answers[i], "\n", " ")+"}\n")
		if i == 2 && p.answered != nil {
			p.answered()
		}
		if last {
			_ = p.output.Close()
		}
	}
}

func (p *puppet) Close() error           { p.close(); return nil }
func (p *puppet) Ended() <-chan struct{} { return p.ended }
func (p *puppet) Outcome() error         { return nil }

const (
	introduction = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"n","version":"1"}}`
	tools        = `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	result       = `{"content":[{"type":"text","text":"done"}]}`
)

// FuzzAnswers: a server sends any results. The names and schemas of its tools are valid for models. A
// call has a bounded result or an error, and no goroutine is left.
func FuzzAnswers(f *testing.F) {
	for _, seed := range [][4]string{
		{introduction, tools, result, ""},
		{`{"protocolVersion":"2099-01-01","capabilities":null}`, tools, result, ""},
		{`null`, `null`, `null`, ``},
		{`[]`, tools, result, ``},
		{introduction, `{"tools":null}`, result, ""},
		{introduction, `{"tools":[null,{},{"name":"t"},{"name":"t"},{"name":"t","inputSchema":[]},{"name":"t","inputSchema":{"properties":1}}],"_meta":{"a":1}}`, `{"content":null}`, ""},
		{introduction, `{"tools":[{"name":"t","annotations":{"readOnlyHint":"x"}}]}`, result, ""},
		{introduction, `{"tools":[{"name":"t","description":5},{"name":"u","inputSchema":{"properties":{"a":{"type":["array","x"]}}}}]}`, result, ""},
		{introduction, tools, `{"content":[null]}`, ""},
		{introduction, tools,
			`{"content":[{"type":"image","data":"!"},{"type":"video"},{"type":"resource","resource":null},{"type":"resource_link"}]}`, ""},
		{introduction, tools, `{"content":"x","isError":"y","structuredContent":[[[]]]}`, ""},
		{introduction, tools, `{"content":[{"type":"text","text":"` + strings.Repeat("x", 3<<20) + `"}],"isError":true}`, ""},
		{introduction, tools, `{`, "hello\n{}\n\xff\n[]\n"},
		{introduction, tools, result,
			`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`},
		{introduction, tools, result, `{"jsonrpc":"2.0","id":"x","method":"ping"}` + "\n" +
			`{"jsonrpc":"2.0","id":null,"method":"sampling/createMessage","params":[]}` + "\n" +
			`{"jsonrpc":"2.0","id":7,"result":{}}`},
		{introduction, tools, result, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":0.5,"total":1}}`},
		{introduction, tools, result, `{"jsonrpc":"2.0","id":9,"method":"elicitation/create"}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/progress"}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`},
		{introduction, tools, result, `{"jsonrpc":"2.0","id":3,"error":{"code":"x"}}` + "\n" +
			`{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":""}}`},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, first, list, called, before string) {
		r := newRigOf(t, time.Hour, func(mcp.Definition, func(string)) (mcp.Process, error) {
			return newPuppet(before, [3]string{first, list, called}), nil
		})
		r.Open("me", []mcp.Definition{{Name: "s", StartupTimeout: time.Minute, ToolTimeout: time.Minute}}, r)
		offered := r.Await(context.Background(), "me", time.Minute)
		names := map[string]bool{}
		for _, tool := range offered {
			require.Regexp(t, `^[a-zA-Z0-9_]{1,64}$`, tool.Name)
			require.False(t, names[tool.Name], "%s twice", tool.Name)
			names[tool.Name] = true
			var schema struct {
				Type       string
				Properties map[string]any
			}
			require.NoError(t, json.Unmarshal(tool.Parameters, &schema))
			require.NotNil(t, schema.Properties)
		}
		for _, status := range r.Status(context.Background(), "me", "", false) {
			raw, err := json.Marshal(status)
			require.NoError(t, err)
			require.True(t, json.Valid(raw))
		}
		checkCalled(t, r.call("t", `{}`))
	})
}

// TestQuestionWithoutParamsIsRejected, and the call continues. The library dereferences the params
// unchecked.
func TestQuestionWithoutParamsIsRejected(t *testing.T) {
	asks := `{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/progress"}`
	p := newPuppet(asks, [3]string{introduction, tools, result})
	p.stays = true
	r := newRigOf(t, time.Hour, func(mcp.Definition, func(string)) (mcp.Process, error) { return p, nil })
	require.Len(t, r.ready(mcp.Definition{Name: "s", StartupTimeout: time.Minute, ToolTimeout: time.Minute}), 1)
	require.Equal(t, `{"type":"text","text":"done"}`, r.texts(r.call("t", `{}`)))
	reply := <-p.replies
	require.Contains(t, reply, `"id":"q"`)
	require.Contains(t, reply, `"code":-32602`)
}

func checkCalled(t *testing.T, c core.ToolCalled) {
	if c.Err != nil {
		require.NotEmpty(t, strings.TrimPrefix(c.Err.Error(), "tool call error: tool call failed for `s/t`: "))
		require.Less(t, len(c.Err.Error()), 64<<10)
		require.True(t, utf8.ValidString(c.Err.Error()))
		return
	}
	size := len(c.Result.Structured) + len(c.Result.Meta)
	for _, block := range c.Result.Content {
		require.True(t, json.Valid(block), "%s", block)
		size += len(block)
	}
	require.Less(t, size, 4<<20)
}
