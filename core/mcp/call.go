package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/core"
	"appserver/core/excerpt"
	"appserver/protocol"
)

// call is a call in flight.
type call struct {
	said   chan string // progress of the tool, or nil if the caller does not want it
	cancel context.CancelCauseFunc
	// timer ends the call. It runs since began, with the time that was left then.
	timer *time.Timer
	runs  bool
	began time.Time
	left  time.Duration
}

var errTimeout = errors.New("timed out")

// mostSaid bounds the progress messages that wait for the thread. Further ones are dropped: a tool
// that sends so many will soon send newer ones.
const mostSaid = 64

// run starts or stops the timer of a call.
func (c *call) run(runs bool) {
	switch {
	case runs == c.runs:
	case runs:
		c.began = time.Now()
		c.timer.Reset(c.left)
	default:
		c.timer.Stop()
		c.left -= time.Since(c.began)
	}
	c.runs = runs
}

// Call calls a tool. Progress gets the progress messages of the tool.
func (p *Pool) Call(ctx context.Context, owner string, t core.CallTool, progress func(message string)) core.ToolCalled {
	begin := time.Now()
	result, err := p.call(ctx, owner, t, progress)
	out := core.ToolCalled{Effect: t.ID, Duration: time.Since(begin)}
	if err != nil {
		out.Err = fmt.Errorf("tool call error: tool call failed for `%s/%s`: %w", t.Server, t.Tool, err)
		return out
	}
	out.Result = bounded(result)
	return out
}

func (p *Pool) call(ctx context.Context, owner string, t core.CallTool, progress func(string)) (*sdk.CallToolResult,
	error) {
	s, err := p.find(owner, t.Server)
	if err != nil {
		return nil, err
	}
	if !s.offers(t.Tool) {
		return nil, fmt.Errorf("the tool is disabled: see enabled_tools and disabled_tools below [mcp_servers.%s]", t.Server)
	}
	session, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	ctx, token, leave := s.enter(ctx, progress)
	defer leave()
	params := &sdk.CallToolParams{Name: t.Tool, Arguments: json.RawMessage(protocol.ToWellFormed(t.Arguments))}
	if t.Meta != nil {
		_ = protocol.Unmarshal(t.Meta, &params.Meta) // ignored if it is not an object
	}
	if params.Meta == nil {
		params.Meta = sdk.Meta{}
	}
	params.Meta["threadId"] = owner
	if t.CallID != "" {
		params.Meta["callId"] = t.CallID
	}
	params.SetProgressToken(token)
	result, err := session.CallTool(ctx, params)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errTimeout) {
		return nil, fmt.Errorf("timed out awaiting tools/call after %s", s.def.ToolTimeout)
	}
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, errLine) {
		s.drop(session)
	}
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		return nil, errors.New("the connection to the server was lost; call the tool again after it is restored")
	}
	return result, err
}

// enter registers a call. Leave removes it, after its progress was passed on and its questions were
// withdrawn unless another call runs.
func (s *server) enter(ctx context.Context, progress func(string)) (_ context.Context, token string, leave func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &call{cancel: cancel, runs: true, began: time.Now(), left: s.def.ToolTimeout}
	c.timer = time.AfterFunc(c.left, func() { cancel(errTimeout) })
	var telling sync.WaitGroup
	if progress != nil {
		c.said = make(chan string, mostSaid)
		telling.Go(func() {
			for message := range c.said {
				progress(message)
			}
		})
	}
	s.mu.Lock()
	s.nextID++
	token = "call-" + strconv.Itoa(s.nextID)
	s.calls[token] = c
	c.run(s.asks == 0)
	s.mu.Unlock()
	return ctx, token, func() {
		c.timer.Stop()
		cancel(nil)
		s.mu.Lock()
		delete(s.calls, token)
		last := len(s.calls) == 0
		if c.said != nil {
			close(c.said)
		}
		s.mu.Unlock()
		telling.Wait()
		if last {
			s.pool.withdraw(s)
		}
	}
}

