package engine

import (
	"errors"
	"slices"
	"time"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// ThreadFork starts a thread with the history of another one, loaded or not. The goroutine of the
// source reads its rollout, so that the fork contains all earlier requests. The goroutine of the
// fork writes it.
func (e *Engine) ThreadFork(to protocol.Caller, p *protocol.ThreadForkParams) error {
	path := p.Path
	if path != nil && *path == "" {
		path = nil
	}
	at, err := refNamed(p.ThreadID, path)
	if err != nil {
		return err
	}
	fork := func(a *actor) { a.forkTo(to, p, at.Path, nil) }
	_, err = e.post(at.ID, true, request{to: to, do: fork, absent: fork})
	return err
}

// branch is the initial state of a fork.
type branch struct {
	// builder has built the fork.
	builder  *threadBuilder
	name     string
	at       time.Time
	warnings []string
	// providerRecorded is set if the source names the provider of its model. The fork always does.
	providerRecorded bool
	// then is the first input of the fork, which replies to the caller, or nil.
	then func(*actor)
}

func (a *actor) forkTo(to protocol.Caller, p *protocol.ThreadForkParams, path string, then func(*actor)) {
	a.releaseTurn()
	id := a.engine.parts.NewID()
	b, err := a.branch(id, func(source *core.Thread, at time.Time) protocol.SessionMeta {
		return a.forkMeta(source.ForkMeta(id, at), to, p)
	}, p, path)
	if err == nil {
		b.then = then
		_, err = a.engine.post(id, true,
			request{to: to, absent: func(next *actor) { next.closeOnError(to, next.createFork(b, to, p)) }})
		if err != nil && b.builder.lineReader != nil {
			_ = b.builder.lineReader.Close() // it was opened for reading
		}
	}
	if err != nil {
		a.engine.refuse(to, err)
	}
}

// forkMeta returns the first line of a fork that a client requests.
func (a *actor) forkMeta(
	meta protocol.SessionMeta, to protocol.Caller, p *protocol.ThreadForkParams,
) protocol.SessionMeta {
	meta.Originator, meta.CliVersion, meta.Source = a.engine.parts.Clients.Originator(to.Conn), a.engine.parts.Version,
		a.engine.parts.Source
	meta.ThreadSource = p.ThreadSource
	if p.BaseInstructions != nil {
		meta.BaseInstructions = &protocol.Instructions{Text: *p.BaseInstructions}
	}
	if p.DeveloperInstructions != nil {
		meta.DeveloperInstructions = p.DeveloperInstructions
	}
	return meta
}

// branch reads the initial state of a fork, whose first line is that of newMeta. The lines of a loaded thread equal
// those on disk.
func (a *actor) branch(
	id string, newMeta func(source *core.Thread, at time.Time) protocol.SessionMeta, p *protocol.ThreadForkParams,
	path string,
) (*branch, error) {
	at, err := a.placeOfFork(path)
	if err != nil {
		return nil, err
	}
	source := a.thread
	if source == nil {
		l, err := a.engine.loadFrom(at)
		if err != nil {
			return nil, err
		}
		defer l.close()
		source = l.Thread
	}
	before, refusal := source.ForkAt(p.LastTurnID, p.BeforeTurnID, p.BeforeRequestID)
	if refusal != nil {
		return nil, refusal
	}
	now := time.Now()
	meta := newMeta(source, now)
	first, err := core.ForkFirst(meta)
	if err != nil {
		return nil, err
	}
	builder := builderUntil(before, id, a.engine.parts.Defaults.Settings())
	builder.fork, builder.inMemory = &forkStart{meta: meta, first: first}, p.Ephemeral
	builder.fromStart = p.Ephemeral || p.LastTurnID != nil || p.BeforeTurnID != nil ||
		p.BeforeRequestID != nil // snapshots have all turns
	contents, err := a.loadFork(at, builder)
	if err != nil {
		return nil, err
	}
	return &branch{builder: builder, name: source.Name(), at: now, warnings: resumeWarnings(contents),
		providerRecorded: source.ProviderRecorded()}, nil
}

// placeOfFork returns the place of the thread that is forked.
func (a *actor) placeOfFork(path string) (store.Ref, error) {
	at := store.Ref{ID: a.id, Path: path}
	switch {
	case a.thread != nil && a.options.Ephemeral:
		return at, &rollout.NotFoundError{ID: a.id}
	case a.thread != nil:
		at = a.at
	}
	place, err := a.engine.parts.Threads.Where(at)
	if err == nil && place.Archived {
		err = errArchived(a.id)
	}
	return place.Ref, err
}

// loadFork loads a fork. It returns an error if the backup is unreadable, because the fork would lack items.
func (a *actor) loadFork(at store.Ref, builder *threadBuilder) (*rollout.Contents, error) {
	contents, lineReader, err := a.engine.parts.Threads.Load(at, builder)
	if err != nil {
		return nil, err
	}
	if contents.Backup.Err != nil && (a.thread == nil || a.withoutBackup == nil) {
		return nil, errors.Join(contents.Backup.Err, lineReader.Close())
	}
	if builder.inMemory {
		err = lineReader.Close()
	}
	return contents, err
}

// createFork creates the fork. The rollout appears on disk complete or not at all.
func (a *actor) createFork(b *branch, to protocol.Caller, p *protocol.ThreadForkParams) error {
	thread := b.builder.loading.Thread(core.Options{})
	a.lineReader = b.builder.lineReader // of the origin, until the fork has a rollout
	stored, modelWarnings := a.engine.storedSettings(thread, b.providerRecorded, p.Overrides())
	settings, scope, err := a.engine.parts.Config.Resume(p.Overrides(), stored)
	if err != nil {
		return err
	}
	return a.beginFork(thread, b, core.Fork{
		To: to, Settings: settings, Name: b.name, ExcludeTurns: p.ExcludeTurns, Answered: b.then != nil,
		AtRequest: p.BeforeRequestID != nil, Warnings: slices.Concat(b.warnings, modelWarnings),
	}, scope, p.Ephemeral)
}

// beginFork begins the log of a fork, and takes its first step.
func (a *actor) beginFork(thread *core.Thread, b *branch, in core.Fork, scope *Scope, isEphemeral bool) error {
	a.scope, a.describeDue = scope, always()
	if err := a.requireServers(in.Settings.Cwd); err != nil {
		return err
	}
	a.options = a.engine.newOptions(a.config(), isEphemeral || !a.config().Persist)
	if !a.options.Ephemeral {
		if err := a.createLog(b.at, a.seed(b)); err != nil {
			return err
		}
	}
	a.thread = thread
	in.Env, in.Options = a.idleEnv(in.Settings), a.options
	in.Warnings = append(in.Warnings, a.config().Warnings...)
	err := a.firstStep(in.To, in)
	if err == nil && b.then != nil {
		b.then(a)
	}
	return err
}
