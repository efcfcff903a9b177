package app

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/account"
	"appserver/core/effects/checkpoint"
	"appserver/core/effects/config"
	"appserver/core/effects/host"
	"appserver/core/effects/mcp"
	"appserver/core/effects/model"
	"appserver/core/effects/providerkey"
	"appserver/core/effects/sandbox"
	"appserver/core/effects/token"
	"appserver/core/effects/tool"
	"appserver/core/effects/workspace"
	"appserver/core/effects/worktree"
	"appserver/core/engine"
	"appserver/core/engine/recall"
	"appserver/core/pure/redact"
	"appserver/platform/httpclient"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/index"
	"appserver/server"
)

// localHome has the configuration and the rollouts of a home. The server and the commands for stored threads use it.
type localHome struct {
	config *config.Live
	home   string
	cwd    string
	// rollouts are the files of the threads.
	rollouts *rollout.Store
	// account is the login of the user. identity names the client in its requests, and in those to providers.
	account  *account.Account
	identity *model.Identity
	// keys are the keys of providers that the user has typed.
	keys *providerkey.Store
	// secrets returns these keys, which are removed from rollouts.
	secrets func() []string
	log     *zap.Logger
}

// loadHome loads the configuration that the options and the files select.
func loadHome(o *Options, log *zap.Logger) (*localHome, error) {
	home, err := CodexHome()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("the working directory does not exist: %w", err)
	}
	local := &localHome{home: home, cwd: cwd, rollouts: rollout.NewStore(rollout.OS(), home),
		identity: &model.Identity{}, log: log}
	local.rollouts.SnapshotVersion = program()
	source := config.Source{Home: home, System: config.SystemFile, Overrides: o.Overrides, Provider: o.Provider,
		Getenv: os.Getenv, Strict: o.strict, Ports: config.Ports{
			Login:     func() (bool, error) { return signedIn(local.account) },
			StoredKey: func(provider, address string) (string, error) { return local.keys.Key(provider, address) },
			Secrets:   func() []string { return local.secrets() },
		}}
	c, err := config.Load(source)
	if err != nil {
		return nil, err
	}
	local.config = config.NewLive(source, c)
	local.account = openAccount(local.config, home, local.identity)
	local.keys, local.secrets = openKeys(home, c.AuthStore)
	return local, nil
}

// Config returns the configuration that the options and the files select.
func Config(o *Options) (*config.Config, error) {
	local, err := loadHome(o, zap.NewNop())
	if err != nil {
		return nil, err
	}
	return local.config.Current(), nil
}

// assembly has the parts of a server. newProcess makes the engine and the methods of the server from them.
type assembly struct {
	// settings are those of threads, and the ports Config and Defaults.
	settings *setup
	server   *server.Server
	accounts *accounts
	keys     *providerKeys
	host     *host.Host
	threads  *openedStore
	// ports are the ports of the engine. They lead to the parts beside them.
	ports engine.Parts
	// servers, memory and announcer are nil if the process runs no turns.
	servers   *mcp.Pool
	memory    *recall.Service
	announcer *announcer
	// client returns the client of a provider, or nil.
	client func(provider string) model.Provider
}

func (a assembly) catalog() catalog {
	return catalog{a.settings.config, a.settings.models, a.client, a.settings.skills, a.keys.changed}
}

