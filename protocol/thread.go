package protocol

import (
	"encoding/json"
	"reflect"

	"github.com/tidwall/gjson"
)

// Thread is a conversation as clients see it. Times are in Unix seconds. ID is a UUIDv7. Preview is
// the text of the user's first message. Path is the path of the rollout, or null for an ephemeral
// thread. Cwd is an absolute path. Source and Originator identify the client that started the thread.
// ParentThreadID, AgentNickname and AgentRole identify the agent that started it. Turns is empty
// except in the responses that document it. Environments is null for a thread that is not loaded.
// CanAcceptDirectInput is also set in lists. The members of sections, projects, attached threads and
// the vendor's programs are always null.
type Thread struct {
	ID               string          `json:"id"`
	Environments     []Environment   `json:"environments"`
	Extra            json.RawMessage `json:"extra"`
	SessionID        string          `json:"sessionId"`
	ForkedFromID     *string         `json:"forkedFromId"`
	AttachedTo       *string         `json:"attachedToThreadId"`
	ParentThreadID   *string         `json:"parentThreadId"`
	Preview          string          `json:"preview"`
	Ephemeral        bool            `json:"ephemeral"`
	Section          json.RawMessage `json:"section"`
	SectionEnteredAt *int64          `json:"sectionEnteredAt"`
	ProjectID        *string         `json:"projectId"`
	HistoryMode      string          `json:"historyMode" oneof:"legacy paginated"`
	ModelProvider    string          `json:"modelProvider"`
	Model            *string         `json:"model"`
	ReasoningEffort  *string         `json:"reasoningEffort"`
	CreatedAt        int64           `json:"createdAt"`
	UpdatedAt        int64           `json:"updatedAt"`
	RecencyAt        *int64          `json:"recencyAt"`
	Status           ThreadStatus    `json:"status"`
	Path             *string         `json:"path"`
	Cwd              string          `json:"cwd"`
	CliVersion       string          `json:"cliVersion"`
	Originator       *string         `json:"originator"`
	Source           json.RawMessage `json:"source"`
	CanAcceptInput   *bool           `json:"canAcceptDirectInput"`
	ThreadSource     *string         `json:"threadSource"`
	AgentNickname    *string         `json:"agentNickname"`
	AgentRole        *string         `json:"agentRole"`
	GitInfo          *GitInfo        `json:"gitInfo"`
	Name             *string         `json:"name"`
	DaybreakEnabled  *bool           `json:"daybreakEnabled"`
	Turns            []Turn          `json:"turns"`
	// ContextTrimPoints are those in force, oldest first: the active context starts behind
	// the last one. Lists of threads leave them out.
	ContextTrimPoints []TrimPoint `json:"contextTrimPoints"`
}

// EnvironmentLocal is the id of the only environment: the machine of the server.
const EnvironmentLocal = "local"

// Environment is the machine and the working directory of a loaded thread's commands.
type Environment struct {
	EnvironmentID         string   `json:"environmentId"`
	Cwd                   string   `json:"cwd"`
	RuntimeWorkspaceRoots []string `json:"runtimeWorkspaceRoots"`
}

// TurnEnvironmentParams selects an environment. Its Cwd and RuntimeWorkspaceRoots replace the thread's.
type TurnEnvironmentParams struct {
	EnvironmentID         string    `json:"environmentId"`
	Cwd                   string    `json:"cwd"`
	RuntimeWorkspaceRoots *[]string `json:"runtimeWorkspaceRoots,omitempty"`
}

// GitInfo is the state of the working directory's repository at the start of the thread, or as a
// client has set it since: the commit's hash, the branch, and the URL of the remote origin.
type GitInfo struct {
	Sha       *string `json:"sha"`
	Branch    *string `json:"branch"`
	OriginURL *string `json:"originUrl"`
}

// ThreadStatus reports whether a thread is loaded and active.
type ThreadStatus struct{ ThreadStatusVariant }

// ThreadStatusVariant is StatusNotLoaded, StatusIdle, StatusSystemError or
// StatusActive.
type ThreadStatusVariant interface{ threadStatus() }

// StatusNotLoaded is the status of a thread that is only on disk.
type StatusNotLoaded struct{}

// StatusIdle is the status of a thread without a turn under way.
type StatusIdle struct{}

// StatusSystemError is the status of a thread whose last turn failed.
type StatusSystemError struct{}

