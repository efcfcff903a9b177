package protocol

import (
	"encoding/json"
	"reflect"

	"github.com/tidwall/gjson"
)

// Thread is a conversation. Times are in Unix seconds. Source and Originator identify the client
// that started the thread. ParentThreadID, AgentNickname and AgentRole identify the agent that
// started it. The members of sections, projects, attached threads and the vendor's programs are
// always null.
type Thread struct {
	// ID is a UUIDv7.
	ID string `json:"id"`
	// Environments is null for a thread that is not loaded.
	Environments []Environment   `json:"environments"`
	Extra        json.RawMessage `json:"extra"`
	SessionID    string          `json:"sessionId"`
	// ForkedFromID is the thread whose history a fork has, or null.
	ForkedFromID   *string `json:"forkedFromId"`
	AttachedTo     *string `json:"attachedToThreadId"`
	ParentThreadID *string `json:"parentThreadId"`
	// Preview is the text of the user's first message.
	Preview string `json:"preview"`
	// Ephemeral is set for a thread without a rollout.
	Ephemeral        bool            `json:"ephemeral"`
	Section          json.RawMessage `json:"section"`
	SectionEnteredAt *int64          `json:"sectionEnteredAt"`
	ProjectID        *string         `json:"projectId"`
	HistoryMode      string          `json:"historyMode" oneof:"legacy paginated"`
	ModelProvider    string          `json:"modelProvider"`
	// Model is null if unknown.
	Model           *string      `json:"model"`
	ReasoningEffort *string      `json:"reasoningEffort"`
	CreatedAt       int64        `json:"createdAt"`
	UpdatedAt       int64        `json:"updatedAt"`
	RecencyAt       *int64       `json:"recencyAt"`
	Status          ThreadStatus `json:"status"`
	// Path is the path of the rollout, or null for an ephemeral thread.
	Path *string `json:"path"`
	// Cwd is an absolute path.
	Cwd        string          `json:"cwd"`
	CliVersion string          `json:"cliVersion"`
	Originator *string         `json:"originator"`
	Source     json.RawMessage `json:"source"`
	// CanAcceptInput is also set in lists.
	CanAcceptInput *bool   `json:"canAcceptDirectInput"`
	ThreadSource   *string `json:"threadSource"`
	AgentNickname  *string `json:"agentNickname"`
	AgentRole      *string `json:"agentRole"`
	// GitInfo is null outside of a repository.
	GitInfo *GitInfo `json:"gitInfo"`
	// Name is null until the thread gets a name.
	Name            *string `json:"name"`
	DaybreakEnabled *bool   `json:"daybreakEnabled"`
	// Turns is empty, except in responses whose description lists turns.
	Turns []Turn `json:"turns"`
	// ContextTrimPoints are those in force, oldest first: the active context starts behind
	// the last one. Lists of threads leave them out.
	ContextTrimPoints []TrimPoint `json:"contextTrimPoints"`
}

// EnvironmentLocal is the id of the only environment: the machine of the server.
const EnvironmentLocal = "local"

// Environment has the machine and the working directory of a loaded thread's commands.
type Environment struct {
	EnvironmentID         string   `json:"environmentId"`
	Cwd                   string   `json:"cwd"`
	RuntimeWorkspaceRoots []string `json:"runtimeWorkspaceRoots"`
}

// TurnEnvironmentParams selects an environment. Its Cwd and RuntimeWorkspaceRoots replace those of
// the thread.
type TurnEnvironmentParams struct {
	EnvironmentID         string    `json:"environmentId"`
	Cwd                   string    `json:"cwd"`
	RuntimeWorkspaceRoots *[]string `json:"runtimeWorkspaceRoots,omitempty"`
}

// GitInfo is the state of the working directory's repository at the start of the thread, or as a
// client has set it since.
type GitInfo struct {
	// Sha is the hash of the commit.
	Sha    *string `json:"sha"`
	Branch *string `json:"branch"`
	// OriginURL is the URL of the remote origin.
	OriginURL *string `json:"originUrl"`
}

// ThreadStatus reports whether a thread is loaded and active.
type ThreadStatus struct{ ThreadStatusVariant }

// ThreadStatusVariant is StatusNotLoaded, StatusIdle, StatusSystemError or
// StatusActive.
type ThreadStatusVariant interface{ threadStatus() }