// assemble creates the server from its options.
func assemble(o *Options, log *zap.Logger) (*process, error) {
	local, err := loadHome(o, log)
	if err != nil {
		return nil, err
	}
	confines := newConfinement(local.home, log)
	confines.prepare()
	c, network, srv := local.config.Current(), httpclient.New(os.Getenv), server.New(log)
	user := &accounts{localHome: local, server: srv}
	models, err := openModels(local, network, user)
	if err != nil {
		return nil, err
	}
	threads, err := openStore(local, true)
	if err != nil {
		return nil, err
	}
	keys := &providerKeys{local, srv}
	local.keys.Changed = keys.changed
	commands, settings := shell(local.config, local.home), newSetup(local, models.cache, confines)
	a := assembly{settings: settings, server: srv, accounts: user, keys: keys, threads: threads,
		host:      hostOf(srv, settings, commands),
		announcer: newAnnouncer(commands, settings, log), client: models.provider}
	a.memory = openMemory(c, local.home, network, models, a.host.Finder, &memoryNotices{server: srv})
	servers := newServers(local, commands, network, newToolFiles(local.home, threads.exist))
	a.servers = servers.pool
	a.ports = engine.Parts{
		Threads: threads.threads, Config: settings, Defaults: settings,
		Model: models, Tokens: token.New(), Tools: commands,
		Patches: tool.Patcher{Closed: []string{local.home}}, Image: imageReader(local.home),
		Worktrees: worktrees(c, local.home, log), Servers: servers.ports(), Memory: memoryPorts(a.memory),
		Announce: a.announcer.announce,
		Outbox:   outboxOf(srv), Clients: clientsOf(srv), Log: log,
		Version: protocol.Level, Source: protocol.StoredSource(o.source),
		CompletedFloor: c.Compat.TurnCompletedFloor, AnswerLead: c.Compat.TurnCompletedFloor / 2,
		Spread: spread,
	}
	return newProcess(a)
}

// spread varies a delay by a tenth.
func spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + rand.Float64()/5))
}

// outboxOf returns the outbox of the clients of a server.
func outboxOf(srv *server.Server) engine.Outbox {
	return engine.Outbox{Answers: srv, Messages: srv, Pressure: srv}
}

// clientsOf returns the clients of a server.
func clientsOf(srv *server.Server) engine.Clients {
	return engine.Clients{
		Originator: originator(srv), All: srv.Clients, NotifyOthers: srv.NotifyOthers, Connected: srv.Connected,
		WantsChanges: func(conn uint64) bool {
			client, _ := srv.Client(conn)
			return client.ContextItemsDelta
		},
	}
}

// memoryPorts returns the ports of a memory.
func memoryPorts(m *recall.Service) *engine.Memory {
	return &engine.Memory{ThreadMemory: m, MemoryViews: m, MemoryChanges: m}
}

// imageReader returns a function that reads images. If confined is set, it reads only files that confined
// commands can read.
func imageReader(home string) func(path string, confined bool) (string, error) {
	return func(path string, confined bool) (string, error) {
		if shared := filepath.Join(home, sandbox.SharedFolder) + string(filepath.Separator); confined &&
			!strings.HasPrefix(filepath.Clean(path), shared) {
			return workspace.Image(path, home)
		}
		return workspace.Image(path)
	}
}

// worktrees returns the checkpoints in the home.
func worktrees(c *config.Config, home string, log *zap.Logger) *engine.Worktrees {
	folder := filepath.Join(home, "appserver-checkpoints")
	o := worktree.Options{Home: folder, MaxFiles: c.Checkpoints.MaxFiles, MaxBytes: c.Checkpoints.MaxBytes,
		Start: sandbox.NewReader(home, folder).Start}
	kept := checkpoint.New(o, func(err error) { log.Warn("problem with checkpoints", zap.Error(err)) })
	return &engine.Worktrees{Captures: kept, FileDiffs: kept, Checkpoints: kept}
}

