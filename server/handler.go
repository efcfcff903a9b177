package server

import (
	"fmt"
	"runtime"
	"strings"

	"appserver/core/config"
	"appserver/core/engine"
	"appserver/protocol"
)

// Methods serves the method table: the engine has the methods of threads and turns,
// the lobby those that need none.
type Methods struct {
	*engine.Engine
	Lobby
}

// NewMethods serves with these parts.
func NewMethods(e *engine.Engine, l Lobby) protocol.Handler { return Methods{e, l} }

// Lobby serves what a connection can ask without a thread.
type Lobby struct {
	Outbox  *Server
	Config  *config.Config
	Home    string
	Version string
}

// Initialize opens the connection and tells what of the configuration has no
// effect.
func (l Lobby) Initialize(to protocol.Caller, p *protocol.InitializeParams) error {
	state := ClientState{Info: p.ClientInfo}
	if c := p.Capabilities; c != nil {
		state.ExperimentalAPI, state.OptOut = c.ExperimentalAPI, c.OptOutNotificationMethods
	}
	l.Outbox.Initialized(to.Conn, state)
	l.Outbox.Reply(to, protocol.InitializeResponse{
		UserAgent: UserAgent(p.ClientInfo, l.Version), CodexHome: l.Home,
		PlatformFamily: "unix", PlatformOs: runtime.GOOS,
	})
	for _, w := range l.Config.Warnings {
		l.Outbox.Notify(to.Conn, protocol.ConfigWarningNotification{Summary: w})
	}
	return nil
}

// UserAgent names the client, the protocol's level, the machine and this server.
// Clients take the first version in it for the level, so that versions are cut out
// of the client's name.
func UserAgent(c protocol.ClientInfo, version string) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' || r >= '0' && r <= '9' {
			return '_'
		}
		return r
	}, c.Name)
	return fmt.Sprintf("%s/%s (%s; %s) appserver (%s; %s) appserver/%s",
		name, protocol.Level, runtime.GOOS, runtime.GOARCH, c.Name, c.Version, version)
}

// ModelList lists the configured models.
func (l Lobby) ModelList(to protocol.Caller, p *protocol.ModelListParams) error {
	l.Outbox.Reply(to, protocol.ModelListResponse{Data: l.Config.Models()})
	return nil
}

// ConfigRead shows the configuration in force.
func (l Lobby) ConfigRead(to protocol.Caller, p *protocol.ConfigReadParams) error {
	l.Outbox.Reply(to, l.Config.View(p.IncludeLayers))
	return nil
}
