package mcp

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// Definition is the configuration of a server.
type Definition struct {
	Name string
	// Command is the argument vector of a program that runs in Dir with the environment Env.
	Command []string
	Dir     string
	Env     []string
	// URL is the address of a service, which gets Headers with every request. Bearer is set if one of
	// them is a token. Login has the settings of logins otherwise, in a form that [Logins] knows.
	URL     string
	Headers map[string]string
	Bearer  bool
	Login   any
	// StartupTimeout bounds the time to connect, ToolTimeout the time of a call.
	StartupTimeout, ToolTimeout time.Duration
	// Enabled are the offered tools, or nil for all. Tools in Disabled are not offered.
	Enabled, Disabled []string
	// Approval is one of core's Approve constants; ToolApproval overrides it for single tools.
	Approval     string
	ToolApproval map[string]string
	// Offer is how the tools are offered if they can be found by a search.
	Offer core.Offer
	// Serial is set if no call of a tool runs beside others.
	Serial bool
	// Required servers are awaited until their startup timeout.
	Required bool
	// Problem is the reason why no connection can be made, or nil.
	Problem error
}

// Process is a running program. Close ends it and does not wait.
type Process interface {
	io.ReadWriteCloser
	// Ended returns closed when no process of it is left. Outcome returns the reason then.
	Ended() <-chan struct{}
	Outcome() error
}

// Observer is notified about connections. Its methods must not block.
type Observer interface {
	// State reports a new state of a server, a word of protocol.McpServerStatusUpdatedNotification.
	State(owner, server, state string, err error)
	// ToolsChanged reports that the tools of a connected server have changed.
	ToolsChanged(owner string)
	// Ask passes on a question of a server. It returns false if no client can answer. Withdraw cancels
	// a question.
	Ask(owner string, q core.ServerQuestion) bool
	Withdraw(owner string, question uint64)
}

// Logins gives requests the access tokens of logins at services. It never begins a login.
type Logins interface {
	// Transport returns a transport to a service that adds an access token to requests. Its errors may be a LoginError.
	Transport(d Definition, next http.RoundTripper) http.RoundTripper
	// Status returns an authStatus of protocol.McpServerStatus.
	Status(ctx context.Context, d Definition) string
	// Mark returns a text that changes when a user logs in, also by another process; "" is no login.
	Mark(d Definition) string
}

// LoginError means that a service is not used until the user logs in. Its text is complete.
type LoginError interface {
	error
	LoginRequired() (again bool)
}

// Options configure a pool.
type Options struct {
	Spawn func(d Definition, stderr func(line string)) (Process, error)
	// Logins are used for services without a token in their definition. It may be nil.
	Logins Logins
	// Log gets texts for the log: standard error of servers, and output that is not a message.
	Log func(server, line string)
	// Keep stores bytes of a result in a file for an owner, and returns its path. The name of the file ends with
	// extension. Nil stores nothing.
	Keep func(owner string, content []byte, extension string) (path string, err error)
	// HTTP sends requests to services; nil is http.DefaultTransport.
	HTTP http.RoundTripper
	// Version is the version of this program.
	Version string
	// Delay is the first delay before a retry; 0 means 1 second.
	Delay time.Duration
	// LoginInterval is the time between checks for logins by other processes; 0 means 5 seconds.
	LoginInterval time.Duration
}

// Pool holds the connections of owners.
type Pool struct {
	Options
	mu           sync.Mutex
	owners       map[string][]*server
	connections  sync.WaitGroup // one for each connection
	questions    map[uint64]*question
	lastQuestion uint64
	closed       bool
}

// loginInterval is the default of Options.LoginInterval.
const loginInterval = 5 * time.Second

// New returns a pool without owners.
func New(o Options) *Pool {
	if o.HTTP == nil {
		o.HTTP = http.DefaultTransport
	}
	if o.Delay == 0 {
		o.Delay = time.Second
	}
	if o.LoginInterval == 0 {
		o.LoginInterval = loginInterval
	}
	return &Pool{Options: o, owners: map[string][]*server{}, questions: map[uint64]*question{}}
}

