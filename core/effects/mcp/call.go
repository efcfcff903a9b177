package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/core"
	"appserver/core/pure/toolspec"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// call is a call in flight.
type call struct {
	progress chan string // progress of the tool, or nil if the caller does not want it
	cancel   context.CancelCauseFunc
	// timer ends the call. It runs since began, with the time that was left then.
	timer *time.Timer
	runs  bool
	began time.Time
	left  time.Duration
}

var errTimeout = errors.New("timed out")

// maxProgress bounds the progress messages that wait for the thread. Further ones are dropped: a tool
// that sends so many will soon send newer ones.
const maxProgress = 64

// maxProgressBytes bounds a progress message.
const maxProgressBytes = 2000

// setRunning starts or stops the timer of a call.
func (c *call) setRunning(runs bool) {
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
	if t.CallID != "" {
		out.Tools = p.changedTools(owner)
	}
	if err != nil {
		out.Err = fmt.Errorf("tool call error: tool call failed for `%s/%s`: %w", t.Server, t.Tool, err)
		return out
	}
	out.Result = resultOf(result)
	if t.CallID != "" { // the model reads it
		out.Result.Shown = out.Result.Parts(toolspec.Origin{Server: t.Server, Tool: t.Tool}, p.keeper(owner))
	}
	limit(out.Result)
	return out
}

func (p *Pool) call(ctx context.Context, owner string, t core.CallTool, progress func(string)) (*sdk.CallToolResult,
	error) {
	s, err := p.find(owner, t.Server)
	if err != nil {
		return nil, err
	}
	if !s.allows(t.Tool) {
		return nil, fmt.Errorf("the tool is disabled: see enabled_tools and disabled_tools below [mcp_servers.%s]", t.Server)
	}
	session, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	if t.CallID != "" && !s.offers(t.Tool) {
		return nil, fmt.Errorf("the MCP server `%s` no longer offers the tool `%s`; use another one", t.Server, t.Tool)
	}
	ctx, token, end := s.startCall(ctx, progress)
	defer end()
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
	reads := s.readsOnly(t.Tool)
	result, err := withSession(ctx, s, session, reads,
		func(ctx context.Context, session *sdk.ClientSession) (*sdk.CallToolResult, error) {
			return session.CallTool(ctx, params)
		})
	s.awaitList(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errTimeout) {
		return nil, s.timeoutError(reads)
	}
	return result, err
}

// timeoutError returns the error of a call that exceeded its time.
func (s *server) timeoutError(reads bool) error {
	err := fmt.Errorf("timed out awaiting tools/call after %s: if the tool is only slow, set tool_timeout_sec below "+
		"[mcp_servers.%s]", s.def.ToolTimeout, s.def.Name)
	if reads {
		return err
	}
	return fmt.Errorf("%w; it is unknown whether the tool ran, and it may still run", err)
}

// readsOnly reports whether the server declares that a tool only reads. Only such a tool is called twice if its
// response is lost.
func (s *server) readsOnly(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.tools, func(t listed) bool { return t.Name == tool })
	return i >= 0 && s.tools[i].Annotations != nil && s.tools[i].Annotations.ReadOnlyHint
}

// startCall registers a call. end removes it, waits until its progress was passed on, and withdraws
// the server's questions unless another call runs.
func (s *server) startCall(ctx context.Context, progress func(string)) (_ context.Context, token string, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &call{cancel: cancel, runs: true, began: time.Now(), left: s.def.ToolTimeout}
	c.timer = time.AfterFunc(c.left, func() { cancel(errTimeout) })
	var passing sync.WaitGroup
	if progress != nil {
		c.progress = make(chan string, maxProgress)
		passing.Go(func() {
			for message := range c.progress {
				progress(message)
			}
		})
	}
	s.mu.Lock()
	s.nextID++
	token = "call-" + strconv.Itoa(s.nextID)
	s.calls[token] = c
	c.setRunning(s.openQuestions == 0)
	s.mu.Unlock()
	return ctx, token, func() {
		c.timer.Stop()
		cancel(nil)
		s.mu.Lock()
		delete(s.calls, token)
		last := len(s.calls) == 0
		if c.progress != nil {
			close(c.progress)
		}
		s.mu.Unlock()
		passing.Wait()
		if last {
			s.pool.withdrawAll(s)
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
	case c.progress <- excerpt.Prefix(message, maxProgressBytes):
	default:
	}
}

// question is a question of a server to the user.
type question struct {
	server    *server
	answer    chan protocol.McpServerElicitationRequestResponse
	withdrawn chan struct{} // closed when the question is withdrawn
}

// elicit asks the user and waits for the answer.
func (s *server) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q := &question{s, make(chan protocol.McpServerElicitationRequestResponse, 1), make(chan struct{})}
	id, ok := s.pool.addQuestion(q)
	if !ok {
		return nil, fmt.Errorf("%d questions are waiting for the user: ask again when one is answered", maxOpen)
	}
	defer s.pool.removeQuestion(id)
	s.addOpenQuestions(1)
	defer s.addOpenQuestions(-1)
	if !s.observer.Ask(s.owner, questionOf(id, s.def.Name, r.Params)) {
		return &sdk.ElicitResult{Action: protocol.ElicitCancel}, nil
	}
	select {
	case a := <-q.answer:
		out := &sdk.ElicitResult{Action: a.Action}
		if a.Action == protocol.ElicitAccept {
			_ = protocol.Unmarshal(a.Content, &out.Content) // without values if it is not an object
		}
		return out, nil
	case <-q.withdrawn:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	s.observer.Withdraw(s.owner, id)
	return &sdk.ElicitResult{Action: protocol.ElicitCancel}, nil
}

func questionOf(id uint64, server string, p *sdk.ElicitParams) core.ServerQuestion {
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

// addOpenQuestions stops or starts the timers of all calls, because the protocol does not show
// which call a question belongs to.
func (s *server) addOpenQuestions(questions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openQuestions += questions
	for _, c := range s.calls {
		c.setRunning(s.openQuestions == 0)
	}
}

// addQuestion stores a question, unless its server has too many.
func (p *Pool) addQuestion(q *question) (id uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := 0
	for _, other := range p.questions {
		if other.server == q.server {
			open++
		}
	}
	if open >= maxOpen {
		return 0, false
	}
	p.lastQuestion++
	p.questions[p.lastQuestion] = q
	return p.lastQuestion, true
}

func (p *Pool) removeQuestion(id uint64) {
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

// withdrawAll withdraws the questions of a server without calls.
func (p *Pool) withdrawAll(s *server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, q := range p.questions {
		if q.server == s {
			delete(p.questions, id)
			close(q.withdrawn)
		}
	}
}
