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
	ServerHandlers
	LocalOps
}

// NewMethods serves with these parts.
func NewMethods(e *engine.Engine, l ServerHandlers, m LocalOps) protocol.Handler {
	return Methods{e, l, m}
}

// Machine is where files and commands are.
type LocalOps interface {
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
type ServerHandlers struct {
	Outbox  *Server
	Catalog Catalog
	// Warnings are about settings without effect; each new client is told.
	Warnings []string
	// Home is CODEX_HOME, Version this program's own.
	Home, Version string
	// Started is when the server began.
	Started time.Time
	// Aside answers a request away from the connection's goroutine.
	RunInBackground func(to protocol.Caller, answer func() (any, error)) error
	// Override takes the place of client names in rollouts and for providers; "" is none.
	OriginatorOverride string
	// Identify is called with what each new client is named for providers; nil is not.
	OnClient func(originator, userAgent string)
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
func (h ServerHandlers) Initialize(to protocol.Caller, p *protocol.InitializeParams) error {
	if err := checkName(p.ClientInfo); err != nil {
		return err
	}
	state, agent := ClientState{Info: p.ClientInfo}, h.userAgent(p.ClientInfo)
	if c := p.Capabilities; c != nil {
		state.ExperimentalAPI, state.OptOut, state.ContextItemsDelta = c.ExperimentalAPI, c.OptOutNotificationMethods, c.ContextItemsDelta
		if c.SlashCommands != nil {
			state.SlashCommands = *c.SlashCommands
		}
	}
	h.Outbox.Reply(to, protocol.InitializeResponse{
		UserAgent: agent, CodexHome: h.Home,
		PlatformFamily: "unix", PlatformOs: runtime.GOOS,
	})
	h.Outbox.Initialized(to.Conn, state)
	if h.OnClient != nil {
		h.OnClient(h.originator(p.ClientInfo), agent)
	}
	for _, w := range h.Warnings {
		h.Outbox.Notify(to.Conn, protocol.ConfigWarningNotification{Summary: w})
	}
	return nil
}

// version in a client's name would be taken for the protocol's.
var versionInName = regexp.MustCompile(`\d+\.\d+\.\d+`)

// userAgent names the client, the protocol's level, the machine and this server.
// Clients take the first version in it for the level.
func (h ServerHandlers) userAgent(c protocol.ClientInfo) string {
	name := versionInName.ReplaceAllStringFunc(h.originator(c), func(v string) string { return strings.ReplaceAll(v, ".", "_") })
	agent := fmt.Sprintf("%s/%s (%s) %s (%s; %s) appserver/%s",
		strings.ReplaceAll(name, "/", "_"), protocol.Level, h.Platform, h.Terminal, c.Name, c.Version, h.Version)
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '_'
		}
		return r
	}, agent)
}

// ConfigRead shows the configuration in force.
func (h ServerHandlers) ConfigRead(to protocol.Caller, p *protocol.ConfigReadParams) error {
	view, err := h.Catalog.View(h.absolute(p.Cwd), p.IncludeLayers)
	if err != nil {
		return err
	}
	h.Outbox.Reply(to, view)
	return nil
}

// absolute returns the directory that a client names, or "" if it names none.
func (h ServerHandlers) absolute(cwd *string) string {
	switch {
	case cwd == nil || *cwd == "":
		return ""
	case filepath.IsAbs(*cwd):
		return filepath.Clean(*cwd)
	}
	return filepath.Join(h.Cwd, *cwd)
}

// ConfigValueWrite sets a value of the user's configuration.
func (h ServerHandlers) ConfigValueWrite(to protocol.Caller, p *protocol.ConfigValueWriteParams) error {
	return h.ConfigBatchWrite(to, &protocol.ConfigBatchWriteParams{
		Edits:    []protocol.ConfigEdit{{KeyPath: p.KeyPath, Value: p.Value, MergeStrategy: p.MergeStrategy}},
		FilePath: p.FilePath, ExpectedVersion: p.ExpectedVersion,
	})
}

// ConfigBatchWrite sets values of the user's configuration.
func (h ServerHandlers) ConfigBatchWrite(to protocol.Caller, p *protocol.ConfigBatchWriteParams) error {
	answer, err := h.Catalog.Write(p)
	if err == nil {
		h.Outbox.Reply(to, answer)
	}
	return err
}