// StatusNotLoaded is the status of a thread that is not in memory.
type StatusNotLoaded struct{}

// StatusIdle is the status of a loaded thread without an active turn.
type StatusIdle struct{}

// StatusSystemError is the status of a thread whose last turn failed.
type StatusSystemError struct{}

// StatusActive is the status of a thread with an active turn.
type StatusActive struct {
	// ActiveFlags are the answers for which the turn waits.
	ActiveFlags []string `json:"activeFlags" oneof:"waitingOnApproval waitingOnUserInput"`
}

// FlagWaitingOnApproval is the flag of a thread that waits for an approval.
const FlagWaitingOnApproval = "waitingOnApproval"

// FlagWaitingOnUserInput is the flag of a thread that waits for answers of the user.
const FlagWaitingOnUserInput = "waitingOnUserInput"

func (*StatusNotLoaded) threadStatus()   {}
func (*StatusIdle) threadStatus()        {}
func (*StatusSystemError) threadStatus() {}
func (*StatusActive) threadStatus()      {}

var threadStatuses = newVariants("type",
	variantRow[ThreadStatusVariant]{"notLoaded", &StatusNotLoaded{}},
	variantRow[ThreadStatusVariant]{"idle", &StatusIdle{}},
	variantRow[ThreadStatusVariant]{"systemError", &StatusSystemError{}},
	variantRow[ThreadStatusVariant]{"active", &StatusActive{}},
)

// MarshalJSON writes the variant with its type.
func (s ThreadStatus) MarshalJSON() ([]byte, error) {
	return threadStatuses.encode(s.ThreadStatusVariant)
}

// UnmarshalJSON accepts the known variants.
func (s *ThreadStatus) UnmarshalJSON(b []byte) error {
	v, err := threadStatuses.strict(gjson.ParseBytes(b))
	s.ThreadStatusVariant = v
	return err
}

// ThreadStartParams starts a thread. Absent settings have the values of the configuration.
type ThreadStartParams struct {
	Model             *string            `json:"model,omitempty"`
	ModelProvider     *string            `json:"modelProvider,omitempty"`
	ServiceTier       *string            `json:"serviceTier,omitempty"`
	Cwd               *string            `json:"cwd,omitempty"`
	ApprovalPolicy    *AskForApproval    `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer *ApprovalsReviewer `json:"approvalsReviewer,omitempty"`
	Sandbox           *SandboxMode       `json:"sandbox,omitempty"`
	// Permissions is the id of a profile of permissionProfile/list. It excludes Sandbox.
	Permissions *string `json:"permissions,omitempty"`
	// RuntimeWorkspaceRoots are absolute paths. The default is Cwd.
	RuntimeWorkspaceRoots *[]string `json:"runtimeWorkspaceRoots,omitempty"`
	// Config overrides single keys of the configuration, dotted or nested.
	Config                map[string]json.RawMessage `json:"config,omitempty"`
	BaseInstructions      *string                    `json:"baseInstructions,omitempty"`
	DeveloperInstructions *string                    `json:"developerInstructions,omitempty"`
	// Ephemeral starts a thread without a rollout.
	Ephemeral    *bool                    `json:"ephemeral,omitempty"`
	ThreadSource *string                  `json:"threadSource,omitempty"`
	DynamicTools []DynamicToolSpec        `json:"dynamicTools,omitempty"`
	Environments *[]TurnEnvironmentParams `json:"environments,omitempty"`
	// MultiAgentMode is when models start other agents. It has an effect if the agents have paths.
	MultiAgentMode *MultiAgentMode `json:"multiAgentMode,omitempty"`
}

// ThreadStartResponse has the thread and the settings of its next turn.
type ThreadStartResponse struct {
	Thread Thread `json:"thread"`
	ThreadSettingsView
}

// ThreadSettingsView has the settings of a thread's next turn.
type ThreadSettingsView struct {
	Model             string   `json:"model"`
	ModelProvider     string   `json:"modelProvider"`
	ServiceTier       *string  `json:"serviceTier"`
	DisabledPluginIDs []string `json:"disabledPluginIds"`
	Cwd               string   `json:"cwd"`
	WorkspaceRoots    []string `json:"runtimeWorkspaceRoots"`
	// InstructionSources are the paths of the AGENTS.md files that apply.
	InstructionSources []string          `json:"instructionSources"`
	ApprovalPolicy     AskForApproval    `json:"approvalPolicy"`
	ApprovalsReviewer  ApprovalsReviewer `json:"approvalsReviewer"`
	Sandbox            SandboxPolicy     `json:"sandbox"`
	// PermissionProfile is null if a client or the configuration set the sandbox without a profile.
	PermissionProfile *ActiveProfile `json:"activePermissionProfile"`
	ReasoningEffort   *string        `json:"reasoningEffort"`
	MultiAgentMode    MultiAgentMode `json:"multiAgentMode"`
}

// ThreadResumeParams loads a stored thread, or subscribes to a loaded one.
type ThreadResumeParams struct {
	// ThreadID is ignored with Path. With History, it must not be the id of a loaded thread.
	ThreadID string `json:"threadId"`
	// Path is the rollout to read.
	Path                  *string                    `json:"path,omitempty"`
	Model                 *string                    `json:"model,omitempty"`
	ModelProvider         *string                    `json:"modelProvider,omitempty"`
	ServiceTier           *string                    `json:"serviceTier,omitempty"`
	Cwd                   *string                    `json:"cwd,omitempty"`
	ApprovalPolicy        *AskForApproval            `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer     *ApprovalsReviewer         `json:"approvalsReviewer,omitempty"`
	Sandbox               *SandboxMode               `json:"sandbox,omitempty"`
	Permissions           *string                    `json:"permissions,omitempty"`
	RuntimeWorkspaceRoots *[]string                  `json:"runtimeWorkspaceRoots,omitempty"`
	Config                map[string]json.RawMessage `json:"config,omitempty"`
	BaseInstructions      *string                    `json:"baseInstructions,omitempty"`
	DeveloperInstructions *string                    `json:"developerInstructions,omitempty"`
	// ExcludeTurns leaves the turns out of the response.
	ExcludeTurns bool `json:"excludeTurns,omitempty"`

	// InitialTurnsPage requests a page of turns in the response.
	InitialTurnsPage *ThreadResumeInitialTurnsPageParams `json:"initialTurnsPage,omitempty"`
	// History starts a new thread with these items. The response has its id.
	History *[]json.RawMessage `json:"history,omitempty"`
}

