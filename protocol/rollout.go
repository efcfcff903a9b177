package protocol

import "encoding/json"

// RolloutLine is one line of a rollout file. The type determines the payload, whose members are in
// snake_case. The timestamp is RFC 3339 in UTC with milliseconds. Ordinals count the lines of a thread
// from 0. Files of older versions have none.
type RolloutLine struct {
	Timestamp string          `json:"timestamp"`
	Ordinal   *int64          `json:"ordinal,omitempty"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

// The types of a RolloutLine that this server writes or reads. Others are kept
// and skipped.
const (
	LineSessionMeta  = "session_meta"
	LineTurnContext  = "turn_context"
	LineResponseItem = "response_item"
	LineEventMsg     = "event_msg"
	LineCompacted    = "compacted"

	LineContextBackup = "context_backup"
	// LineRepaired has the ordinal of the last of the lines that a repair took from the
	// end of a file, so that none is given twice.
	LineRepaired = "repaired"
)

// SessionMeta is the payload of the first line of a rollout. Source and Originator identify the
// client that started the thread, and CliVersion the version of the server.
type SessionMeta struct {
	// ID is the id of the thread.
	ID        string `json:"id"`
	SessionID string `json:"session_id,omitempty"`
	Timestamp string `json:"timestamp"`
	// Cwd is an absolute path.
	Cwd                   string          `json:"cwd"`
	Originator            string          `json:"originator"`
	CliVersion            string          `json:"cli_version"`
	Source                json.RawMessage `json:"source,omitempty"`
	ThreadSource          *string         `json:"thread_source,omitempty"`
	ModelProvider         string          `json:"model_provider,omitempty"`
	BaseInstructions      *Instructions   `json:"base_instructions,omitempty"`
	DeveloperInstructions *string         `json:"developer_instructions,omitempty"`
	HistoryMode           string          `json:"history_mode,omitempty"`
	// DynamicTools are the tools that the client passed with thread/start.
	DynamicTools []DynamicToolSpec `json:"dynamic_tools,omitempty"`
	ForkedFromID *string           `json:"forked_from_id,omitempty"`
	// ParentThreadID is the thread of the agent that started this one. The others describe this one.
	ParentThreadID *string `json:"parent_thread_id,omitempty"`
	AgentNickname  *string `json:"agent_nickname,omitempty"`
	AgentRole      *string `json:"agent_role,omitempty"`
	AgentPath      *string `json:"agent_path,omitempty"`
	// MultiAgentVersion is v2 for threads whose agents have paths, and absent otherwise.
	MultiAgentVersion string `json:"multi_agent_version,omitempty"`
	// AgentTools are the tools that the role of the agent names, or nil for all.
	AgentTools *AgentTools    `json:"agent_tools,omitempty"`
	Git        *StoredGitInfo `json:"git,omitempty"`
}

// HistoryPaginated is the history mode of files whose items are item_completed
// events.
const HistoryPaginated = "paginated"

// Instructions has a text in an object.
type Instructions struct {
	Text string `json:"text"`
}

// StoredGitInfo is the stored form of GitInfo.
type StoredGitInfo struct {
	CommitHash    *string `json:"commit_hash,omitempty"`
	Branch        *string `json:"branch,omitempty"`
	RepositoryURL *string `json:"repository_url,omitempty"`
}

// Public returns the information without passwords and tokens, or nil for nil.
func (g *StoredGitInfo) Public() *StoredGitInfo {
	if g == nil || g.RepositoryURL == nil {
		return g
	}
	public := *g
	public.RepositoryURL = nil
	if address := PublicURL(*g.RepositoryURL); address != "" {
		public.RepositoryURL = &address
	}
	return &public
}

// TurnContext is the payload with the settings of a turn. The last one is in force until a client
// changes them.
type TurnContext struct {
	TurnID            string              `json:"turn_id,omitempty"`
	Cwd               string              `json:"cwd"`
	ApprovalPolicy    AskForApproval      `json:"approval_policy"`
	ApprovalsReviewer ApprovalsReviewer   `json:"approvals_reviewer,omitempty"`
	SandboxPolicy     StoredSandboxPolicy `json:"sandbox_policy"`
	Model             string              `json:"model"`
	ModelProvider     string              `json:"model_provider,omitempty"`
	Effort            *string             `json:"effort,omitempty"`
	Summary           string              `json:"summary"`
	ServiceTier       *string             `json:"service_tier,omitempty"`
	// MultiAgentMode is a MultiAgentMode. It is absent for explicitRequestOnly.
	MultiAgentMode json.RawMessage `json:"multi_agent_mode,omitempty"`
}

// StoredSandboxPolicy is the stored form of SandboxPolicy.
type StoredSandboxPolicy struct {
	// Type is "danger-full-access", "read-only", "external-sandbox" or "workspace-write".
	Type          string   `json:"type"`
	WritableRoots []string `json:"writable_roots,omitempty"`
	// NetworkAccess is a boolean, or a word for external-sandbox.
	NetworkAccess       any  `json:"network_access,omitempty"`
	ExcludeTmpdirEnvVar bool `json:"exclude_tmpdir_env_var,omitempty"`
	ExcludeSlashTmp     bool `json:"exclude_slash_tmp,omitempty"`
}

// Stored returns the form of rollouts.
func (p SandboxPolicy) Stored() StoredSandboxPolicy {
	switch v := p.SandboxPolicyVariant.(type) {
	case *DangerFullAccess:
		return StoredSandboxPolicy{Type: string(SandboxDangerFullAccess)}
	case *ExternalSandbox:
		return StoredSandboxPolicy{Type: "external-sandbox", NetworkAccess: v.NetworkAccess}
	case *WorkspaceWrite:
		return StoredSandboxPolicy{Type: string(SandboxWorkspaceWrite), WritableRoots: v.WritableRoots,
			NetworkAccess: v.NetworkAccess, ExcludeTmpdirEnvVar: v.ExcludeTmpdirEnvVar, ExcludeSlashTmp: v.ExcludeSlashTmp}
	case *ReadOnly:
		return StoredSandboxPolicy{Type: string(SandboxReadOnly), NetworkAccess: v.NetworkAccess}
	}
	return StoredSandboxPolicy{Type: string(SandboxReadOnly)}
}

// Policy returns the stored policy. Unknown types confine as read-only does, and unknown words for
// the network as restricted does.
func (s StoredSandboxPolicy) Policy() SandboxPolicy {
	network, _ := s.NetworkAccess.(bool)
	switch s.Type {
	case string(SandboxDangerFullAccess):
		return SandboxPolicy{&DangerFullAccess{}}
	case "external-sandbox":
		access := NetworkRestricted
		if s.NetworkAccess == NetworkEnabled {
			access = NetworkEnabled
		}
		return SandboxPolicy{&ExternalSandbox{NetworkAccess: access}}
	case string(SandboxWorkspaceWrite):
		roots := s.WritableRoots
		if roots == nil {
			roots = []string{}
		}
		return SandboxPolicy{&WorkspaceWrite{WritableRoots: roots, NetworkAccess: network,
			ExcludeTmpdirEnvVar: s.ExcludeTmpdirEnvVar, ExcludeSlashTmp: s.ExcludeSlashTmp}}
	}
	return SandboxPolicy{&ReadOnly{NetworkAccess: network}}
}

// The types of event_msg payloads that this server writes or reads.
const (
	EventTaskStarted    = "task_started"
	EventTaskComplete   = "task_complete"
	EventTurnAborted    = "turn_aborted"
	EventUserMessage    = "user_message"
	EventAgentMessage   = "agent_message"
	EventAgentReasoning = "agent_reasoning"
	EventTokenCount     = "token_count"
	EventItemCompleted  = "item_completed"
	EventNameUpdated    = "thread_name_updated"
	EventSettings       = "thread_settings_applied"
)

// TaskStarted marks the begin of a turn.
type TaskStarted struct {
	Type   string `json:"type"`
	TurnID string `json:"turn_id"`
	// RootTurnID is the first turn of the chain of work that led to this one.
	RootTurnID *string `json:"root_turn_id,omitempty"`
	// StartedAt is in Unix seconds.
	StartedAt *int64 `json:"started_at,omitempty"`
	// ModelContextWindow is in tokens.
	ModelContextWindow *int64 `json:"model_context_window"`
}

// TaskComplete marks the end of a turn that completed, or failed if Error is set. Times are in Unix
// seconds, the duration is in milliseconds.
type TaskComplete struct {
	Type             string       `json:"type"`
	TurnID           string       `json:"turn_id"`
	LastAgentMessage *string      `json:"last_agent_message"`
	Error            *StoredError `json:"error,omitempty"`
	StartedAt        *int64       `json:"started_at,omitempty"`
	CompletedAt      *int64       `json:"completed_at,omitempty"`
	DurationMs       *int64       `json:"duration_ms,omitempty"`
}

// StoredError is the stored form of TurnError.
type StoredError struct {
	Message string `json:"message"`
	// CodexErrorInfo is the output of [CodexErrorInfo.Stored] and the input of
	// [ErrorInfoFromStored].
	CodexErrorInfo json.RawMessage `json:"codex_error_info,omitempty"`
}

// TurnAborted marks the end of an interrupted turn. Times are in Unix seconds, the duration is in
// milliseconds.
type TurnAborted struct {
	Type        string `json:"type"`
	TurnID      string `json:"turn_id,omitempty"`
	Reason      string `json:"reason"`
	StartedAt   *int64 `json:"started_at,omitempty"`
	CompletedAt *int64 `json:"completed_at,omitempty"`
	DurationMs  *int64 `json:"duration_ms,omitempty"`
}

// TextEvent is a user_message or agent_message event: the stored form of items in versions without
// item_completed.
type TextEvent struct {
	Type    string   `json:"type"`
	Message string   `json:"message"`
	Kind    string   `json:"kind,omitempty"`
	Images  []string `json:"images,omitempty"`
}

// ReasoningEvent is an agent_reasoning event: the stored form of reasoning in versions without
// item_completed.
type ReasoningEvent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// TokenCount is a token_count event, one for each model request and one for each compaction. Only
// events of model requests have a Request.
type TokenCount struct {
	Type string `json:"type"`
	// Info is null if the provider reported nothing.
	Info    *TokenCountInfo `json:"info"`
	Request *StoredRequest  `json:"request,omitempty"`
}

// TokenCountInfo is the stored form of ThreadTokenUsage.
type TokenCountInfo struct {
	TotalTokenUsage    StoredUsage `json:"total_token_usage"`
	LastTokenUsage     StoredUsage `json:"last_token_usage"`
	ModelContextWindow *int64      `json:"model_context_window"`
	// CountedInputTokens is this server's own count for the last request, or 0.
	CountedInputTokens int64 `json:"counted_input_tokens,omitempty"`
	// CountedOtherTokens is the part of it in scripts other than Latin.
	CountedOtherTokens int64 `json:"counted_other_tokens,omitempty"`
	// CountedByModel is set if the tokenizer of the model made the count.
	CountedByModel bool `json:"counted_by_model,omitempty"`
	// CutTo is set if the provider left out a part of the last request: the most tokens that it has read.
	CutTo int64 `json:"cut_to,omitempty"`
}

// StoredUsage is the stored form of TokenUsageBreakdown.
type StoredUsage struct {
	InputTokens           int64 `json:"input_tokens"`
	CachedInputTokens     int64 `json:"cached_input_tokens"`
	CacheWriteInputTokens int64 `json:"cache_write_input_tokens"`
	OutputTokens          int64 `json:"output_tokens"`
	ReasoningOutputTokens int64 `json:"reasoning_output_tokens"`
	TotalTokens           int64 `json:"total_tokens"`
}

// Stored returns the form of rollouts.
func (b TokenUsageBreakdown) Stored() StoredUsage {
	return StoredUsage{b.InputTokens, b.CachedInputTokens, b.CacheWriteInputTokens, b.OutputTokens,
		b.ReasoningOutputTokens, b.TotalTokens}
}

// Breakdown returns the usage in the form of the wire. Stored is the inverse.
func (s StoredUsage) Breakdown() TokenUsageBreakdown {
	return TokenUsageBreakdown{s.TotalTokens, s.InputTokens, s.CachedInputTokens, s.CacheWriteInputTokens, s.OutputTokens,
		s.ReasoningOutputTokens}
}

// ItemCompleted is the stored form of a thread item, with other names than on the wire. Times are
// in Unix milliseconds.
type ItemCompleted struct {
	Type          string          `json:"type"`
	ThreadID      string          `json:"thread_id"`
	TurnID        string          `json:"turn_id"`
	Item          json.RawMessage `json:"item"`
	StartedAtMs   *int64          `json:"started_at_ms,omitempty"`
	CompletedAtMs *int64          `json:"completed_at_ms,omitempty"`
}

// NameUpdated is the event that stores a thread's name.
type NameUpdated struct {
	Type       string `json:"type"`
	ThreadID   string `json:"thread_id"`
	ThreadName string `json:"thread_name"`
}

// Compacted replaces the history before it by ReplacementHistory or, if that is absent, by the
// user's messages and Message.
type Compacted struct {
	Message            string            `json:"message"`
	ReplacementHistory []json.RawMessage `json:"replacement_history,omitempty"`
	// TrimPoint lists the items that stay. Only this server writes it.
	TrimPoint *StoredTrimPoint `json:"trim_point,omitempty"`
	// Strategy is the strategy of the compaction.
	Strategy string `json:"strategy,omitempty"`
}

// ContextBackup states that the lines before it are a selection of the lines in the first Bytes
// bytes of the rollout's backup. If Bytes is 0, the lines before it are complete.
type ContextBackup struct {
	Bytes int64 `json:"bytes"`
	// CRC32C is the CRC-32C (Castagnoli) of these bytes.
	CRC32C uint32 `json:"crc32c"`
}
