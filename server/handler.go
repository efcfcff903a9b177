package server

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"appserver/core/engine"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// Methods implements protocol.Handler. The engine serves threads and turns, ServerHandlers
// serve methods without a thread, and LocalOps serve files and commands.
type Methods struct {
	*engine.Engine
	ServerHandlers
	LocalOps
}

// NewMethods returns a handler for all methods.
func NewMethods(e *engine.Engine, l ServerHandlers, m LocalOps) protocol.Handler {
	return Methods{e, l, m}
}

// LocalOps serves the methods for files, searches and commands that need no thread.
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

// Catalog gives access to the configuration, the models and the skills.
type Catalog interface {
	// Models calls then with the models that a request asks for, hidden ones as well. The call may come
	// later, after providers have replied or timed out. The error reports an unknown provider.
	Models(p *protocol.ModelListParams, then func([]protocol.Model)) error
	// Probe checks a provider. It takes a minute at most.
	Probe(ctx context.Context, p *protocol.ModelProviderProbeParams) (protocol.ModelProviderProbeResponse, error)
	Providers() protocol.ModelProviderListResponse
	Features() []protocol.ExperimentalFeature
	// Skills returns the skills of working directories. It reads the disk. If cwds is empty,
	// it uses the server's working directory.
	Skills(cwds []string) []protocol.SkillsListEntry
	SetExtraSkills(roots []string) error
	// View returns the configuration that applies in cwd, or the global one if cwd is empty.
	View(cwd string, includeLayers bool) (protocol.ConfigReadResponse, error)
	// Write changes the user's configuration. The function is called after the response was sent.
	Write(p *protocol.ConfigBatchWriteParams) (protocol.ConfigWriteResponse, func(), error)
	// WriteProvider changes a provider in the user's configuration, SetDefaultProvider that of new threads. The functions
	// are called after the response was sent.
	WriteProvider(p *protocol.ModelProviderConfigWriteParams) (protocol.ModelProviderConfigWriteResponse, func(), error)
	SetDefaultProvider(name string) (protocol.ConfigWriteResponse, func(), error)
	// PermissionProfiles returns the profiles of threads in cwd, an absolute path.
	PermissionProfiles(cwd string) ([]protocol.PermissionProfileSummary, error)
}

// ServerHandlers serves the methods that need neither a thread nor local files.
type ServerHandlers struct {
	Outbox  *Server
	Catalog Catalog
	// Accounts has the login of the user, Keys the stored keys of providers.
	Accounts Accounts
	Keys     ProviderKeys
	// Warnings describe settings without effect. Each new client is notified of them.
	Warnings []string
	// Home is CODEX_HOME. Version is the version of this program.
	Home, Version string
	// Started is the start time of the server.
	Started time.Time
	// RunInBackground replies to a request from another goroutine.
	RunInBackground func(to protocol.Caller, answer func() (any, error)) error
	// ReplyThen does the same, and calls the function that answer returns after the reply.
	ReplyThen func(to protocol.Caller, answer func() (any, func(), error)) error
	// NextRequest returns a new id for a request to a client.
	NextRequest func() uint64
	// RunForClient replies to a request from a goroutine of its own. The context ends with the connection.
	RunForClient func(to protocol.Caller, answer func(ctx context.Context) (any, error)) error
	// OriginatorOverride replaces the names of clients in rollouts and for providers, unless
	// it is empty.
	OriginatorOverride string
	// InspectFolder describes a folder that a user chooses. It reads the disk.
	InspectFolder func(p *protocol.FolderInspectParams) (protocol.FolderInspectResponse, error)
	// OnClient is called with the originator and the user agent of each new client. It may be
	// nil.
	OnClient func(originator, userAgent string)
	// Cwd is the server's working directory.
	Cwd string
	// Sandbox returns the state of the sandbox.
	Sandbox func() protocol.SandboxDiagnostics
	// Fleet returns the state of the server in its fleet, or nil without one.
	Fleet func() *protocol.FleetDiagnostics
	// Platform names the operating system, its version and the processor. Terminal names the
	// terminal that the server runs in.
	Platform, Terminal string
}