// ThreadResumeInitialTurnsPageParams requests a page of turns. Its members have the same meaning as
// in ThreadTurnsListParams.
type ThreadResumeInitialTurnsPageParams struct {
	Limit         *uint32 `json:"limit,omitempty"`
	SortDirection *string `json:"sortDirection,omitempty" oneof:"asc desc"`
	ItemsView     *string `json:"itemsView,omitempty" oneof:"notLoaded summary full"`
}

// ThreadResumeResponse has the thread and the settings of its next turn. The cursors are null if
// the thread is empty.
type ThreadResumeResponse struct {
	Thread Thread `json:"thread"`
	ThreadSettingsView
	CollaborationMode ActiveMode `json:"collaborationMode"`
	// InitialTurnsPage is null unless it was requested.
	InitialTurnsPage *ThreadTurnsListResponse `json:"initialTurnsPage"`
	// TurnsBackwardsCursor is the cursor of a descending page of thread/turns/list that begins with
	// the last turn.
	TurnsBackwardsCursor *string `json:"turnsBackwardsCursor"`
	// ItemsBackwardsCursor is the cursor of a descending page of thread/items/list that begins with
	// the last item.
	ItemsBackwardsCursor *string `json:"itemsBackwardsCursor"`
}

// StoredSize returns the approximate memory of a response with stored items, in bytes, or 0 without
// them.
func (r ThreadResumeResponse) StoredSize() int { return storedSize(r.Thread.Turns) }

// AppendParts appends the output of Marshal, and flushes it in parts.
func (r ThreadResumeResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	turns := takeTurns(&r.Thread)
	return appendAround(b, r, turns, flush)
}

// ThreadReadParams reads a thread without loading it.
type ThreadReadParams struct {
	ThreadID     string `json:"threadId"`
	IncludeTurns bool   `json:"includeTurns,omitempty"`
}

// ThreadReadResponse has the thread.
type ThreadReadResponse struct {
	Thread Thread `json:"thread"`
}

// StoredSize returns the approximate memory of a response with stored items, in bytes, or 0 without
// them.
func (r ThreadReadResponse) StoredSize() int { return storedSize(r.Thread.Turns) }

