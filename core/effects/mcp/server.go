package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/platform/excerpt"
	"appserver/protocol"
)

// server is an owner's connection to a server, which is retried when it is lost.
type server struct {
	pool  *Pool
	owner string
	// observer is notified of states, tools and questions.
	observer Observer
	def      Definition
	ctx      context.Context
	cancel   context.CancelFunc
	// first is closed when the first attempt has ended.
	first     chan struct{}
	firstOnce sync.Once
	// retryNow ends the delay before the next attempt.
	retryNow chan struct{}
	// outdated signals that the list of tools has changed.
	outdated chan struct{}
	// renewed signals that a session was given up.
	renewed chan struct{}

	mu           sync.Mutex
	state        string        // a word of McpServerStatusUpdatedNotification
	changed      chan struct{} // closed and replaced when the state changes
	err          error         // the reason of a failure
	session      *sdk.ClientSession
	tools        []listed
	wanted, read int  // notifications of changed lists, and how many of them the list of tools has seen
	changedTools bool // the list has changed since Pool.changedTools
	// instructions are those of the first connection, so that requests begin alike after a reconnection.
	instructions  string
	meta          sdk.Meta // metadata of the list of tools
	calls         map[string]*call
	openQuestions int // open questions, which stop the timers of the calls
	nextID        int
	lastStderr    string // the last line of standard error
	reported      string // the last reported failure since the connection was ready
}

