package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"appserver/cmd/appserver/internal/share"
	"appserver/protocol"
)

const (
	// sharedIdle is the default of --exit-when-idle of a shared server, in seconds.
	sharedIdle = 60
	// idleInterval is the time between two checks whether the server is idle.
	idleInterval = 250 * time.Millisecond
)

// serveShared connects the streams with a shared server. If none can be reached, it says so on standard error and
// returns false, and this process has to be the server.
func serveShared(s Streams, o *Options) (done bool, err error) {
	home, err := CodexHome()
	if err != nil {
		return true, err
	}
	err = share.Serve(share.Options{
		Home: home, Client: protocol.ClientInfo{Name: localClientName, Version: Version}, Args: o.sharedArgs(),
		Build: build(), Name: o.transport.shared, Replace: o.transport.replace, Idle: o.sharedIdle(),
	}, s.In, s.Out, s.Err)
	if missing := new(share.UnavailableError); errors.As(err, &missing) {
		fmt.Fprintf(s.Err, "appserver: %v; this client has a server of its own\n", missing)
		o.transport.idle = 0
		return false, nil
	}
	return true, err
}

// sharedArgs returns the flags of the shared server.
func (o *Options) sharedArgs() (args []string) {
	defaults := DefaultOptions()
	add := func(name, value, otherwise string) {
		if value != otherwise {
			args = append(args, "--"+name, value)
		}
	}
	for _, c := range o.Overrides {
		add("config", c, "")
	}
	add("model-provider", o.Provider, defaults.Provider)
	add("log-level", o.LogLevel, defaults.LogLevel)
	add("log-format", o.LogFormat, defaults.LogFormat)
	add("session-source", o.source, defaults.source)
	add("web", o.transport.web, "")
	if o.strict {
		args = append(args, "--strict-config")
	}
	return args
}

func (o *Options) sharedIdle() string {
	if o.transport.idle == 0 {
		return strconv.Itoa(sharedIdle)
	}
	return strconv.FormatInt(o.transport.idle, 10)
}

// build identifies the build of this program. Copies of a file have the same one.
func build() string {
	text := Version
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			text += " " + s.Key + "=" + s.Value
		}
	}
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			text += fmt.Sprint(" ", info.Size())
		}
	}
	return text
}

// idle returns a channel that is closed after a time in which no client was connected and no turn continued, or nil if
// the time is 0. A goroutine checks that; it ends with ctx.
func (p *process) idle(ctx context.Context, after time.Duration) <-chan struct{} {
	if after == 0 {
		return nil
	}
	idle := make(chan struct{})
	go func() {
		tick := time.NewTicker(idleInterval)
		defer tick.Stop()
		for last := time.Now(); time.Since(last) < after; {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if len(p.server.Clients()) > 0 || p.engine.IsWorking() {
				last = time.Now()
			}
		}
		close(idle)
	}()
	return idle
}
