package core

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"appserver/protocol"
)

// turn is the active turn. Only its lines survive a restart.
type turn struct {
	id        string
	startedAt time.Time
	env       TurnEnv
	kind      turnKind
	// state is changed by the functions of turnmachine.go only.
	state turnState
	turnInput
	modelWork
	toolWork
	turnShown
	turnEnd
}

// turnKind is the kind of a turn.
type turnKind string

const (
	// modelTurn is a turn in which the model answers the user's input.
	modelTurn turnKind = ""
	// shellTurn is a turn without input, in which commands of the user run. Input makes it a modelTurn.
	shellTurn turnKind = "shell"
	// compactTurn is a turn that only compacts the context. reviewTurn is one that only reviews. They take no input.
	compactTurn turnKind = "compact"
	reviewTurn  turnKind = "review"
)

func (k turnKind) takesInput() bool { return k == modelTurn || k == shellTurn }

// turnInput has the demands of the user's input.
type turnInput struct {
	schema json.RawMessage
	// query is the text to search memories for.
	query string
}

// modelWork is the work that precedes the next answer of the model.
type modelWork struct {
	// modelEffects are the effects of model requests, and of what precedes the first one, without a terminal input yet,
	// oldest first.
	modelEffects []EffectID
	// request is the pending model request in the states requesting and summarizing, or nil.
	request *modelRequest
	// retry is the timer of the next attempt in the state retrying, or 0. The prompt is built when it fires.
	retry EffectID
	// compaction is the running compaction in the states compacting, summarizing and retrying, or nil.
	compaction *runningCompaction
	// compactions counts the compactions since the last answer of the model.
	compactions int
	attempts
	refill refillGuard
	// agentsEnded are the results of agents since the last request. The next one has them.
	agentsEnded []AgentEnded
	// mail has the messages of other agents since the last request. The next one has them.
	mail []peerMail
	// cancelled are the cancelled model requests whose effects have ended.
	cancelled []*protocol.StoredRequest
	// definitions are those that a search has found since the last request.
	definitions []string
	// review is the conversation of a reviewTurn, or nil.
	review *review
}

// toolWork has the calls of the model and the commands of the user.
type toolWork struct {
	// toolEffects are the effects of calls and of the user's commands without a terminal input yet, oldest first.
	toolEffects []EffectID
	// calls are the tool calls of the model's last answer, in order.
	calls []*toolCall
	// awaitTools is the effect that awaits the tools of servers for a restored turn, or 0.
	awaitTools EffectID
	// userCommands are the running commands of the user. They run in any state.
	userCommands []*userCommand
	// uncaptured is set if the capture of the worktree before the turn failed. diff is the turn's
	// diff so far, or nil without changes.
	uncaptured bool
	diff       *FileDiff
}

// turnShown has the facts about the turn that clients received.
type turnShown struct {
	// hasUsage is set once the provider reported the usage of an answer.
	hasUsage bool
	// plans counts the plan items of the turn.
	plans int
	// last is the agent's last message.
	last *protocol.ThreadItem
}

// turnEnd is how and when the turn ends.
type turnEnd struct {
	// outcome is set in the states ending and delayed, or nil.
	outcome *outcome
	// notBefore is the earliest time of turn/completed. timer is the timer for it in the state delayed, or 0.
	notBefore time.Time
	timer     EffectID
}

// attempts are the failed requests since the last answer.
type attempts struct {
	// retries counts the announced retries, silent the silent ones since the last of them.
	retries, silent int
	// loadingSince is the time of the first answer that the model is being loaded, or zero. loadingPolls counts the
	// requests since then.
	loadingSince time.Time
	loadingPolls int
}

// outcome is the status of a finished turn.
type outcome struct {
	status protocol.TurnStatus
	err    *protocol.TurnError
}