func newServer(p *Pool, owner string, d Definition, to Observer) *server {
	s := &server{pool: p, owner: owner, observer: to, def: d, first: make(chan struct{}), retryNow: make(chan struct{}, 1),
		outdated: make(chan struct{}, 1), renewed: make(chan struct{}, 1), changed: make(chan struct{}),
		state: protocol.McpStarting, calls: map[string]*call{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

func (s *server) attempted() bool {
	select {
	case <-s.first:
		return true
	default:
		return false
	}
}

// run keeps the connection until its owner disconnects.
func (s *server) run() {
	defer s.firstOnce.Do(func() { close(s.first) })
	delay := s.pool.Delay
	s.reportStarting()
	for {
		began := time.Now()
		err := s.serve()
		if s.ctx.Err() != nil {
			return
		}
		if errors.Is(err, errRenewed) {
			continue
		}
		if time.Since(began) > heldTime {
			delay = s.pool.Delay
		}
		s.fail(err)
		switch s.pause(delay, err) {
		case pauseOver:
			delay = min(2*delay, maxDelay)
		case pauseCut:
			delay = s.pool.Delay
			s.reportStarting()
		case pauseEnded:
			return
		}
	}
}

// pauseResult is why a delay before an attempt ended: after its time, because someone waits for the attempt, or because
// the owner disconnected.
type pauseResult int

const (
	pauseOver pauseResult = iota
	pauseCut
	pauseEnded
)

// pause waits before the next attempt. If the last one failed for want of a login, a login by another process ends it.
func (s *server) pause(delay time.Duration, failure error) pauseResult {
	var check <-chan time.Time
	mark := ""
	if login := LoginError(nil); errors.As(failure, &login) && s.usesLogin() {
		ticker := time.NewTicker(s.pool.LoginInterval)
		defer ticker.Stop()
		check, mark = ticker.C, s.pool.Logins.Mark(s.def)
	}
	over := time.After(delay)
	for {
		select {
		case <-over:
			return pauseOver
		case <-s.retryNow:
			return pauseCut
		case <-check:
			if now := s.pool.Logins.Mark(s.def); now != "" && now != mark {
				return pauseCut
			}
		case <-s.ctx.Done():
			return pauseEnded
		}
	}
}

// reportStarting reports a connection attempt that a caller waits for.
func (s *server) reportStarting() {
	s.set(protocol.McpStarting, nil, nil)
	s.observer.State(s.owner, s.def.Name, protocol.McpStarting, nil)
}

// set changes the state. A failed server keeps its tools: a call of one starts another attempt.
func (s *server) set(state string, err error, session *sdk.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setLocked(state, err, session)
}

func (s *server) setLocked(state string, err error, session *sdk.ClientSession) {
	s.state, s.err, s.session = state, err, session
	close(s.changed)
	s.changed = make(chan struct{})
}

// fail reports a failure, once for consecutive attempts with the same reason.
func (s *server) fail(err error) {
	s.mu.Lock()
	known := s.reported == err.Error()
	s.reported = err.Error()
	s.mu.Unlock()
	s.set(protocol.McpFailed, err, nil)
	s.firstOnce.Do(func() { close(s.first) })
	if !known {
		s.observer.State(s.owner, s.def.Name, protocol.McpFailed, err)
	}
}

// serve connects, and returns the reason when the connection is lost.
func (s *server) serve() error {
	if s.def.Problem != nil {
		return s.startFailure(s.def.Problem)
	}
	transport, process, err := s.transport()
	if err != nil {
		return s.startFailure(err)
	}
	if process != nil {
		defer func() {
			process.Close()
			<-process.Ended()
		}()
	}
	session, err := s.connect(transport)
	if err != nil {
		return s.startFailure(s.explain(err, process))
	}
	defer end(session, process)
	lost := make(chan error, 1)
	go func() { lost <- session.Wait() }()
	var due <-chan time.Time // when the list of tools is read again, or nil
	var listed time.Time
	for {
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-s.outdated:
			if due == nil {
				due = time.After(relistDelay - time.Since(listed))
			}
		case <-due:
			due = nil
			s.relist(session)
			listed = time.Now()
		case <-s.renewed:
			if !s.holds(session) {
				return errRenewed
			}
		case err := <-lost:
			s.set(protocol.McpStarting, nil, nil) // a call now waits for the next attempt
			return fmt.Errorf("the connection to the MCP server `%s` was lost: %w", s.def.Name,
				s.explain(cmp.Or(err, errEnded), process))
		}
	}
}

// errRenewed ends a session that the server does not know any more. Another one follows at once.
var errRenewed = errors.New("the session was given up")

var errEnded = errors.New("the server closed it")

func (s *server) startFailure(err error) error {
	return fmt.Errorf("MCP client for `%s` failed to start: %w", s.def.Name, err)
}

// explain prefers the exit of a program to the error of its connection.
func (s *server) explain(err error, process Process) error {
	if process == nil {
		return explainService(err)
	}
	var version *versionError
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &version) { // a program ends after these
		return err
	}
	select {
	case <-process.Ended():
		err = cmp.Or(process.Outcome(), errors.New("it ended with exit code 0"))
	case <-time.After(endTime):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastStderr != "" {
		err = fmt.Errorf("%w; its last line of standard error is: %s", err, s.lastStderr)
	}
	return err
}

// explainService returns only the part of an error that states the next action, if there is one.
func explainService(err error) error {
	var login LoginError
	switch {
	case errors.As(err, &login):
		return login
	case strings.Contains(err.Error(), http.StatusText(http.StatusUnauthorized)):
		return fmt.Errorf("%w: it requires a valid token: set or correct bearer_token_env_var", err)
	}
	return err
}

// end closes a session. It gives up on a service that does not respond.
func end(session *sdk.ClientSession, process Process) {
	if process != nil {
		process.Close() // otherwise, closing waits for open requests
	}
	closed := make(chan struct{})
	go func() {
		session.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(endTime):
	}
}

// transport returns the transport to the server; process is nil for services.
func (s *server) transport() (sdk.Transport, Process, error) {
	if s.def.URL != "" {
		next := s.pool.HTTP
		if s.usesLogin() {
			next = s.pool.Logins.Transport(s.def, next)
		}
		client := &http.Client{Transport: newService(s.def.Headers, next), CheckRedirect: sameOrigin}
		return &sdk.StreamableClientTransport{Endpoint: s.def.URL, HTTPClient: client, MaxRetries: 2,
			MaxEventSize: maxCarried}, nil, nil
	}
	process, err := s.pool.Spawn(s.def, s.logStderr)
	if err != nil {
		return nil, nil, err
	}
	reader := newMessages(process, func(line string) { s.log("not a message: " + line) })
	return throttled{&sdk.IOTransport{Reader: reader, Writer: process, MaxLineLength: maxLine}, s.toolsChanged},
		process, nil
}

// logStderr also keeps the last line, for the error if the program ends.
func (s *server) logStderr(line string) {
	if line = strings.TrimSpace(line); line == "" {
		return
	}
	s.mu.Lock()
	s.lastStderr = line
	s.mu.Unlock()
	s.log(line)
}

func (s *server) log(line string) {
	if s.pool.Log != nil {
		s.pool.Log(s.def.Name, line)
	}
}

// connect opens a session and lists the tools.
func (s *server) connect(transport sdk.Transport) (*sdk.ClientSession, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.def.StartupTimeout)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "appserver-mcp-client", Title: "appserver", Version: s.pool.Version},
		&sdk.ClientOptions{
			Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{
				Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
			ElicitationHandler: s.elicit,
			// noticeListChanged sees the notification earlier. The library asks servers for it only with a handler.
			ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) {},
			ProgressNotificationHandler: s.progress,
		})
	client.AddReceivingMiddleware(recoverPanics)
	session, err := client.Connect(withListChanged(ctx, s.toolsChanged), transport,
		&sdk.ClientSessionOptions{ProtocolVersion: wireVersion})
	if err != nil {
		return nil, s.explainTimeout(ctx, explainVersion(err))
	}
	tools, meta, err := listTools(ctx, session)
	if err != nil {
		end(session, nil)
		return nil, s.explainTimeout(ctx, err)
	}
	s.mu.Lock()
	s.lastStderr, s.reported = "", ""
	first := s.tools == nil
	if first {
		s.tools, s.meta, s.instructions = tools, meta, instructionsOf(session)
	}
	wanted := s.wanted
	s.setLocked(protocol.McpReady, nil, session)
	s.mu.Unlock()
	if !first {
		s.setTools(session, wanted, tools, meta, nil)
	}
	s.firstOnce.Do(func() { close(s.first) })
	s.observer.State(s.owner, s.def.Name, protocol.McpReady, nil)
	return session, nil
}

