package server

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"appserver/core/engine"
	"appserver/protocol"
)

// Methods serves the method table: the engine has the methods of threads and turns,
// the lobby those that need none, the machine those that act on it without a thread.
type Methods struct {
	*engine.Engine
	Lobby
	Machine
}

// NewMethods serves with these parts.
func NewMethods(e *engine.Engine, l Lobby, m Machine) protocol.Handler { return Methods{e, l, m} }

// Machine is where files and commands are.
type Machine interface {
	FsReadFile(to protocol.Caller, p *protocol.FsReadFileParams) error
	FsWriteFile(to protocol.Caller, p *protocol.FsWriteFileParams) error
	FsCreateDirectory(to protocol.Caller, p *protocol.FsCreateDirectoryParams) error
	FsGetMetadata(to protocol.Caller, p *protocol.FsGetMetadataParams) error
	FsReadDirectory(to protocol.Caller, p *protocol.FsReadDirectoryParams) error
	FsRemove(to protocol.Caller, p *protocol.FsRemoveParams) error
	FsCopy(to protocol.Caller, p *protocol.FsCopyParams) error
	FsWatch(to protocol.Caller, p *protocol.FsWatchParams) error
	FsUnwatch(to protocol.Caller, p *protocol.FsUnwatchParams) error
	FuzzyFileSearch(to protocol.Caller, p *protocol.FuzzyFileSearchParams) error
	FuzzyFileSearchSessionStart(to protocol.Caller, p *protocol.FuzzyFileSearchSessionStartParams) error
	FuzzyFileSearchSessionUpdate(to protocol.Caller, p *protocol.FuzzyFileSearchSessionUpdateParams) error
	FuzzyFileSearchSessionStop(to protocol.Caller, p *protocol.FuzzyFileSearchSessionStopParams) error
	CommandExec(to protocol.Caller, p *protocol.CommandExecParams) error
	CommandExecWrite(to protocol.Caller, p *protocol.CommandExecWriteParams) error
	CommandExecResize(to protocol.Caller, p *protocol.CommandExecResizeParams) error
	CommandExecTerminate(to protocol.Caller, p *protocol.CommandExecTerminateParams) error
}

// Catalog is what is configured.
type Catalog interface {
	// Models gives then the models of a provider, "" for the configured one, once they are
	// known, or will not be soon. The error is for an unknown provider.
	Models(provider string, then func([]protocol.Model)) error
	Providers() protocol.ModelProviderListResponse
	Features() []protocol.ExperimentalFeature
	// Skills are those of working directories, of the server's own without any. It reads
	// the disk.
	Skills(cwds []string) []protocol.SkillsListEntry
	SetExtraSkills(roots []string) error
	// View is of the configuration in cwd, or of the one that holds for all if cwd is empty.
	View(cwd string, includeLayers bool) (protocol.ConfigReadResponse, error)
	Write(p *protocol.ConfigBatchWriteParams) (protocol.ConfigWriteResponse, error)
}

// Lobby serves what a connection can ask without a thread.
type Lobby struct {
	Outbox  *Server
	Catalog Catalog
	// Warnings are about settings without effect; each new client is told.
	Warnings []string
	// Home is CODEX_HOME, Version this program's own.
	Home, Version string
	// Started is when the server began.
	Started time.Time
	// Aside answers a request away from the connection's goroutine.
	Aside func(to protocol.Caller, answer func() (any, error)) error
	// Override takes the place of client names in rollouts and for providers; "" is none.
	Override string
	// Identify is called with what each new client is named for providers; nil is not.
	Identify func(originator, userAgent string)
	// Cwd is the server's working directory.
	Cwd string
	// Sandbox tells whether commands are confined.
	Sandbox func() protocol.SandboxDiagnostics
	// Platform is the system, its version and the processor; Terminal is what the
	// server runs in.
	Platform, Terminal string
}

// Initialize opens the connection and tells what of the configuration has no
// effect. The answer is first: an open connection is told what all clients are.
func (l Lobby) Initialize(to protocol.Caller, p *protocol.InitializeParams) error {
	if err := checkName(p.ClientInfo); err != nil {
		return err
	}
	state, agent := ClientState{Info: p.ClientInfo}, l.userAgent(p.ClientInfo)
	if c := p.Capabilities; c != nil {
		state.ExperimentalAPI, state.OptOut, state.ContextItemsDelta = c.ExperimentalAPI, c.OptOutNotificationMethods, c.ContextItemsDelta
		if c.SlashCommands != nil {
			state.SlashCommands = *c.SlashCommands
		}
	}
	l.Outbox.Reply(to, protocol.InitializeResponse{
		UserAgent: agent, CodexHome: l.Home,
		PlatformFamily: "unix", PlatformOs: runtime.GOOS,
	})
	l.Outbox.Initialized(to.Conn, state)
	if l.Identify != nil {
		l.Identify(l.originator(p.ClientInfo), agent)
	}
	for _, w := range l.Warnings {
		l.Outbox.Notify(to.Conn, protocol.ConfigWarningNotification{Summary: w})
	}
	return nil
}

// version in a client's name would be taken for the protocol's.
var versionInName = regexp.MustCompile(`\d+\.\d+\.\d+`)

// userAgent names the client, the protocol's level, the machine and this server.
// Clients take the first version in it for the level.
func (l Lobby) userAgent(c protocol.ClientInfo) string {
	name := versionInName.ReplaceAllStringFunc(l.originator(c), func(v string) string { return strings.ReplaceAll(v, ".", "_") })
	agent := fmt.Sprintf("%s/%s (%s) %s (%s; %s) appserver/%s",
		strings.ReplaceAll(name, "/", "_"), protocol.Level, l.Platform, l.Terminal, c.Name, c.Version, l.Version)
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '_'
		}
		return r
	}, agent)
}

// ConfigRead shows the configuration in force.
func (l Lobby) ConfigRead(to protocol.Caller, p *protocol.ConfigReadParams) error {
	view, err := l.Catalog.View(l.absolute(p.Cwd), p.IncludeLayers)
	if err != nil {
		return err
	}
	l.Outbox.Reply(to, view)
	return nil
}

// absolute returns the directory that a client names, or "" if it names none.
func (l Lobby) absolute(cwd *string) string {
	switch {
	case cwd == nil || *cwd == "":
		return ""
	case filepath.IsAbs(*cwd):
		return filepath.Clean(*cwd)
	}
	return filepath.Join(l.Cwd, *cwd)
}

// ConfigValueWrite sets a value of the user's configuration.
func (l Lobby) ConfigValueWrite(to protocol.Caller, p *protocol.ConfigValueWriteParams) error {
	return l.ConfigBatchWrite(to, &protocol.ConfigBatchWriteParams{
		Edits:    []protocol.ConfigEdit{{KeyPath: p.KeyPath, Value: p.Value, MergeStrategy: p.MergeStrategy}},
		FilePath: p.FilePath, ExpectedVersion: p.ExpectedVersion,
	})
}

// ConfigBatchWrite sets values of the user's configuration.
func (l Lobby) ConfigBatchWrite(to protocol.Caller, p *protocol.ConfigBatchWriteParams) error {
	answer, err := l.Catalog.Write(p)
	if err == nil {
		l.Outbox.Reply(to, answer)
	}
	return err
}
