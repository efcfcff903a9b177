package engine

import (
	"context"
	"encoding/json"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout/store"
)

// ContextGetPrompt returns the next model request, now or after edits, or a past one.
func (e *Engine) ContextGetPrompt(to protocol.Caller, p *protocol.ContextGetPromptParams) error {
	if p.Revision != nil && p.RequestID != nil || p.Edits != nil && (p.Revision != nil || p.RequestID != nil) {
		return protocol.InvalidParams("", "`revision`, `requestId` and `edits` exclude each other: name one of them at most")
	}
	if p.RequestID == nil {
		return e.viewThread(to, p.ThreadID, func(t *core.Thread, scope *Scope) (any, error) {
			return e.nextPrompt(t, scope, p)
		})
	}
	return e.workOn(to, p.ThreadID, func(t *core.Thread) (answerOf, error) {
		past, err := t.PastRequest(*p.RequestID)
		if err != nil {
			return nil, err
		}
		return func(context.Context) (any, error) { return e.pastPrompt(p.ThreadID, past) }, nil
	})
}

// nextPrompt returns the prompt of a turn that would start now. The environment is empty if the thread
// cannot start turns.
func (e *Engine) nextPrompt(t *core.Thread, scope *Scope, p *protocol.ContextGetPromptParams) (any, error) {
	t, refusal := t.At(p.Revision, p.Edits)
	if refusal != nil {
		return nil, refusal
	}
	prompt, tokens := t.Prompt(), t.PromptTokens()
	if env, err := scope.Turns.Env(t.Settings()); err == nil || notReady(err) {
		if e.parts.Servers != nil {
			env.Tools, _ = e.parts.Servers.Tools(t.ID())
		}
		env.Memory = e.memoryRules(scope)
		prompt, tokens = t.NextPrompt(env)
	}
	answer := protocol.ContextGetPromptResponse{Revision: t.ContextRevision(), Tokens: tokens}
	protocol.Override(&answer.Revision, p.Revision)
	_, err := e.render(&answer, prompt, t.PromptSources())
	return answer, err
}

// render adds a prompt to a response, and returns its hash. sources has the ids of the context items of each
// item of the prompt. It can be shorter than these.
func (e *Engine) render(
	to *protocol.ContextGetPromptResponse, p *core.Prompt, sources [][]string,
) (id string, err error) {
	rendered, err := e.parts.Model.Render(p)
	to.Provider, to.Model = p.Provider, p.Model
	to.Messages, to.Tools, to.Sources = orEmpty(rendered.Messages), orEmpty(rendered.Tools), [][]string{}
	for _, items := range rendered.Sources {
		ids := []string{}
		for _, i := range items {
			if i < len(sources) {
				ids = append(ids, sources[i]...)
			}
		}
		to.Sources = append(to.Sources, ids)
	}
	return rendered.ID(), err
}

// pastPrompt rebuilds a past request from the lines before it.
func (e *Engine) pastPrompt(thread string, past *core.PastRequest) (any, error) {
	builder := builderUntil(past.From, thread, e.parts.Defaults.Settings())
	contents, lineReader, err := e.parts.Threads.Load(store.Ref{ID: thread}, builder)
	if err != nil {
		return nil, err
	}
	l := &storedThread{nil, contents, lineReader, e.parts.Log}
	defer l.close()
	if contents.Backup.Err != nil {
		return nil, contents.Backup.Err
	}
	answer := protocol.ContextGetPromptResponse{Revision: past.Revision, RequestID: &past.ID}
	if past.Usage != nil {
		answer.Tokens = past.Usage.InputTokens
	}
	prompt, sources := builder.loading.PastPrompt(e.storedOptions(thread, contents), past)
	id, err := e.render(&answer, prompt, sources)
	reason := past.Inexact(id)
	answer.Exact, answer.Reason = new(reason == ""), protocol.OrNil(reason)
	return l.checkRead(answer, err)
}

// orEmpty returns an empty list for nil, which JSON would write as null.
func orEmpty(list []json.RawMessage) []json.RawMessage {
	if list == nil {
		return []json.RawMessage{}
	}
	return list
}
