package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"appserver/core"
	"appserver/core/effects/workspace"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// gitTimeout limits the read of the repository of a new thread.
const gitTimeout = 2 * time.Second

// closeOnError closes the thread and rejects the request, if err is not nil: the thread was not created or loaded.
func (a *actor) closeOnError(to protocol.Caller, err error) {
	if err != nil {
		a.closeThread()
		a.engine.refuse(to, err)
	}
}

// firstStep applies the first input of a thread. The response is sent after the lines are durable.
func (a *actor) firstStep(to protocol.Caller, in core.Input) error {
	out, err := a.commit(in)
	if err != nil {
		return errStorage(err)
	}
	if to != (protocol.Caller{}) {
		a.subscribe(to.Conn)
	}
	a.ready.Store(true)
	a.warnOfConfig(to)
	a.deliver(out)
	for _, n := range a.config().Deprecations {
		a.engine.parts.Outbox.Notify(to.Conn, n)
	}
	a.openServers(a.thread.Settings().Cwd)
	return nil
}

// warnOfConfig sends a client the warnings about the configuration files of the thread, before the response.
func (a *actor) warnOfConfig(to protocol.Caller) {
	for _, w := range a.config().ConfigWarnings {
		a.engine.parts.Outbox.Notify(to.Conn, protocol.ConfigWarningNotification{Summary: w})
	}
}

// startThread creates a thread from an initial input. The log begins after all checks, because a rejected thread must
// leave no rollout.
func (a *actor) startThread(to protocol.Caller, p *protocol.ThreadStartParams, in core.Start) error {
	cwd, err := selectedCwd(p.Environments, p.Cwd)
	if err != nil {
		return err
	}
	selected := *p
	selected.Cwd, selected.RuntimeWorkspaceRoots = cwd, selectedRoots(p.Environments, p.RuntimeWorkspaceRoots)
	p = &selected
	template, err := a.engine.parts.Config.Start(p)
	if err != nil {
		return err
	}
	protocol.Override(&template.Settings.Agents, p.MultiAgentMode)
	a.scope = template.Scope
	scope := a.config()
	env, err := a.turnEnv(template.Settings)
	if err != nil && !notReady(err) {
		return err
	}
	if err := a.requireServers(template.Settings.Cwd); err != nil {
		return err
	}
	now := time.Now()
	a.options = a.engine.newOptions(scope, !scope.Persist || (p.Ephemeral != nil && *p.Ephemeral))
	if !a.options.Ephemeral {
		if err := a.createLog(now, nil); err != nil {
			return err
		}
	}
	a.thread = core.Load(a.id, a.options, template.Settings, nil)
	in.To, in.Meta, in.Settings, in.Options = to, a.meta(to, p, template, now), template.Settings, a.options
	in.Env, in.Warnings = env, template.Warnings
	if env.Capabilities.Agents.ByPath {
		in.Meta.MultiAgentVersion = protocol.MultiAgentPaths
	}
	return a.firstStep(to, in)
}

// createLog begins the log of a new thread with lines of another one, or with none.
func (a *actor) createLog(at time.Time, seed *rollout.Seed) error {
	log, err := a.engine.parts.Threads.Begin(a.id, at, seed)
	if err != nil {
		return err
	}
	a.journal, a.at = log, log.Ref()
	a.options.Path = a.at.Path
	return nil
}

// meta returns the first line of a new thread. It reads the git repository.
func (a *actor) meta(to protocol.Caller, p *protocol.ThreadStartParams, t Template,
	now time.Time) protocol.SessionMeta {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	instructions := core.BaseInstructions
	if t.BaseInstructions != nil {
		instructions = *t.BaseInstructions
	}
	return protocol.SessionMeta{
		ID: a.id, SessionID: a.id, Timestamp: protocol.Timestamp(now), Cwd: t.Settings.Cwd,
		Originator: a.engine.parts.Clients.Originator(to.Conn), CliVersion: a.engine.parts.Version,
		Source: a.engine.parts.Source, ThreadSource: p.ThreadSource, ModelProvider: t.Settings.Provider,
		BaseInstructions: &protocol.Instructions{Text: instructions}, DeveloperInstructions: t.DeveloperInstructions,
		HistoryMode: protocol.HistoryPaginated, Git: workspace.Git(ctx, t.Settings.Cwd), DynamicTools: p.DynamicTools,
	}
}