// StatusActive is the status of a thread with an active turn. The flags are what the turn waits for.
type StatusActive struct {
	ActiveFlags []string `json:"activeFlags" oneof:"waitingOnApproval waitingOnUserInput"`
}

// FlagWaitingOnApproval is the active flag of a thread that asks the user.
const FlagWaitingOnApproval = "waitingOnApproval"

// FlagWaitingOnUserInput is set while the user is asked to choose.
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

// ThreadStartParams begins a conversation. What is left out comes from the
// configuration; Config overrides single keys of it, dotted or nested. Permissions names a profile
// of permissionProfile/list; it excludes Sandbox. RuntimeWorkspaceRoots are absolute paths, by default Cwd. An
// ephemeral thread keeps no rollout.
type ThreadStartParams struct {
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
	Ephemeral             *bool                      `json:"ephemeral,omitempty"`
	ThreadSource          *string                    `json:"threadSource,omitempty"`
	DynamicTools          []DynamicToolSpec          `json:"dynamicTools,omitempty"`
	Environments          *[]TurnEnvironmentParams   `json:"environments,omitempty"`
}

// ThreadStartResponse is the answer to thread/start: the thread and the settings
// its turns will use.
type ThreadStartResponse struct {
	Thread Thread `json:"thread"`
	ThreadSettingsView
}

// MultiAgentExplicit is the only multi-agent mode: agents are begun when asked for.
const MultiAgentExplicit = "explicitRequestOnly"

// ThreadSettingsView is the part that the answers to thread/start and
// thread/resume share: the settings that the next turn will use.
// InstructionSources are the paths of the AGENTS.md files that apply. PermissionProfile is null if a
// client or the configuration set the sandbox without a profile.
type ThreadSettingsView struct {
	Model              string            `json:"model"`
	ModelProvider      string            `json:"modelProvider"`
	ServiceTier        *string           `json:"serviceTier"`
	DisabledPluginIDs  []string          `json:"disabledPluginIds"`
	Cwd                string            `json:"cwd"`
	WorkspaceRoots     []string          `json:"runtimeWorkspaceRoots"`
	InstructionSources []string          `json:"instructionSources"`
	ApprovalPolicy     AskForApproval    `json:"approvalPolicy"`
	ApprovalsReviewer  ApprovalsReviewer `json:"approvalsReviewer"`
	Sandbox            SandboxPolicy     `json:"sandbox"`
	PermissionProfile  *ActiveProfile    `json:"activePermissionProfile"`
	ReasoningEffort    *string           `json:"reasoningEffort"`
	MultiAgentMode     string            `json:"multiAgentMode" oneof:"explicitRequestOnly"`
}

// ThreadResumeParams loads a stored thread, or subscribes to a loaded one. With Path the server reads
// the rollout from there and ignores ThreadID. With History a new thread begins with these items, and
// the response has its id. ThreadID must not be that of a loaded thread then.
type ThreadResumeParams struct {
	ThreadID              string                     `json:"threadId"`
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
	ExcludeTurns          bool                       `json:"excludeTurns,omitempty"`

	InitialTurnsPage *ThreadResumeInitialTurnsPageParams `json:"initialTurnsPage,omitempty"`
	History          *[]json.RawMessage                  `json:"history,omitempty"`
}

// ThreadResumeInitialTurnsPageParams asks for a page of turns, as ThreadTurnsListParams does.
type ThreadResumeInitialTurnsPageParams struct {
	Limit         *uint32 `json:"limit,omitempty"`
	SortDirection *string `json:"sortDirection,omitempty" oneof:"asc desc"`
	ItemsView     *string `json:"itemsView,omitempty" oneof:"notLoaded summary full"`
}

// ThreadResumeResponse is the answer to thread/resume. InitialTurnsPage is null unless the
// client asks for it. With TurnsBackwardsCursor a descending page of thread/turns/list begins with the last
// turn, with ItemsBackwardsCursor one of thread/items/list with the last item; they are null
// in a thread without any.
type ThreadResumeResponse struct {
	Thread Thread `json:"thread"`
	ThreadSettingsView
	CollaborationMode    ActiveMode               `json:"collaborationMode"`
	InitialTurnsPage     *ThreadTurnsListResponse `json:"initialTurnsPage"`
	TurnsBackwardsCursor *string                  `json:"turnsBackwardsCursor"`
	ItemsBackwardsCursor *string                  `json:"itemsBackwardsCursor"`
}