// progress passes on a progress message. The library blocks on it with all later messages.
func (s *server) progress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	message := r.Params.Message
	if message == "" {
		message = strconv.FormatFloat(r.Params.Progress, 'g', -1, 64)
		if r.Params.Total > 0 {
			message += "/" + strconv.FormatFloat(r.Params.Total, 'g', -1, 64)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[token]
	if c == nil {
		return
	}
	select {
	case c.said <- message[:min(len(message), quoted*10)]:
	default:
	}
}

// question is a question of a server to the user.
type question struct {
	server *server
	answer chan protocol.McpServerElicitationRequestResponse
	gone   chan struct{} // closed when the question is withdrawn
}

// elicit asks the user and waits for the answer.
func (s *server) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q := &question{s, make(chan protocol.McpServerElicitationRequestResponse, 1), make(chan struct{})}
	id, noted := s.pool.note(q)
	if !noted {
		return nil, fmt.Errorf("%d questions are waiting for the user: ask again when one is answered", mostAsked)
	}
	defer s.pool.forget(id)
	s.pause(1)
	defer s.pause(-1)
	if !s.pool.Audience.Ask(s.owner, asking(id, s.def.Name, r.Params)) {
		return &sdk.ElicitResult{Action: protocol.ElicitCancel}, nil
	}
	select {
	case a := <-q.answer:
		out := &sdk.ElicitResult{Action: a.Action}
		if a.Action == protocol.ElicitAccept {
			_ = protocol.Unmarshal(a.Content, &out.Content) // without values if it is not an object
		}
		return out, nil
	case <-q.gone:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	s.pool.Audience.Withdraw(s.owner, id)
	return &sdk.ElicitResult{Action: protocol.ElicitCancel}, nil
}

func asking(id uint64, server string, p *sdk.ElicitParams) core.ServerQuestion {
	q := core.ServerQuestion{Question: id, Server: server, Mode: p.Mode, Message: p.Message, URL: p.URL,
		ElicitationID: p.ElicitationID}
	if q.Mode == "" {
		q.Mode = "form"
	}
	if q.Mode == "form" {
		q.Schema = formSchema(p.RequestedSchema)
	}
	if len(p.Meta) > 0 {
		q.Meta, _ = json.Marshal(p.Meta)
	}
	return q
}

// pause stops or starts the timers of all calls, because the protocol does not show which call a
// question belongs to.
func (s *server) pause(questions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks += questions
	for _, c := range s.calls {
		c.run(s.asks == 0)
	}
}

// note stores a question, unless its server has too many.
func (p *Pool) note(q *question) (id uint64, noted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := 0
	for _, other := range p.questions {
		if other.server == q.server {
			open++
		}
	}
	if open >= mostAsked {
		return 0, false
	}
	p.asked++
	p.questions[p.asked] = q
	return p.asked, true
}

func (p *Pool) forget(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.questions, id)
}

// Answer answers a question of a server. It ignores questions that were withdrawn.
func (p *Pool) Answer(id uint64, a protocol.McpServerElicitationRequestResponse) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.questions[id]; q != nil {
		delete(p.questions, id)
		q.answer <- a
	}
}

// withdraw ends the questions of a server without calls.
func (p *Pool) withdraw(s *server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, q := range p.questions {
		if q.server == s {
			delete(p.questions, id)
			close(q.gone)
		}
	}
}

// mostResult bounds the stored part of a result, in bytes.
const mostResult = 1 << 20

// bounded returns a result without the blocks beyond the limit.
func bounded(r *sdk.CallToolResult) *core.ServerToolResult {
	out := &core.ServerToolResult{Failed: r.IsError, Content: []json.RawMessage{}, FailedWritten: takeMark(r)}
	left := mostResult
	for _, block := range r.Content {
		raw, err := limitBlock(block, left)
		if err != nil {
			continue // a parsed block can always be encoded
		}
		left -= len(raw)
		out.Content = append(out.Content, raw)
		if left <= 0 {
			break
		}
	}
	if r.StructuredContent != nil {
		raw, err := json.Marshal(r.StructuredContent)
		if err == nil && len(raw) <= mostResult {
			out.Structured = raw
		}
	}
	if len(r.Meta) > 0 {
		raw, err := json.Marshal(r.Meta)
		if err == nil && len(raw) <= mostResult {
			out.Meta = raw
		}
	}
	return out
}

// limitBlock shortens a block to about limit bytes: texts lose their middle, and other blocks are replaced
// by a note.
func limitBlock(block sdk.Content, limit int) (json.RawMessage, error) {
	raw, err := json.Marshal(block)
	if err != nil || len(raw) <= limit {
		return raw, err
	}
	text := fmt.Sprintf("[content of %d bytes omitted: a result has at most %d bytes]", len(raw), mostResult)
	if t, ok := block.(*sdk.TextContent); ok {
		text = excerpt.Ends(t.Text, max(limit/2, 0))
	}
	return json.Marshal(&sdk.TextContent{Text: text})
}
