package core

import (
	"strings"
	"time"

	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/core/pure/state"
	"appserver/core/pure/toolspec"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// Thread is one conversation: its durable state and the active turn.
type Thread struct {
	state *state.State
	// context and transcript are the parts of state.
	context    *history.History
	transcript *transcript.Transcript
	options    Options
	// builtInTools are the tools of the server.
	builtInTools []builtInTool
	active       *turn
	// waiting has the inputs that arrived while a turn was ending.
	waiting []waiter
	// waitingEdits are edits of the context that wait for the end of the active turn.
	waitingEdits []Input
	// failed is set if the last turn failed.
	failed bool
	draft  *draft
	// terminals are the background commands of the thread, ended ones included.
	terminals []*terminal
	// allowed has the commands that the client accepted for the session.
	allowed map[string]bool
	// warned is set after a warning that commands are not confined, untracked after a warning that
	// changes of files are not known.
	warned, untracked bool
	// captures are the pending checkpoints. The first one is being made.
	captures []capture
	// base and developer are the instructions from the client's thread/resume. If they are nil, the
	// instructions from its thread/start apply.
	base, developer *string
	// announcedEnd is the turn that clients know to have failed because its lines could not be appended.
	// The next line records that in the rollout.
	announcedEnd *announcedFailure
	// capabilities are the capabilities of the last turn's environment.
	capabilities Capabilities
	// overhead is the last count of the request's parts that are not items.
	overhead   overhead
	lastEffect EffectID
	// sent are the model requests without a terminal input yet.
	sent   map[EffectID]*sentRequest
	hashed hashedTools
	// offeredByClient are the tools of the client, and the first of the specifications they were made of.
	offeredByClient struct {
		of    *protocol.DynamicToolSpec
		tools []toolspec.ClientTool
	}
	// serverTools are the tools of MCP servers, questions the open questions of those servers.
	// removedTools has the servers of tools that are not offered any more, by name.
	serverTools []ServerTool
	// searched are the servers whose tools are found by a search, and the text that names them.
	searched     searchedServers
	questions    []*openQuestion
	removedTools map[string]string
	// serverInstructions are those of the servers of the tools, for the system prompt, or "".
	serverInstructions string
	// memory has the rules of the last environment. remembering are the effects that store removed items.
	// memoryWarned is set after a warning about the memory. warnedOf has the warnings that are sent once.
	memory MemoryRules
	// economizes is set if the last environment has automatic edits. economized is the size of the request
	// before which edits were looked for last, in tokens.
	economizes   bool
	economized   int64
	remembering  []EffectID
	memoryWarned bool
	warnedOf     []string
}

// waiter is a caller whose input waits for the end of a turn.
type waiter struct {
	to protocol.Caller
	in Input
}

type announcedFailure struct {
	turnID string
	err    protocol.TurnError
}

// capture is a pending checkpoint. effect is 0 while an older one is in progress.
type capture struct {
	effect    EffectID
	turn, dir string
	keep      int
}

// draft is a compaction that a client reviews before it commits it. A thread has at most one. It is in
// memory only, and is valid until the context changes.
type draft struct {
	*runningCompaction
	id   string
	text string
	// audit is the result of holding text against what the draft replaces.
	audit compaction.Audit
	// to is the caller that waits for the draft. request is the model request for its summary.
	to      protocol.Caller
	request EffectID
	answer  strings.Builder
	window  *int64
	// took is the time that writing the summary took.
	took time.Duration
}

// waits reports whether the draft's summary is pending.
func (d *draft) waits() bool { return d != nil && d.request != 0 }

// openQuestion is a question of a server that the client has not answered.
type openQuestion struct {
	ServerQuestion
	request uint64
	turnID  *string
	askedAt time.Time
}

// overhead is the cost of the parts of a request that are not items.
type overhead struct {
	model        string
	instructions string
	offers       Capabilities
	recalls      bool
	tokens       history.Tokens
}
