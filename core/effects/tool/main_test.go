package tool

import (
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		syscall.Exit(Supervise(os.Args[2:])) // os.Exit would write coverage to the report
	}
	if len(os.Args) > 1 && os.Args[1] == "confine" {
		syscall.Exit(Confine(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "play" {
		syscall.Exit(play(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// bound is the time that an end may take on a busy machine. It is much shorter than the commands
// sleep, and much longer than the contract.
const bound = 20 * time.Second

// shells returns a shell that starts commands directly, and one with a supervisor.
func shells() map[string]*Shell {
	env := BaseEnv(os.Environ())
	return map[string]*Shell{
		"direct":     {Env: env},
		"supervised": {Env: env, Supervisor: []string{program(), "supervise"}},
	}
}

// program returns the path of this test program.
func program() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// both runs a test with each of the shells.
func both(t *testing.T, test func(*testing.T, *Shell)) {
	for name, shell := range shells() {
		t.Run(name, func(t *testing.T) { test(t, shell) })
	}
}

// recorder records the calls of Run.
type recorder struct {
	mu      sync.Mutex
	pids    []string
	pieces  []string
	written chan struct{}
}

func newRecorder() *recorder { return &recorder{written: make(chan struct{}, 1)} }

func (r *recorder) started(pid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pids = append(r.pids, pid)
	if len(r.pieces) > 0 {
		panic("output before started")
	}
}

func (r *recorder) output(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces = append(r.pieces, text)
	select {
	case r.written <- struct{}{}:
	default:
	}
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.pieces, "")
}

// run runs a command to its end.
func run(t *testing.T, s *Shell, c core.Command) (core.ToolResult, *recorder) {
	t.Helper()
	r := newRecorder()
	result := s.Run(t.Context(), c, nil, r.started, r.output)
	return result, r
}

// cancelAfterOutput runs a command and cancels it when it has written something.
func cancelAfterOutput(t *testing.T, s *Shell, c core.Command) (core.ToolResult, *recorder) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := newRecorder()
	var cancelledAt time.Time
	go func() {
		<-r.written
		cancelledAt = time.Now()
		cancel()
	}()
	result := s.Run(ctx, c, nil, r.started, r.output)
	require.Less(t, time.Since(cancelledAt), bound)
	return result, r
}
