package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"go.uber.org/zap"

	"appserver/cmd/appserver/internal/fleet"
	"appserver/core/engine"
	"appserver/server"
	"appserver/server/web"
)

const (
	// quiesceTime is the maximum time for responses to accepted requests during the shutdown.
	quiesceTime = 500 * time.Millisecond
	// closeTime limits the shutdown: the interruption of turns, the end of their commands, the last lines
	// and the delivery of messages.
	closeTime = 2500 * time.Millisecond
)

// Serve runs the server until its input ends, a signal stops it, or its parent process ends.
func Serve(s Streams, o *Options) error { return serve(s, o, nil) }

// serve implements Serve. opened is called before the first request of a browser; it may be nil.
func serve(s Streams, o *Options, opened func(*web.Page) error) error {
	if err := o.transport.check(); err != nil {
		return err
	}
	if o.transport.shared != "" {
		if done, err := serveShared(s, o); done {
			return err
		}
	}
	exposed := protectMemory()
	limitGarbage()
	log := server.NewLogger(s.Err, o.LogLevel, o.LogFormat == "json")
	if exposed != nil {
		log.Warn("programs of root can read the server's environment in /proc", zap.Error(exposed))
	}
	defer func() { _ = log.Sync() }() // standard error may be closed by now
	p, err := assemble(o, log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := stopReasons(ctx, o) // before the server announces its address
	listeners, err := o.transport.open(p.server, s.Err, opened, p.threads.member.Ready)
	if err != nil {
		return err
	}
	if l := p.joined.Listener(); l != nil {
		listeners = append(listeners, l)
	}
	if o.transport.isStdio() {
		if o.Waiting != nil {
			o.Waiting()
		}
		return p.run(transports{listeners, &s}, stop, nil)
	}
	return p.run(transports{listeners, nil}, stop, p.idle(ctx, time.Duration(o.transport.idle)*time.Second))
}

// garbagePercent is the permitted share of garbage relative to live memory. With the runtime's default of
// 100 percent, a stream to a client that does not read needs almost 64 MiB.
const garbagePercent = 70

// limitGarbage makes the collector run earlier than by default, unless GOGC is set.
func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// process is a running server.
type process struct {
	assembly
	engine *engine.Engine
	// unwatch stops watching skill files.
	unwatch func()
	// joined is nil if the threads are in files.
	joined *fleet.Service
	work   *clientWork
}

// stopReasons returns a channel that receives a reason to stop: a signal, or the exit of the parent process.
// A goroutine waits for each; both end with ctx.
func stopReasons(ctx context.Context, o *Options) <-chan string {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE)
	var orphaned <-chan struct{}
	if o.endsWithParent() {
		orphaned = parentExit(ctx)
	}
	reasons := make(chan string, 1)
	go func() {
		select {
		case sig := <-signals:
			reasons <- sig.String()
		case <-orphaned:
			reasons <- "the parent process exited"
		case <-ctx.Done():
		}
	}()
	return reasons
}

// run serves until the input or the output of the client ends and there is no other client, until the server is idle,
// or until there is a reason to stop. Then it shuts down in order.
func (p *process) run(t transports, stop <-chan string, idle <-chan struct{}) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var closed <-chan struct{}
	if t.streams != nil {
		closed = outputClosed(ctx, t.streams.Out)
	}
	all := t.serve(p.server)
	served := make(chan error, len(all))
	for _, serve := range all {
		go func() { served <- serve() }()
	}
	select {
	case reason := <-stop:
		p.settings.log.Info("stopping", zap.String("reason", reason))
	case <-idle:
		p.settings.log.Info("stopping", zap.String("reason", "no client is connected, and no turn is in progress"))
	case <-p.server.EOF():
		p.settings.log.Info("the client closed the input")
	case <-closed:
		p.settings.log.Info("the client closed the output")
	case err := <-served:
		return errors.Join(err, p.close(t.listeners))
	}
	return p.close(t.listeners)
}

// transports are the ways to the clients: the listeners, and the streams of a client or nil.
type transports struct {
	listeners []clientListener
	streams   *Streams
}

// serve returns the functions that serve clients until the shutdown or an error.
func (t transports) serve(srv *server.Server) (all []func() error) {
	for _, l := range t.listeners {
		all = append(all, l.Serve)
	}
	if s := t.streams; s != nil {
		growPipe(s.Out)
		all = append(all, func() error { return srv.Serve(context.Background(), s.In, s.Out) })
	}
	return all
}

// close shuts the server down: it accepts no more requests, replies to the accepted ones, ends every
// turn, and delivers all messages.
func (p *process) close(listeners []clientListener) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := stopListening(listeners)
	p.server.StopIntake()
	p.settings.models.Close()
	p.work.close()
	p.unwatch()
	quiesce, done := context.WithTimeout(ctx, quiesceTime)
	defer done()
	err = errors.Join(err, p.server.Quiesce(quiesce))
	p.host.Stop()
	err = errors.Join(err, p.engine.Close(ctx), p.host.Close(ctx))
	if p.servers != nil {
		err = errors.Join(err, p.servers.Close(ctx), p.announcer.Close(ctx))
	}
	err = errors.Join(err, p.server.Drain(ctx), awaitClients(ctx, listeners))
	p.joined.Close()
	err = errors.Join(err, p.threads.Close(ctx), p.accounts.account.Close(ctx))
	if err = errors.Join(err, p.closeMemory(ctx)); err != nil {
		p.settings.log.Warn("the shutdown is incomplete", zap.Error(err))
	}
	return nil
}