// asks reports whether a call asks the client, with the flag in the thread's status.
func (t *turn) asks(flag string) bool {
	return slices.ContainsFunc(t.calls, func(c *toolCall) bool {
		return c.state == callAsking && c.asks.waitFlag() == flag
	})
}

// errNotSteerable rejects input to a turn that takes none.
func (t *turn) errNotSteerable(what string) *protocol.Error {
	err := protocol.Refuse(protocol.KindTurnActive,
		"%scannot steer a %s turn: wait for its end, or interrupt it with turn/interrupt", what, t.kind)
	err.Data.CodexErrorInfo = &protocol.CodexErrorInfo{
		Kind: protocol.ErrorActiveTurnNotSteerable, TurnKind: string(t.kind)}
	return err
}

// metadata returns the metadata of turn/completed, or nil if no file changed.
func (t *turn) metadata() *protocol.TurnMetadata {
	if t.diff == nil || len(t.diff.Summary.Files) == 0 {
		return nil
	}
	return &protocol.TurnMetadata{Diff: t.diff.Summary}
}

// sentRequest is a model request without a terminal input yet, with the parts of its prompt that no line
// has.
type sentRequest struct {
	protocol.StoredRequest
	system    string
	tools     promptTools
	startedAt time.Time
}

// hashedTools are the tools of the last request with their hash. Most requests have the same tools, and encoding
// them takes longer than comparing them.
type hashedTools struct {
	promptTools
	id string
}

// openMessage is a message whose text streams in.
type openMessage struct {
	id        string
	startedAt time.Time
	text      strings.Builder
	// plans is set in plan mode, or nil.
	plans *planAnswer
	// retracted is set if the text at its begin was reasoning.
	retracted bool
}

// replaceText replaces the streamed text by the text of the complete message, which the provider
// knows from now on. An answer in plan mode stays, since its parts were sent already. A text with a refusal
// stays, since the message has only a part of it.
func (o *openMessage) replaceText(whole []protocol.ContentItem) {
	if o == nil || len(whole) == 0 || o.plans != nil {
		return
	}
	var text strings.Builder
	for _, part := range whole {
		if part.Raw != nil {
			return
		}
		text.WriteString(part.Text)
	}
	if text.Len() > 0 {
		o.text = text
	}
}

// openReasoning is a reasoning item that streams in: the parts of its summary, and its raw text.
type openReasoning struct {
	id        string
	startedAt time.Time
	summary   []*strings.Builder
	content   strings.Builder
}

// replaceText replaces the streamed texts by the texts of the complete item.
func (o *openReasoning) replaceText(given *protocol.Reasoning) {
	if len(given.Summary) > 0 {
		o.summary = o.summary[:0]
		for _, part := range given.Summary {
			text := &strings.Builder{}
			text.WriteString(part.Text)
			o.summary = append(o.summary, text)
		}
	}
	if len(given.Content) > 0 {
		o.content.Reset()
		for _, part := range given.Content {
			o.content.WriteString(part.Text)
		}
	}
}

// view returns the reasoning as clients see it.
func (o *openReasoning) view() *protocol.ReasoningItem {
	v := &protocol.ReasoningItem{ID: o.id, Summary: []string{}, Content: []string{}}
	for _, part := range o.summary {
		v.Summary = append(v.Summary, part.String())
	}
	if o.content.Len() > 0 {
		v.Content = append(v.Content, o.content.String())
	}
	return v
}

// openSearch is a search that the provider has begun.
type openSearch struct {
	id        string
	startedAt time.Time
}

// review is the conversation of a review. It is separate: the reviewer gets no items of the thread,
// and the thread gets only the result.
type review struct {
	target protocol.ReviewTarget
	items  []protocol.ResponseItem
	// recorded is the number of items of the requests so far.
	recorded int
	// answer is the reviewer's last message.
	answer string
	// done is set once the thread has the result.
	done bool
}

// userCommand is a running command of the user.
type userCommand struct {
	effect  EffectID
	command *shellCommand
	item    *protocol.ThreadItem
}