// load loads a stored thread for a thread/resume. The order is fixed: the lines have the settings, the settings with
// the client's overrides select the scope, and the scope has the MCP servers.
func (a *actor) load(to protocol.Caller, p *protocol.ThreadResumeParams, path string) error {
	contents, err := a.openThread(path, false)
	if err != nil {
		return err
	}
	if a.thread.Describe(0) { // items are not described yet, and the actor does so next, with the tokenizer
		a.engine.prepare(a.thread.Settings().Model)
	}
	stored, modelWarnings := a.engine.storedSettings(a.thread, a.thread.ProviderRecorded(), p)
	settings, scope, err := a.engine.parts.Config.Resume(p, stored)
	if err != nil {
		return err
	}
	a.scope, a.describeDue = scope, always()
	if err := a.requireServers(settings.Cwd); err != nil {
		return err
	}
	env, noTurns := a.resumedEnv(settings)
	defer a.adoptAgents()
	return a.firstStep(to, core.Resume{
		To: to, Params: p, Env: env, NoTurns: noTurns, Fresh: true, Settings: settings,
		Warnings:         slices.Concat(resumeWarnings(contents), modelWarnings, a.config().Warnings),
		BaseInstructions: p.BaseInstructions, DeveloperInstructions: p.DeveloperInstructions,
	})
}

// openThread opens the rollout for writing, unless it is archived, and loads the thread. It syncs the
// rollout, because responses will contain lines that a crash or a failed disk left unsynced. If
// visited is set, the thread is loaded for one input only.
func (a *actor) openThread(path string, visited bool) (*rollout.Contents, error) {
	builder := a.engine.builder(a.id)
	log, contents, err := a.engine.parts.Threads.Open(store.Ref{ID: a.id, Path: path}, builder)
	if err != nil {
		return nil, err
	}
	if err := log.Append(nil, true); err != nil {
		_ = log.Close()
		return nil, errStorage(err)
	}
	a.journal, a.at, a.withoutBackup = log, log.Ref(), contents.Backup.Err
	a.options = a.engine.storedOptions(a.id, contents)
	a.options.Visited = visited
	a.thread, a.lineReader = builder.loading.Thread(a.options), builder.lineReader
	return contents, nil
}

// join subscribes a client to the loaded thread. Of the params, config and those about permissions and approvals change
// the thread.
func (a *actor) join(to protocol.Caller, p *protocol.ThreadResumeParams) {
	settings, scope, err := a.config().Join(p, a.thread.Settings())
	if err != nil {
		a.engine.refuse(to, err)
		return
	}
	var ignored []string
	if scope != a.scope {
		a.scope = scope
		a.openServers(settings.Cwd)
		ignored = a.config().Warnings
	}
	a.subscribe(to.Conn)
	a.warnOfConfig(to)
	a.step(core.Resume{To: to, Params: p, Env: a.idleEnv(settings), Settings: settings, Warnings: ignored})
	a.followAgents(to.Conn)
}

// storedSettings returns the settings of a stored thread. If its rollout, or that of its source,
// names a model and no provider, the configured model replaces that model, and the client is
// warned.
func (e *Engine) storedSettings(t *core.Thread, providerRecorded bool, p *protocol.ThreadResumeParams) (s core.Settings,
	warnings []string) {
	s = t.Settings()
	model := e.parts.Defaults.Settings().Model
	if providerRecorded || p.Model != nil || p.ModelProvider != nil || s.Model == model {
		return s, nil
	}
	warnings = []string{fmt.Sprintf("The rollout names the model %s, but not its provider. "+
		"The thread continues with the configured model, %s. To use another one, resume it with model and modelProvider.",
		s.Model, model)}
	s.Model = model
	return s, warnings
}