// Open connects an owner to these servers, and closes its connections to others. It does not wait.
// Connections to servers whose definition has not changed are kept. New ones notify the observer.
func (p *Pool) Open(owner string, definitions []Definition, to Observer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	old := p.owners[owner]
	var now []*server
	for _, d := range definitions {
		i := slices.IndexFunc(old, func(s *server) bool { return reflect.DeepEqual(s.def, d) })
		if i >= 0 {
			now = append(now, old[i])
			old = slices.Delete(slices.Clone(old), i, i+1)
			continue
		}
		s := newServer(p, owner, d, to)
		now = append(now, s)
		p.connections.Go(s.run)
	}
	p.owners[owner] = now
	stop(old)
}

// Retry retries failed connections at once.
func (p *Pool) Retry(owner string) { p.retry(owner, func(*Definition) bool { return true }) }

func (p *Pool) retry(owner string, which func(*Definition) bool) {
	for _, s := range p.of(owner) {
		s.mu.Lock()
		failed := s.state == protocol.McpFailed
		s.mu.Unlock()
		if failed && which(&s.def) {
			s.retry()
		}
	}
}

// Definition returns the definition of an owner's server.
func (p *Pool) Definition(owner, name string) (Definition, error) {
	s, err := p.find(owner, name)
	if err != nil {
		return Definition{}, err
	}
	return s.def, nil
}

// RetryService retries failed connections of all owners to a service at once.
func (p *Pool) RetryService(name, url string) {
	p.mu.Lock()
	owners := slices.Collect(maps.Keys(p.owners))
	p.mu.Unlock()
	for _, owner := range owners {
		p.retry(owner, func(d *Definition) bool { return d.Name == name && d.URL == url })
	}
}

// Disconnect closes the connections of an owner. It does not wait.
func (p *Pool) Disconnect(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stop(p.owners[owner])
	delete(p.owners, owner)
}

func stop(servers []*server) {
	for _, s := range servers {
		s.cancel()
	}
}

// Close closes all connections, and waits until all have ended or ctx is done.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for _, servers := range p.owners {
		stop(servers)
	}
	p.owners = map[string][]*server{}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.connections.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("MCP servers did not end in time: %w", ctx.Err())
	}
}

// AwaitRequired waits until the first attempt to connect to each required server has ended, or quit
// is closed. The error names the servers that failed.
func (p *Pool) AwaitRequired(quit <-chan struct{}, owner string) error {
	var failed []string
	for _, s := range p.of(owner) {
		if !s.def.Required {
			continue
		}
		select {
		case <-s.first:
		case <-quit:
			return protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down")
		}
		s.mu.Lock()
		if s.state != protocol.McpReady {
			failed = append(failed, fmt.Sprintf("%s: %v", s.def.Name, s.err))
		}
		s.mu.Unlock()
	}
	if len(failed) == 0 {
		return nil
	}
	return protocol.Internal(protocol.KindMcpServer,
		"required MCP servers failed to initialize: %s. Correct them in the configuration, or set required = false",
		strings.Join(failed, "; "))
}

func (p *Pool) of(owner string) []*server {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owners[owner]
}

func (p *Pool) find(owner, name string) (*server, error) {
	for _, s := range p.of(owner) {
		if s.def.Name == name {
			return s, nil
		}
	}
	return nil, protocol.Internal(protocol.KindMcpServer, "unknown MCP server '%s'", name)
}

// Tools returns the tools of an owner's servers that are ready. Pending is set while others connect
// for the first time.
func (p *Pool) Tools(owner string) (tools []core.ServerTool, pending bool) {
	names := namer{}
	for _, s := range p.of(owner) {
		tools = append(tools, s.offered(names)...)
		pending = pending || !s.attempted()
	}
	return tools, pending
}

// Await returns the tools when no server is connecting any more, or after the grace, or when ctx is
// done. The grace does not limit the wait for required servers.
func (p *Pool) Await(ctx context.Context, owner string, grace time.Duration) []core.ServerTool {
	patient, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for _, s := range p.of(owner) {
		limit := patient
		if s.def.Required {
			limit = ctx
		}
		select {
		case <-s.first:
		case <-limit.Done():
		}
	}
	tools, _ := p.Tools(owner)
	return tools
}