// AppendParts appends the output of Marshal, and flushes it in parts.
func (r ThreadReadResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	turns := takeTurns(&r.Thread)
	return appendAround(b, r, turns, flush)
}

// ThreadListParams requests a page of stored threads. The params of sections, projects and attached
// threads select nothing, because there are none.
type ThreadListParams struct {
	// Cursor is the nextCursor of the page before, with the same other params.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the number of threads of a page: 25 by default, at least 1 and at most 100.
	Limit *uint32 `json:"limit,omitempty"`
	// SortKey is created_at by default. section_position sorts like created_at.
	SortKey *string `json:"sortKey,omitempty" oneof:"created_at updated_at recency_at section_position"`
	// SortDirection is desc by default.
	SortDirection *string `json:"sortDirection,omitempty" oneof:"asc desc"`
	// ModelProviders selects threads by provider. Null selects the configured provider, [] all
	// providers.
	ModelProviders *[]string `json:"modelProviders,omitempty"`
	// SourceKinds selects threads by the client that started them. Null and [] select all kinds
	// except exec, appServer and the kinds of agents.
	SourceKinds *[]string `json:"sourceKinds,omitempty" oneof:"cli vscode exec appServer subAgent subAgentReview subAgentCompact subAgentThreadSpawn subAgentOther unknown"`
	// Archived selects archived threads instead of the others.
	Archived *bool `json:"archived,omitempty"`
	// Cwd selects threads with exactly these working directories.
	Cwd OneOrMany `json:"cwd,omitempty"`
	// SearchTerm must occur in the name or the preview.
	SearchTerm *string `json:"searchTerm,omitempty"`

	// ExcludedThreadIDs are left out. At most 100 are permitted.
	ExcludedThreadIDs []string `json:"excludedThreadIds,omitempty"`
	// Originators must be absent or [].
	Originators []string `json:"originators,omitempty"`
	// SectionID selects no thread, unless it is null.
	SectionID *string `json:"sectionId,omitempty"`

	// ParentThreadID selects the threads that agents of another thread started, of all source kinds
	// by default.
	ParentThreadID *string `json:"parentThreadId,omitempty"`
	// AncestorThreadID selects the threads that agents of another thread started, and their
	// descendants, of all source kinds by default.
	AncestorThreadID       *string `json:"ancestorThreadId,omitempty"`
	AttachedToThreadID     *string `json:"attachedToThreadId,omitempty"`
	IncludeAttachedThreads bool    `json:"includeAttachedThreads,omitempty"`
	ProjectID              *string `json:"projectId,omitempty"`
}

// OneOrMany is a string or a list of strings.
type OneOrMany []string

// UnmarshalJSON accepts a string, a list of strings, or null.
func (o *OneOrMany) UnmarshalJSON(b []byte) error {
	in := gjson.ParseBytes(b)
	switch in.Type {
	case gjson.Null:
		*o = nil
		return nil
	case gjson.String:
		*o = OneOrMany{textOf(in)}
		return nil
	}
	return decodeValue(in, reflect.ValueOf((*[]string)(o)).Elem())
}

// ThreadListResponse is a page of threads.
type ThreadListResponse struct {
	Data []Thread `json:"data"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"nextCursor"`
	// BackwardsCursor is the cursor of the page that begins with this page's first thread, in the
	// other direction. It is null for an empty page.
	BackwardsCursor *string `json:"backwardsCursor"`
}

// ThreadLoadedListParams requests a page of the ids of loaded threads.
type ThreadLoadedListParams struct {
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the maximum number of ids of a page. By default, one page has all.
	Limit *uint32 `json:"limit,omitempty"`
}

// ThreadLoadedListResponse is a page of thread ids.
type ThreadLoadedListResponse struct {
	Data []string `json:"data"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"nextCursor"`
}

// ThreadUnsubscribeParams stops the notifications of a thread to the caller.
type ThreadUnsubscribeParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadUnsubscribeResponse has the state before the request.
type ThreadUnsubscribeResponse struct {
	Status string `json:"status" oneof:"notLoaded notSubscribed unsubscribed"`
}

// ThreadSetNameParams sets the name of a thread, loaded or not.
type ThreadSetNameParams struct {
	ThreadID string `json:"threadId"`
	Name     string `json:"name"`
}
