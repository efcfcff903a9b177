package protocol

import "encoding/json"

// Thread is a conversation as clients see it. Times are in Unix seconds.
type Thread struct {
	ID               string          `json:"id"`
	SessionID        string          `json:"sessionId"`
	ForkedFromID     *string         `json:"forkedFromId"`
	ParentThreadID   *string         `json:"parentThreadId"`
	Preview          string          `json:"preview"`
	Ephemeral        bool            `json:"ephemeral"`
	Section          json.RawMessage `json:"section"`
	SectionEnteredAt *int64          `json:"sectionEnteredAt"`
	ProjectID        *string         `json:"projectId"`
	HistoryMode      string          `json:"historyMode"`
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
	ThreadSource     *string         `json:"threadSource"`
	AgentNickname    *string         `json:"agentNickname"`
	AgentRole        *string         `json:"agentRole"`
	GitInfo          *GitInfo        `json:"gitInfo"`
	Name             *string         `json:"name"`
	Turns            []Turn          `json:"turns"`
}

// GitInfo is the state of the working directory's repository when the thread
// began.
type GitInfo struct {
	Sha       *string `json:"sha"`
	Branch    *string `json:"branch"`
	OriginURL *string `json:"originUrl"`
}

// ThreadStatus says whether a thread is loaded and at work.
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

// StatusActive is the status of a thread with a turn under way.
type StatusActive struct {
	ActiveFlags []string `json:"activeFlags"`
}

// FlagWaitingOnApproval is an active flag.
const FlagWaitingOnApproval = "waitingOnApproval"

func (*StatusNotLoaded) threadStatus()   {}
func (*StatusIdle) threadStatus()        {}
func (*StatusSystemError) threadStatus() {}
func (*StatusActive) threadStatus()      {}

var threadStatuses = newVariants[ThreadStatusVariant]("type",
	variantRow[ThreadStatusVariant]{"notLoaded", func() ThreadStatusVariant { return &StatusNotLoaded{} }},
	variantRow[ThreadStatusVariant]{"idle", func() ThreadStatusVariant { return &StatusIdle{} }},
	variantRow[ThreadStatusVariant]{"systemError", func() ThreadStatusVariant { return &StatusSystemError{} }},
	variantRow[ThreadStatusVariant]{"active", func() ThreadStatusVariant { return &StatusActive{ActiveFlags: []string{}} }},
)

// MarshalJSON writes the variant with its type.
func (s ThreadStatus) MarshalJSON() ([]byte, error) {
	return threadStatuses.encode(s.ThreadStatusVariant)
}

// UnmarshalJSON accepts the known variants.
func (s *ThreadStatus) UnmarshalJSON(b []byte) error {
	v, tag, ok, err := threadStatuses.decode(b)
	if err == nil && !ok {
		err = &UnknownVariantError{tag, threadStatuses.tags}
	}
	s.ThreadStatusVariant = v
	return err
}

