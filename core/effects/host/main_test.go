package host_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core"
	"appserver/core/effects/host"
	"appserver/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long tests wait for what must come.
const patience = 20 * time.Second

// answer is the result or the error of a request.
type answer struct {
	result any
	err    *protocol.Error
}

// desk is a client, or several, of a host.
type desk struct {
	t       *testing.T
	host    *host.Host
	options host.Options

	mu      sync.Mutex
	last    uint64
	answers map[protocol.Caller]chan answer
	notices chan notice
	jam     chan struct{} // not nil while clients do not read
	left    map[uint64]bool
}

type notice struct {
	conn uint64
	protocol.Notification
}

// open makes a host that ends with the test.
func open(t *testing.T, change ...func(*host.Options)) *desk {
	t.Helper()
	d := &desk{t: t, answers: map[protocol.Caller]chan answer{}, notices: make(chan notice, 100_000),
		left: map[uint64]bool{}}
	d.options = host.Options{
		Outbox: d, Cwd: t.TempDir(),
		Policy: func() protocol.SandboxPolicy { return protocol.SandboxDangerFullAccess.Policy() },
		Profile: func(id, _ string) (protocol.SandboxPolicy, error) {
			policy, known := protocol.BuiltinProfile(id)
			if !known {
				return policy, fmt.Errorf("unknown permission profile %q", id)
			}
			return policy, nil
		},
		Environment: func() core.EnvironmentPolicy { return core.EnvironmentPolicy{} },
		Confined:    func() bool { return false },
	}
	for _, c := range change {
		c(&d.options)
	}
	d.host = host.New(d.options)
	t.Cleanup(d.close)
	return d
}

func (d *desk) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(d.t, d.host.Close(ctx))
}

func (d *desk) Reply(to protocol.Caller, result any) { d.settle(to, answer{result: result}) }

func (d *desk) Refuse(to protocol.Caller, err *protocol.Error) { d.settle(to, answer{err: err}) }

func (d *desk) settle(to protocol.Caller, a answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers[to] <- a // the second answer to a request would block
}

func (d *desk) Notify(conn uint64, n protocol.Notification) { d.notices <- notice{conn, n} }

func (d *desk) Connected(conn uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.left[conn]
}

// leave ends a connection.
func (d *desk) leave(conn uint64) {
	d.mu.Lock()
	d.left[conn] = true
	d.mu.Unlock()
	d.host.Gone(conn)
}

func (d *desk) Congested(uint64) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.jam == nil {
		return nil
	}
	return d.jam
}

// stopReading lets clients read no more, until it is taken back.
func (d *desk) stopReading() (resume func()) {
	jam := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jam = jam
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.jam = nil
		close(jam)
	}
}

// pending is a request without an answer yet.
type pending struct {
	d  *desk
	to protocol.Caller
}

// send sends a request of a client: its method, and the params as JSON.
func (d *desk) send(conn uint64, method string, params any) pending {
	d.t.Helper()
	raw, err := json.Marshal(params)
	require.NoError(d.t, err)
	d.mu.Lock()
	d.last++
	to := protocol.Caller{Conn: conn, Request: d.last}
	d.answers[to] = make(chan answer, 1)
	d.mu.Unlock()
	for _, m := range protocol.Methods() {
		if m.Name != method {
			continue
		}
		if err := m.Serve(handler{Host: d.host}, to, raw); err != nil {
			refusal, ok := err.(*protocol.Error)
			require.True(d.t, ok, "%v", err)
			d.Refuse(to, refusal)
		}
		return pending{d, to}
	}
	require.Fail(d.t, "no method", method)
	return pending{}
}

// handler serves the methods of the host; of the others there are none.
type handler struct {
	others
	*host.Host
}

type others struct{ protocol.Handler }

// settled waits for the answer.
func (p pending) settled() answer {
	p.d.t.Helper()
	p.d.mu.Lock()
	answers := p.d.answers[p.to]
	p.d.mu.Unlock()
	select {
	case a := <-answers:
		return a
	case <-time.After(patience):
		require.Fail(p.d.t, "no answer")
		return answer{}
	}
}

// open reports whether there is no answer yet.
func (p pending) open() bool {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	return len(p.d.answers[p.to]) == 0
}

// result returns the answer, which must be no refusal.
func result[T any](p pending) T {
	p.d.t.Helper()
	a := p.settled()
	require.Nil(p.d.t, a.err, "%v", a.err)
	value, ok := a.result.(T)
	require.True(p.d.t, ok, "%T, want %v", a.result, reflect.TypeFor[T]())
	return value
}

// done requires an answer without a result.
func (p pending) done() { p.d.t.Helper(); result[protocol.Empty](p) }

// refusal returns the kind and the text of a refusal.
func (p pending) refusal() (protocol.Kind, string) {
	p.d.t.Helper()
	a := p.settled()
	require.NotNil(p.d.t, a.err, "%v", a.result)
	require.NotNil(p.d.t, a.err.Data)
	require.Equal(p.d.t, a.err.Data.Kind == protocol.KindOverloaded, a.err.Code == protocol.CodeOverloaded, "%d: %s",
		a.err.Code, a.err.Message)
	return a.err.Data.Kind, a.err.Message
}

// refused returns a refusal of a kind.
func (p pending) refused(kind protocol.Kind) string {
	p.d.t.Helper()
	got, text := p.refusal()
	require.Equal(p.d.t, kind, got, text)
	return text
}

// await gives the next notification.
func (d *desk) await() notice {
	d.t.Helper()
	select {
	case n := <-d.notices:
		return n
	case <-time.After(patience):
		require.Fail(d.t, "nothing is said")
		return notice{}
	}
}

type object = map[string]any

func in64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