// StoredSize is about the memory of a response with stored items, in bytes, or 0 without them.
func (r ThreadResumeResponse) StoredSize() int { return storedSize(r.Thread.Turns) }

// AppendParts appends what Marshal writes, and flushes it in parts.
func (r ThreadResumeResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	turns := takeTurns(&r.Thread)
	return appendAround(b, r, turns, flush)
}

// ThreadReadParams reads a thread without loading it.
type ThreadReadParams struct {
	ThreadID     string `json:"threadId"`
	IncludeTurns bool   `json:"includeTurns,omitempty"`
}

// ThreadReadResponse is the answer to thread/read.
type ThreadReadResponse struct {
	Thread Thread `json:"thread"`
}

// StoredSize is about the memory of a response with stored items, in bytes, or 0 without them.
func (r ThreadReadResponse) StoredSize() int { return storedSize(r.Thread.Turns) }

// AppendParts appends what Marshal writes, and flushes it in parts.
func (r ThreadReadResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	turns := takeTurns(&r.Thread)
	return appendAround(b, r, turns, flush)
}

// ThreadListParams requests a page of stored threads: 25 by default, at least 1, at most 100. SortKey
// is created_at by default, SortDirection desc. Section_position sorts like created_at, because there
// are no sections. ModelProviders null selects the configured provider, [] all providers. Cwd selects
// threads with exactly these working directories. SearchTerm must occur in the name or the preview.
// Cursor is the nextCursor of the page before, with the same other params. SourceKinds null or []
// selects all but exec, appServer and agents' own threads, to which no person talks. At most 100
// ExcludedThreadIDs are left out. Originators other than [] are rejected. A SectionID that is not null
// selects no thread. ParentThreadID selects the threads that agents of another thread started,
// AncestorThreadID also their descendants; both ignore the default of SourceKinds. There are no
// projects and no attached threads.
type ThreadListParams struct {
	Cursor         *string   `json:"cursor,omitempty"`
	Limit          *uint32   `json:"limit,omitempty"`
	SortKey        *string   `json:"sortKey,omitempty" oneof:"created_at updated_at recency_at section_position"`
	SortDirection  *string   `json:"sortDirection,omitempty" oneof:"asc desc"`
	ModelProviders *[]string `json:"modelProviders,omitempty"`
	SourceKinds    *[]string `json:"sourceKinds,omitempty" oneof:"cli vscode exec appServer subAgent subAgentReview subAgentCompact subAgentThreadSpawn subAgentOther unknown"`
	Archived       *bool     `json:"archived,omitempty"`
	Cwd            OneOrMany `json:"cwd,omitempty"`
	SearchTerm     *string   `json:"searchTerm,omitempty"`

	ExcludedThreadIDs []string `json:"excludedThreadIds,omitempty"`
	Originators       []string `json:"originators,omitempty"`
	SectionID         *string  `json:"sectionId,omitempty"`

	ParentThreadID         *string `json:"parentThreadId,omitempty"`
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

// ThreadListResponse is a page of threads. NextCursor is null on the last page. BackwardsCursor is the
// cursor of the page that begins with the first thread of this one, in the other direction. It is null
// for an empty page.
type ThreadListResponse struct {
	Data            []Thread `json:"data"`
	NextCursor      *string  `json:"nextCursor"`
	BackwardsCursor *string  `json:"backwardsCursor"`
}

// ThreadLoadedListParams asks for a page of the ids of loaded threads, by default
// for all of them.
type ThreadLoadedListParams struct {
	Cursor *string `json:"cursor,omitempty"`
	Limit  *uint32 `json:"limit,omitempty"`
}

// ThreadLoadedListResponse is a page of thread ids. NextCursor is null on the last
// page.
type ThreadLoadedListResponse struct {
	Data       []string `json:"data"`
	NextCursor *string  `json:"nextCursor"`
}

// ThreadUnsubscribeParams ends the notifications of a thread to the caller.
type ThreadUnsubscribeParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadUnsubscribeResponse has the status before the request.
type ThreadUnsubscribeResponse struct {
	Status string `json:"status" oneof:"notLoaded notSubscribed unsubscribed"`
}

// ThreadSetNameParams names a thread, loaded or not.
type ThreadSetNameParams struct {
	ThreadID string `json:"threadId"`
	Name     string `json:"name"`
}