// ThreadStartParams begins a conversation.
type ThreadStartParams struct {
	Model                 *string                    `json:"model,omitempty"`
	ModelProvider         *string                    `json:"modelProvider,omitempty"`
	ServiceTier           *string                    `json:"serviceTier,omitempty"`
	Cwd                   *string                    `json:"cwd,omitempty"`
	ApprovalPolicy        *AskForApproval            `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer     *ApprovalsReviewer         `json:"approvalsReviewer,omitempty"`
	Sandbox               *SandboxMode               `json:"sandbox,omitempty"`
	Config                map[string]json.RawMessage `json:"config,omitempty"`
	BaseInstructions      *string                    `json:"baseInstructions,omitempty"`
	DeveloperInstructions *string                    `json:"developerInstructions,omitempty"`
	Ephemeral             *bool                      `json:"ephemeral,omitempty"`
	ThreadSource          *string                    `json:"threadSource,omitempty"`
}

// ThreadStartResponse is the answer to thread/start: the thread and the settings
// its turns will use.
type ThreadStartResponse struct {
	Thread Thread `json:"thread"`
	ThreadSettingsView
}

// ThreadSettingsView is the part that the answers to thread/start and
// thread/resume share.
type ThreadSettingsView struct {
	Model              string            `json:"model"`
	ModelProvider      string            `json:"modelProvider"`
	ServiceTier        *string           `json:"serviceTier"`
	DisabledPluginIDs  []string          `json:"disabledPluginIds"`
	Cwd                string            `json:"cwd"`
	InstructionSources []string          `json:"instructionSources"`
	ApprovalPolicy     AskForApproval    `json:"approvalPolicy"`
	ApprovalsReviewer  ApprovalsReviewer `json:"approvalsReviewer"`
	Sandbox            SandboxPolicy     `json:"sandbox"`
	ReasoningEffort    *string           `json:"reasoningEffort"`
}

// ThreadResumeParams loads a stored thread, or joins a loaded one. With Path the
// rollout is read from there and ThreadID is not looked at.
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
	Config                map[string]json.RawMessage `json:"config,omitempty"`
	BaseInstructions      *string                    `json:"baseInstructions,omitempty"`
	DeveloperInstructions *string                    `json:"developerInstructions,omitempty"`
	ExcludeTurns          bool                       `json:"excludeTurns,omitempty"`
}

// ThreadResumeResponse is the answer to thread/resume. The cursors and the
// collaboration mode are always null.
type ThreadResumeResponse struct {
	Thread Thread `json:"thread"`
	ThreadSettingsView
	CollaborationMode    json.RawMessage `json:"collaborationMode"`
	TurnsBackwardsCursor *string         `json:"turnsBackwardsCursor"`
	ItemsBackwardsCursor *string         `json:"itemsBackwardsCursor"`
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

// ThreadListParams asks for a page of stored threads, newest first. Limit is 25
// by default and 100 at most. ModelProviders null means the configured provider
// only, [] means all.
type ThreadListParams struct {
	Cursor         *string   `json:"cursor,omitempty"`
	Limit          *uint32   `json:"limit,omitempty"`
	SortKey        *string   `json:"sortKey,omitempty"`
	SortDirection  *string   `json:"sortDirection,omitempty"`
	ModelProviders *[]string `json:"modelProviders,omitempty"`
	SourceKinds    *[]string `json:"sourceKinds,omitempty"`
	Archived       *bool     `json:"archived,omitempty"`
	Cwd            OneOrMany `json:"cwd,omitempty"`
	SearchTerm     *string   `json:"searchTerm,omitempty"`
}

// OneOrMany is a string or a list of strings.
type OneOrMany []string

// UnmarshalJSON accepts a string, a list of strings, or null.
func (o *OneOrMany) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*o = make(OneOrMany, 1)
		return json.Unmarshal(b, &(*o)[0])
	}
	return json.Unmarshal(b, (*[]string)(o))
}

// ThreadListResponse is a page of threads. NextCursor is null on the last page.
type ThreadListResponse struct {
	Data            []Thread `json:"data"`
	NextCursor      *string  `json:"nextCursor"`
	BackwardsCursor *string  `json:"backwardsCursor"`
}

// ThreadLoadedListParams asks for the ids of loaded threads.
type ThreadLoadedListParams struct {
	Cursor *string `json:"cursor,omitempty"`
	Limit  *uint32 `json:"limit,omitempty"`
}

// ThreadLoadedListResponse is a page of thread ids.
type ThreadLoadedListResponse struct {
	Data       []string `json:"data"`
	NextCursor *string  `json:"nextCursor"`
}

// ThreadUnsubscribeParams ends the notifications of a thread to the caller.
type ThreadUnsubscribeParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadUnsubscribeResponse says what was found: notLoaded, notSubscribed or
// unsubscribed.
type ThreadUnsubscribeResponse struct {
	Status string `json:"status"`
}

// ThreadSetNameParams names a thread.
type ThreadSetNameParams struct {
	ThreadID string `json:"threadId"`
	Name     string `json:"name"`
}