// Initialize serves initialize. It replies before it marks the connection as initialized.
// Broadcasts go to initialized connections, and the reply must precede them.
func (h ServerHandlers) Initialize(to protocol.Caller, p *protocol.InitializeParams) error {
	if err := checkName(p.ClientInfo); err != nil {
		return err
	}
	state, agent := ClientState{Info: p.ClientInfo}, h.userAgent(p.ClientInfo)
	if c := p.Capabilities; c != nil {
		state.ExperimentalAPI, state.ContextItemsDelta = c.ExperimentalAPI, c.ContextItemsDelta
		state.OptOut = c.OptOutNotificationMethods
		if c.SlashCommands != nil {
			state.SlashCommands = *c.SlashCommands
		}
	}
	h.Outbox.Reply(to, protocol.InitializeResponse{
		UserAgent: agent, CodexHome: h.Home,
		PlatformFamily: platformFamily(), PlatformOs: runtime.GOOS,
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

// versionInName matches versions in the name of a client. Clients read the first version of
// the user agent as the protocol level. So the name must not contain one.
var versionInName = pattern.New(`\d+\.\d+\.\d+`)

// userAgent returns the user agent: client, protocol level, platform and this server.
func (h ServerHandlers) userAgent(c protocol.ClientInfo) string {
	name := h.originator(c)
	if strings.Contains(name, ".") {
		name = versionInName().ReplaceAllStringFunc(name, func(v string) string { return strings.ReplaceAll(v, ".", "_") })
	}
	agent := fmt.Sprintf("%s/%s (%s) %s (%s; %s) appserver/%s",
		strings.ReplaceAll(name, "/", "_"), protocol.Level, h.Platform, h.Terminal, c.Name, c.Version, h.Version)
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '_'
		}
		return r
	}, agent)
}

// ConfigRead returns the effective configuration.
func (h ServerHandlers) ConfigRead(to protocol.Caller, p *protocol.ConfigReadParams) error {
	view, err := h.Catalog.View(h.absolute(p.Cwd), p.IncludeLayers)
	if err != nil {
		return err
	}
	h.Outbox.Reply(to, view)
	return nil
}

// absolute returns the directory of a request, or "" if the request has none.
func (h ServerHandlers) absolute(cwd *string) string {
	switch {
	case cwd == nil || *cwd == "":
		return ""
	case filepath.IsAbs(*cwd):
		return filepath.Clean(*cwd)
	}
	return filepath.Join(h.Cwd, *cwd)
}

// ConfigValueWrite sets one value in the user's configuration.
func (h ServerHandlers) ConfigValueWrite(to protocol.Caller, p *protocol.ConfigValueWriteParams) error {
	return h.ConfigBatchWrite(to, &protocol.ConfigBatchWriteParams{
		Edits:    []protocol.ConfigEdit{{KeyPath: p.KeyPath, Value: p.Value, MergeStrategy: p.MergeStrategy}},
		FilePath: p.FilePath, ExpectedVersion: p.ExpectedVersion,
	})
}

// ConfigBatchWrite sets several values in the user's configuration.
func (h ServerHandlers) ConfigBatchWrite(to protocol.Caller, p *protocol.ConfigBatchWriteParams) error {
	answer, then, err := h.Catalog.Write(p)
	return h.replyThen(to, answer, then, err)
}

// replyThen replies and calls a function, unless there is an error.
func (h ServerHandlers) replyThen(to protocol.Caller, answer any, then func(), err error) error {
	if err == nil {
		h.Outbox.Reply(to, answer)
		then()
	}
	return err
}

func platformFamily() string {
	if runtime.GOOS == "windows" {
		return "windows"
	}
	return "unix"
}