// newProcess creates the engine of an assembly, and connects it with the server. Requests are accepted afterwards, when
// serve opens the transports.
func newProcess(a assembly) (*process, error) {
	settings, srv, e := a.settings, a.server, engine.New(a.ports)
	if ix := a.threads.index; ix != nil {
		ix.Watch(func(p index.Progress) { e.IndexProgress(p.Done, p.Total) }, func() { e.IndexSkipped(ix.Skipped()) })
	}
	joined, err := a.threads.member.Serve(e, srv)
	if err != nil {
		return nil, err
	}
	e.Retain(RetentionOf(settings.config.Current().History))
	work := newClientWork(srv, a.ports.Log)
	methods := server.NewMethods(e, server.ServerHandlers{
		Outbox: srv, Catalog: a.catalog(),
		RunInBackground: e.Background, Accounts: a.accounts, Keys: a.keys,
		ReplyThen: e.BackgroundThen, RunForClient: work.run, NextRequest: e.NextRequest,
		Warnings: slices.Concat(settings.startWarnings(), a.accounts.warning(), a.keys.warning()),
		Home:     settings.home, Cwd: settings.cwd, Version: Version,
		Started: time.Now(), Sandbox: settings.confinement, Platform: platform(), Terminal: terminal(os.Getenv),
		OriginatorOverride: originatorOverride(), OnClient: settings.identity.Set,
		InspectFolder: settings.inspectFolder, Fleet: joined.Diagnose,
	}, a.host)
	srv.Handle(server.Service{Handler: methods, Router: joined.Router(), Left: func(conn uint64) {
		e.Disconnect(conn)
		a.host.Gone(conn)
		work.gone(conn)
	}})
	unwatch := settings.skills.watch(func() {
		for _, conn := range srv.Clients() {
			srv.Notify(conn, protocol.SkillsChangedNotification{})
		}
	})
	return &process{assembly: a, engine: e, joined: joined, unwatch: unwatch, work: work}, nil
}

// hostOf returns the handlers of files, searches and commands of clients. The runner is nil if commands of clients
// do not run.
func hostOf(out host.Outbox, settings *setup, runner host.Runner) *host.Host {
	return host.New(host.Options{
		Outbox: out, Runner: runner, Cwd: settings.cwd,
		Policy: func() protocol.SandboxPolicy { return settings.defaults(settings.general(settings.cwd)).Sandbox },
		Profile: func(id, cwd string) (protocol.SandboxPolicy, error) {
			p, err := settings.general(cwd).PermissionsOf(id, cwd, nil)
			return p.Sandbox, err
		},
		Environment: func() core.EnvironmentPolicy { return settings.config.Current().Environment() },
		Confined:    func() bool { return settings.confinement().Enforced },
		CheckCwd:    settings.checkWorkspace,
		Permits:     func(p protocol.SandboxPolicy) error { return settings.config.Current().PermitsSandbox(p) },
	})
}

// originatorOverride returns the name that replaces the names of clients, or "".
func originatorOverride() string {
	if name := os.Getenv("CODEX_INTERNAL_ORIGINATOR_OVERRIDE"); server.ValidHeader(name) {
		return name
	}
	return ""
}

func originator(srv *server.Server) func(conn uint64) string {
	override := originatorOverride()
	return func(conn uint64) string {
		if override != "" {
			return override
		}
		if c, ok := srv.Client(conn); ok {
			return c.Info.Name
		}
		return "appserver"
	}
}

// keyVariables returns the variables with the keys of providers and the secrets of the fleet.
func keyVariables(c *config.Config) []string {
	names := []string{c.Memory.Embeddings.EnvKey, c.Store.URLEnv, c.Fleet.SecretEnv}
	for _, p := range c.ModelProviders {
		names = append(names, p.EnvKey)
		names = slices.AppendSeq(names, maps.Values(p.EnvHTTPHeaders))
	}
	return names
}

// shell returns the runner of commands. It removes the keys of providers and the secrets of the fleet from
// their environment.
func shell(live *config.Live, home string) *tool.Shell {
	env := tool.BaseEnv(os.Environ(), keyVariables(live.Current())...)
	return &tool.Shell{
		Env: env, Hidden: func() []string { return keyVariables(live.Current()) }, Home: home,
		Secrets:    sync.OnceValue(func() []string { return redact.SecretVariables(env) }),
		Supervisor: []string{self(), SuperviseCommand},
		Confiner:   confiner(),
	}
}