// maxInstructions bounds the kept instructions of a server, in bytes.
const maxInstructions = 64 << 10

func instructionsOf(session *sdk.ClientSession) string {
	return excerpt.Prefix(session.InitializeResult().Instructions, maxInstructions)
}

// recoverPanics rejects messages without params that handlers of the library dereference unchecked.
// Otherwise a server could crash this process.
func recoverPanics(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
					Message: fmt.Sprintf("%s cannot be read: %v", method, p)}
			}
		}()
		return next(ctx, method, r)
	}
}

// explainTimeout adds the next action to the error of a server that exceeds its startup timeout.
func (s *server) explainTimeout(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("MCP client for `%s` timed out after %s: if it is only slow, set startup_timeout_sec below [mcp_servers.%s]: %w",
			s.def.Name, s.def.StartupTimeout, s.def.Name, context.DeadlineExceeded)
	}
	return err
}

// ready returns the session, or the reason why the server is not connected. It waits for an attempt
// in progress. If a server that was ready before has failed, it starts another attempt.
func (s *server) ready(ctx context.Context) (*sdk.ClientSession, error) {
	ctx, cancel := context.WithTimeout(ctx, s.def.StartupTimeout)
	defer cancel()
	for retried := false; ; {
		s.mu.Lock()
		session, state, err, changed, known := s.session, s.state, s.err, s.changed, s.tools != nil
		s.mu.Unlock()
		switch {
		case session != nil:
			return session, nil
		case state == protocol.McpFailed && (retried || !known):
			return nil, err
		case state == protocol.McpFailed:
			retried = true
			s.retry()
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			return nil, fmt.Errorf("the connection to the MCP server `%s` is closed", s.def.Name)
		case <-ctx.Done():
			return nil, fmt.Errorf("the MCP server `%s` is still being started", s.def.Name)
		}
	}
}

// drop removes a session that a call found to be lost, before its end was noticed.
func (s *server) drop(session *sdk.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == session {
		s.setLocked(protocol.McpStarting, nil, nil)
	}
}

// renew ends a session that the server does not know, and begins another one. It does not wait.
func (s *server) renew(session *sdk.ClientSession) {
	s.drop(session)
	signal(s.renewed)
}

// holds reports whether the session is the present one.
func (s *server) holds(session *sdk.ClientSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session == session
}

// retry ends the delay before the next attempt.
func (s *server) retry() { signal(s.retryNow) }
