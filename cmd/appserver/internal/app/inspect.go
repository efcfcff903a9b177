package app

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/tool"
	"appserver/core/pure/redact"
	"appserver/platform/httpclient"
	"appserver/protocol"
	"appserver/server/remote"
)

// Inspection has the parts that a server of this home would use, for a command that examines them without a server.
type Inspection struct {
	Home string
	// Config is nil if Failure is set.
	Config  *config.Config
	Failure error
	// Warnings are those that clients get when they connect.
	Warnings []string
	Network  *httpclient.Environment
	local    *localHome
}

// Inspect loads the configuration that the options and the files select.
func Inspect(o *Options) (*Inspection, error) {
	home, err := CodexHome()
	if err != nil {
		return nil, err
	}
	i := &Inspection{Home: home, Network: httpclient.New(os.Getenv)}
	if i.local, i.Failure = loadHome(o, zap.NewNop()); i.Failure != nil {
		return i, nil
	}
	i.Config = i.local.config.Current()
	i.Warnings = (&setup{localHome: i.local}).startWarnings()
	return i, nil
}

// Sandbox probes whether the kernel confines commands, and those that only read.
func (i *Inspection) Sandbox() (d protocol.SandboxDiagnostics, reading bool) {
	if err := tool.Probe(confiner()); err != nil {
		return whyUnconfined(err), tool.ProbeReading(confiner()) == nil
	}
	return protocol.SandboxDiagnostics{Enforced: true}, true
}

// Layers returns the files of the configuration that exist, the strongest first.
func (i *Inspection) Layers() (files []string, err error) {
	view, err := i.local.config.View(i.local.cwd, true)
	for _, l := range view.Layers {
		if _, missing := os.Stat(l.Name.File); l.Name.File != "" && missing == nil {
			files = append(files, l.Name.File)
		}
	}
	return files, err
}

// Probe requests the models of a provider, with its key or the login of the user.
func (i *Inspection) Probe(ctx context.Context, provider string) (protocol.ModelProviderProbeResponse, error) {
	c, err := openCatalog(i.local, i.Network)
	if err != nil {
		return protocol.ModelProviderProbeResponse{}, err
	}
	defer c.models.Close()
	return c.Probe(ctx, &protocol.ModelProviderProbeParams{ModelProvider: provider})
}

// inspected names the inspection as an owner of connections to MCP servers.
const inspected = "inspection"

// Servers starts the MCP servers of the configuration, waits for them until ctx is done, and ends them.
func (i *Inspection) Servers(ctx context.Context) []protocol.McpServerStatus {
	pool := newServers(i.local, shell(i.local.config, i.Home), i.Network,
		newToolFiles(i.Home, func(string) bool { return true })).pool
	pool.Open(inspected, definitions(i.Config, i.local.cwd), noObserver{})
	statuses := pool.Status(ctx, inspected, "", false)
	pool.Disconnect(inspected)
	ending, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = pool.Close(ending) // programs that do not end are killed
	return statuses
}

// noObserver ignores what servers report.
type noObserver struct{}

// State does nothing.
func (noObserver) State(string, string, string, error) {}

// ToolsChanged does nothing.
func (noObserver) ToolsChanged(string) {}

// Ask refuses a question.
func (noObserver) Ask(string, core.ServerQuestion) bool { return false }

// Withdraw does nothing.
func (noObserver) Withdraw(string, uint64) {}

// Running returns the diagnostics of the server on the control socket. The error is fs.ErrNotExist if there is no
// socket.
func (i *Inspection) Running(ctx context.Context) (d protocol.ServerDiagnosticsResponse, err error) {
	s, err := remote.Control(ctx, i.Home, protocol.ClientInfo{Name: localClientName, Version: Version})
	if err != nil {
		return d, err
	}
	defer s.Close()
	raw, err := s.Call(ctx, "server/diagnostics", []byte("{}"))
	if err != nil {
		return d, err
	}
	return d, protocol.Unmarshal(raw, &d)
}

// minSecret is the length of the shortest secret that is removed, in bytes. Shorter values are often ordinary words.
const minSecret = 6

// Secrets returns the values that no output may contain: keys, tokens, and secret variables. The longest is first,
// because a secret may contain another one.
func (i *Inspection) Secrets() []string {
	all := secretValues(os.Environ())
	if c := i.Config; c != nil {
		all = append(all, i.local.secrets()...)
		for _, p := range c.ModelProviders {
			key, _ := c.KeyOf(p)
			headers, _ := c.Headers(p)
			all = slices.AppendSeq(append(all, key.Value, p.BearerToken), maps.Values(headers))
			all = append(all, secretValues(pairsOf(p.QueryParams))...)
		}
		for _, m := range c.McpServers {
			headers, _ := c.RequestHeaders(m)
			all = append(slices.AppendSeq(all, maps.Values(headers)), m.OAuth.ClientSecret)
			all = append(all, secretValues(pairsOf(m.Env))...)
		}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(strings.TrimSpace(s)) < minSecret })
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// secretValues returns the values of the variables that look like secrets.
func secretValues(environ []string) (values []string) {
	for _, name := range redact.SecretVariables(environ) {
		for _, entry := range environ {
			if value, found := strings.CutPrefix(entry, name+"="); found {
				values = append(values, value)
			}
		}
	}
	return values
}

func pairsOf(m map[string]string) (pairs []string) {
	for name, value := range m {
		pairs = append(pairs, name+"="+value)
	}
	return pairs
}
