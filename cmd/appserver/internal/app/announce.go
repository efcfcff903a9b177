package app

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/tool"
	"appserver/protocol"
)

const (
	// maxNotifyPrograms is the maximum number of notify programs that run at once.
	maxNotifyPrograms = 8
	// maxAnnouncement limits the argument of the program, in bytes. The limit of Linux is 128 KiB.
	maxAnnouncement = 120 << 10
	// notifyGrace is the time that running notify programs have to exit at the shutdown.
	notifyGrace = 500 * time.Millisecond
)

// announcer runs the notify programs, which announce finished turns. Each program has a goroutine, which
// ends with the program.
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

// announcement is the argument of a notify program.
type announcement struct {
	Type                 string   `json:"type"`
	ThreadID             string   `json:"thread-id"`
	TurnID               string   `json:"turn-id"`
	Cwd                  string   `json:"cwd"`
	Client               string   `json:"client,omitempty"`
	InputMessages        []string `json:"input-messages"`
	LastAssistantMessage *string  `json:"last-assistant-message"`
}

func newAnnouncer(programs *tool.Shell, settings *setup, log *zap.Logger) *announcer {
	return &announcer{programs: programs, setup: settings, log: log, running: map[*tool.Link]bool{}}
}

// announce starts a notify program, and does not wait for it. Without arguments there is none.
func (a *announcer) announce(argv []string, thread string, e core.AnnounceTurn) {
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

// encodeAnnouncement encodes an announcement. If it is too long, encodeAnnouncement omits the oldest
// messages of the user, and then the last message of the assistant.
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
	if a.closed || a.count == maxNotifyPrograms {
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

// run runs a program and waits for its exit. The input is empty, and the output is discarded.
func (a *announcer) run(argv []string) error {
	link, err := a.programs.Connect(tool.Program{Argv: argv, Dir: a.setup.cwd, Env: os.Environ()})
	if err != nil {
		return err
	}
	a.track(link, true)
	defer a.track(link, false)
	link.CloseInput()
	_, _ = io.Copy(io.Discard, link) // fails after Close
	<-link.Ended()
	_ = link.Close()
	return link.Outcome()
}

// track records whether a program is running, so that Close can end it.
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

// Close waits for the running programs for at most notifyGrace, and then ends them.
func (a *announcer) Close(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.done.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(notifyGrace):
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
