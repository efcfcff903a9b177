package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/checkpoint"
	"appserver/core/effects/config"
	"appserver/core/effects/host"
	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/offline"
	"appserver/core/effects/model/responses"
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
	"appserver/rollout/store"
	"appserver/server"
	"appserver/server/forward"
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

// serve implements Serve. It calls opened, unless that is nil, before the first request of a
// browser.
func serve(s Streams, o *Options, opened func(*web.Page) error) error {
	if err := o.transport.check(); err != nil {
		return err
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
	if p.listeners, err = o.transport.open(p.server, s.Err, opened, p.threads.ready); err != nil {
		return err
	}
	if p.threads.port != nil {
		p.listeners = append(p.listeners, p.threads.port)
	}
	p.noStdio = !o.transport.isStdio()
	return p.run(s, stop)
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
	server *server.Server
	// noStdio is set if no client is on standard input and output.
	noStdio bool
	// listeners accept all other clients.
	listeners []clientListener
	forwarder *forward.Forwarder
	engine    *engine.Engine
	host      *host.Host
	threads   *openedStore
	// unwatch stops watching skill files.
	unwatch func()
	// announcer, servers and memory are nil if the process runs no turns.
	announcer *announcer
	servers   *mcpServers
	memory    *recall.Service
	// models may have running requests to providers.
	models   *model.ModelCache
	accounts *accounts
	log      *zap.Logger
}

// assemble creates the server from its options.
func assemble(o *Options, log *zap.Logger) (*process, error) {
	live, home, parts, err := loadParts(o, log)
	if err != nil {
		return nil, err
	}
	c := live.Current()
	own := parts.Setup.(*setup)
	own.prepareConfinement()
	network := httpclient.New(os.Getenv)
	router, err := providers(c, home, network, own, log)
	if err != nil {
		return nil, err
	}
	parts.Model = router
	own.models.SetListers(router.Listers())
	router.Window = func(provider, name string) int64 { return own.models.Answered(provider, name).Window }
	commands := shell(c, home)
	servers := newServers(live, home, commands, network, newToolFiles(home, func(thread string) bool {
		var missing *rollout.NotFoundError
		_, err := parts.Threads.Where(store.Ref{ID: thread})
		return !errors.As(err, &missing)
	}), log)
	parts.Tools, parts.Servers = commands, servers
	parts.Patches = tool.Patcher{Closed: []string{home}}
	parts.Image = imageReader(home)
	announces := newAnnouncer(commands, own, log)
	parts.Announce = announces.announce
	parts.AnswerLead = c.Compat.TurnCompletedFloor / 2
	remembers := memoryOf(c, home, network, router)
	parts.Memory = remembers
	port, err := openFleetPort(c, log)
	if err != nil {
		return nil, err
	}
	threads, err := openStore(own, true, port)
	if err != nil {
		return nil, err
	}
	p := newProcess(live, own, threads, parts)
	if port != nil {
		p.forwardTo(port, threads.shared, c.Fleet.Lease)
		port.publish(p.engine, p.forwarder, threads)
	}
	p.servers, p.memory, p.announcer = servers, remembers, announces
	joinMemory(remembers, c, home, p.host.Finder, p.engine)
	servers.threads = p.engine
	return p, nil
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

// Config returns the configuration that the options and the files select.
func Config(o *Options) (*config.Config, error) {
	live, _, _, err := loadParts(o, zap.NewNop())
	if err != nil {
		return nil, err
	}
	return live.Current(), nil
}

// loadParts loads the configuration and returns the parts of an engine that runs no turns. The outbox is
// missing.
func loadParts(o *Options, log *zap.Logger) (live *config.Live, home string, p engine.Parts, err error) {
	if home, err = CodexHome(); err != nil {
		return nil, "", p, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, "", p, fmt.Errorf("the working directory does not exist: %w", err)
	}
	source := config.Source{Home: home, System: config.SystemFile, Overrides: o.Overrides, Provider: o.Provider,
		Getenv: os.Getenv}
	own := &setup{home: home, cwd: cwd, log: log, models: &model.ModelCache{},
		skills: &skills{home: home, userHome: os.Getenv("HOME")}}
	source.Login = func() (bool, error) { return own.accounts.signedIn() }
	c, err := config.Load(source)
	live = config.NewLive(source, c)
	own.config, own.accounts = live, newAccounts(live, home, own, log)
	rollouts := rollout.NewStore(rollout.OS(), home)
	rollouts.SnapshotVersion = program()
	confines := newConfinement(home, log)
	own.rollouts, own.confinement = rollouts, confines.diagnose
	own.confinesReading, own.prepareConfinement = confines.confinesReading, confines.prepare
	return live, home, engine.Parts{
		Log: log, Tokens: token.New(), Source: protocol.StoredSource(o.source),
		Worktrees: worktrees(c, home, log),
		Spread:    func(d time.Duration) time.Duration { return time.Duration(float64(d) * (0.9 + rand.Float64()/5)) },
		Setup:     own,
	}, err
}

// worktrees returns the checkpoints in the home.
func worktrees(c *config.Config, home string, log *zap.Logger) engine.Worktrees {
	if c == nil {
		return nil
	}
	kept := filepath.Join(home, "appserver-checkpoints")
	o := worktree.Options{Home: kept, MaxFiles: c.Checkpoints.MaxFiles, MaxBytes: c.Checkpoints.MaxBytes,
		Start: sandbox.NewReader(home, kept).Start}
	return checkpoint.New(o, func(err error) { log.Warn("problem with checkpoints", zap.Error(err)) })
}

// newProcess creates an engine from the parts, and a server for it.
func newProcess(live *config.Live, own *setup, threads *openedStore, p engine.Parts) *process {
	c, srv := live.Current(), server.New(p.Log)
	p.Outbox, p.Version, p.Originator, p.CompletedFloor = srv, protocol.Level, originator(srv), c.Compat.TurnCompletedFloor
	p.Clients, p.NotifyOthers, p.Connected = srv.Clients, srv.NotifyOthers, srv.Connected
	p.WantsChanges = func(conn uint64) bool {
		client, _ := srv.Client(conn)
		return client.ContextItemsDelta
	}
	p.Threads = threads
	e := engine.New(p)
	if ix := threads.index; ix != nil {
		ix.Watch(func(p index.Progress) { e.IndexProgress(p.Done, p.Total) }, func() { e.IndexSkipped(ix.Skipped()) })
	}
	if threads.shared != nil {
		threads.shared.WatchInterrupted(e.TakeOver)
	}
	e.Retain(RetentionOf(c.History))
	clientHost := hostOf(srv, live, own, p.Tools)
	srv.OnDisconnect(func(conn uint64) {
		e.Disconnect(conn)
		clientHost.Gone(conn)
	})
	own.accounts.server, own.accounts.request = srv, e.NextRequest
	srv.Handle(server.NewMethods(e, server.ServerHandlers{
		Outbox: srv, Catalog: catalog{live, own.models, own.skills}, RunInBackground: e.Background,
		Accounts: own.accounts, ReplyThen: e.BackgroundThen,
		Warnings: append(own.startWarnings(), own.accounts.warning()...),
		Home:     own.home, Cwd: own.cwd, Version: Version,
		Started: time.Now(), Sandbox: own.confinement, Platform: platform(), Terminal: terminal(os.Getenv),
		OriginatorOverride: originatorOverride(), OnClient: own.identity.Set, Fleet: threads.diagnose,
	}, clientHost))
	unwatch := own.skills.watch(func() {
		for _, conn := range srv.Clients() {
			srv.Notify(conn, protocol.SkillsChangedNotification{})
		}
	})
	return &process{server: srv, engine: e, host: clientHost, threads: threads, models: own.models, accounts: own.accounts,
		unwatch: unwatch,
		log:     p.Log}
}

// hostOf returns the handlers of files, searches and commands of clients. The runner is nil if the tools
// cannot run commands of clients.
func hostOf(out host.Outbox, live *config.Live, own *setup, tools engine.Tools) *host.Host {
	runner, _ := tools.(host.Runner)
	return host.New(host.Options{
		Outbox: out, Runner: runner, Cwd: own.cwd,
		Policy: func() protocol.SandboxPolicy { return own.defaults(own.general(own.cwd)).Sandbox },
		Profile: func(id, cwd string) (protocol.SandboxPolicy, error) {
			p, err := own.general(cwd).PermissionsOf(id, cwd, nil)
			return p.Sandbox, err
		},
		Environment: func() core.EnvironmentPolicy { return live.Current().Environment() },
		Confined:    func() bool { return own.confinement().Enforced },
		CheckCwd:    own.checkWorkspace,
		Permits:     func(p protocol.SandboxPolicy) error { return live.Current().PermitsSandbox(p) },
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

// shell returns the runner of commands. It removes the keys of providers and the secrets of the fleet from
// their environment.
func shell(c *config.Config, home string) *tool.Shell {
	secrets := []string{c.Memory.Embeddings.EnvKey, c.Store.URLEnv, c.Fleet.SecretEnv}
	for _, p := range c.ModelProviders {
		secrets = append(secrets, p.EnvKey)
		secrets = slices.AppendSeq(secrets, maps.Values(p.EnvHTTPHeaders))
	}
	env := tool.BaseEnv(os.Environ(), secrets...)
	return &tool.Shell{
		Env: env, Secrets: sync.OnceValue(func() []string { return redact.SecretVariables(env) }), Home: home,
		Supervisor: []string{self(), SuperviseCommand},
		Confiner:   confiner(),
	}
}

// providers returns the clients of all configured providers.
func providers(c *config.Config, home string, network *httpclient.Environment, own *setup,
	log *zap.Logger) (*model.Router, error) {
	router := &model.Router{Providers: map[string]model.Provider{}, Fallback: chat.Render}
	for id, p := range c.ModelProviders {
		if id == offline.Name {
			continue
		}
		key, err := c.APIKey(p)
		headers, wrong := c.Headers(p)
		router.Providers[id] = model.NewClient(model.Endpoint{
			Name: id, BaseURL: p.BaseURL, APIKey: key, Query: p.QueryParams, Headers: headers,
			Transport: network.Transport(), Problem: cmp.Or(err, wrong),
			IdleTimeout: p.StreamIdleTimeout, NotFound: wireAdvice(p), Identity: &own.identity,
			Account: own.accounts.accountOf(c, p),
			Window:  func(name string, tokens int64) { own.models.LearnWindow(id, name, tokens) },
			Learned: func(notice string) { log.Info("the form of requests changed", zap.String("notice", notice)) },
			Extra:   extraOf(p.ExtraBody, p.MaxOutputTokens), ModelExtra: modelExtra(p),
		}, wireOf(p))
	}
	script, err := offlineScript(c.ModelProviders[offline.Name].Script, home)
	if err != nil {
		return nil, err
	}
	router.Providers[offline.Name] = offline.New(script)
	return router, nil
}

func extraOf(body config.ExtraBody, maxOutput *int64) model.Extra {
	extra := model.Extra{Members: string(body)}
	if maxOutput != nil {
		extra.MaxOutput = *maxOutput
	}
	return extra
}

// modelExtra returns the settings of the user for requests to single models.
func modelExtra(p config.Provider) map[string]model.Extra {
	extra := map[string]model.Extra{}
	for name, m := range p.Models {
		extra[name] = extraOf(m.ExtraBody, m.MaxOutputTokens)
	}
	return extra
}

// wireOf returns the API of a provider.
func wireOf(p config.Provider) model.Wire {
	switch p.WireAPI {
	case config.WireResponses:
		return responses.New(responses.Options{OmitStore: p.OmitStore})
	default:
		return chat.New()
	}
}

// wireAdvice returns the advice for a provider without the configured API, or "".
func wireAdvice(p config.Provider) string {
	if p.WireAPI == config.WireResponses {
		return fmt.Sprintf("If the provider has Chat Completions only, set wire_api = %q in [model_providers.%s].",
			config.WireChat, p.ID)
	}
	return ""
}

// offlineScript reads the script of the provider offline. It returns nil if no script is configured.
func offlineScript(path, home string) (*offline.Script, error) {
	if path == "" {
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(home, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model_providers.offline.script: %w", err)
	}
	defer f.Close()
	script, err := offline.ReadScript(f)
	if err != nil {
		return nil, fmt.Errorf("model_providers.offline.script: %s: %w", path, err)
	}
	return script, nil
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

// run serves until the input or the output of the client ends and there is no other client, or until there is a
// reason to stop. Then it shuts down in order.
func (p *process) run(s Streams, stop <-chan string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var closed <-chan struct{}
	if !p.noStdio {
		closed = outputClosed(ctx, s.Out)
	}
	transports := p.transports(s)
	served := make(chan error, len(transports))
	for _, serve := range transports {
		go func() { served <- serve() }()
	}
	select {
	case reason := <-stop:
		p.log.Info("stopping", zap.String("reason", reason))
	case <-p.server.EOF():
		p.log.Info("the client closed the input")
	case <-closed:
		p.log.Info("the client closed the output")
	case err := <-served:
		return errors.Join(err, p.close())
	}
	return p.close()
}

// transports returns the functions that serve clients until the shutdown or an error.
func (p *process) transports(s Streams) (serve []func() error) {
	for _, l := range p.listeners {
		serve = append(serve, l.Serve)
	}
	if !p.noStdio {
		growPipe(s.Out)
		serve = append(serve, func() error { return p.server.Serve(context.Background(), s.In, s.Out) })
	}
	return serve
}

// close shuts the server down: it accepts no more requests, replies to the accepted ones, ends every
// turn, and delivers all messages.
func (p *process) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := stopListening(p.listeners)
	p.server.StopIntake()
	p.models.Close()
	p.unwatch()
	quiesce, done := context.WithTimeout(ctx, quiesceTime)
	defer done()
	err = errors.Join(err, p.server.Quiesce(quiesce))
	p.host.Stop()
	err = errors.Join(err, p.engine.Close(ctx), p.host.Close(ctx))
	if p.servers != nil {
		err = errors.Join(err, p.servers.Close(ctx), p.announcer.Close(ctx))
	}
	err = errors.Join(err, p.server.Drain(ctx), p.awaitClients(ctx))
	if p.forwarder != nil {
		p.forwarder.Close()
	}
	err = errors.Join(err, p.threads.Close(ctx), p.accounts.Close(ctx))
	if err = errors.Join(err, p.closeMemory(ctx)); err != nil {
		p.log.Warn("the shutdown is incomplete", zap.Error(err))
	}
	return nil
}
