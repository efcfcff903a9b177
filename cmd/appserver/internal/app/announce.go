package app

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/engine"
	"appserver/core/tool"
	"appserver/protocol"
)

const (
	// maxAnnouncers is how many programs of notify may run at once. More are not started.
	maxAnnouncers = 8
	// maxAnnouncement bounds the argument of the program, in bytes: the system takes 128 KiB.
	maxAnnouncement = 120 << 10
	// announceTime is how long programs of notify may run on when the server ends.
	announceTime = 500 * time.Millisecond
)

// announcer runs the programs of notify. Each has a goroutine, which ends with the program.
type announcer struct {
	programs *tool.Shell
	setup    *setup
	log      *zap.Logger

	mu      sync.Mutex
	closed  bool
	running map[*tool.Link]bool
	count   int
	done    sync.WaitGroup
}

// announcement is the argument of the program.
type announcement struct {
	Type                 string   `json:"type"`
	ThreadID             string   `json:"thread-id"`
	TurnID               string   `json:"turn-id"`
	Cwd                  string   `json:"cwd"`
	Client               string   `json:"client,omitempty"`
	InputMessages        []string `json:"input-messages"`
	LastAssistantMessage *string  `json:"last-assistant-message"`
}

func newAnnouncer(programs *tool.Shell, own *setup, log *zap.Logger) *announcer {
	return &announcer{programs: programs, setup: own, log: log, running: map[*tool.Link]bool{}}
}

// announce starts the program that the configuration of a thread names, and does not wait.
func (a *announcer) announce(scope engine.Scope, thread string, e core.AnnounceTurn) {
	argv := a.setup.of(scope).Notify
	if len(argv) == 0 || !a.begin() {
		return
	}
	go func() {
		defer a.end()
		text, err := encodeAnnouncement(announcement{
			Type: "agent-turn-complete", ThreadID: thread, TurnID: e.TurnID, Cwd: e.Cwd,
			Client: a.setup.identity.Originator(), InputMessages: e.Input, LastAssistantMessage: e.Last,
		})
		if err == nil {
			err = a.run(append(argv[:len(argv):len(argv)], text))
		}
		if err != nil {
			a.log.Warn("the notify program failed", zap.String("program", argv[0]), zap.Error(err))
		}
	}()
}

// encodeAnnouncement leaves out the oldest messages, and shortens the others, if the argument
// would be too long.
func encodeAnnouncement(n announcement) (string, error) {
	for {
		text, err := protocol.Marshal(n)
		if err != nil || len(text) <= maxAnnouncement {
			return string(text), err
		}
		switch {
		case len(n.InputMessages) > 0:
			n.InputMessages = n.InputMessages[1:]
		default:
			n.LastAssistantMessage = nil
		}
	}
}

func (a *announcer) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.count == maxAnnouncers {
		a.log.Warn("the notify program was not started: too many are running, or the server is shutting down")
		return false
	}
	a.count++
	a.done.Add(1)
	return true
}

func (a *announcer) end() {
	a.mu.Lock()
	a.count--
	a.mu.Unlock()
	a.done.Done()
}

// run runs a program to its end. Its input is empty, and its output is read and dropped.
func (a *announcer) run(argv []string) error {
	link, err := a.programs.Connect(tool.Program{Argv: argv, Dir: a.setup.cwd, Env: os.Environ()})
	if err != nil {
		return err
	}
	a.track(link, true)
	defer a.track(link, false)
	link.CloseInput()
	_, _ = io.Copy(io.Discard, link) // fails once it is closed
	<-link.Ended()
	_ = link.Close()
	return link.Outcome()
}

// track keeps the programs that run, so that they end with the server.
func (a *announcer) track(link *tool.Link, runs bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !runs {
		delete(a.running, link)
		return
	}
	a.running[link] = true
	if a.closed {
		_ = link.Close()
	}
}

// Close waits a moment for the programs that run, and ends them.
func (a *announcer) Close(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.done.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(announceTime):
	case <-ctx.Done():
	}
	a.mu.Lock()
	a.closed = true
	for link := range a.running {
		_ = link.Close()
	}
	a.mu.Unlock()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
