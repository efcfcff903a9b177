package protocol

import "encoding/json"

// ThreadForkParams creates a thread with the history of another one, loaded or not. LastTurnID is the
// last turn of the fork. BeforeTurnID is the first turn that the fork does not have. Without both it
// has all turns. Later lines, also edits of the context, are not in the fork. The other params have
// the meaning of thread/resume. An ephemeral fork keeps no rollout.
type ThreadForkParams struct {
	ThreadID              string                     `json:"threadId"`
	LastTurnID            *string                    `json:"lastTurnId,omitempty"`
	BeforeTurnID          *string                    `json:"beforeTurnId,omitempty"`
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
	Ephemeral             bool                       `json:"ephemeral,omitempty"`
	ThreadSource          *string                    `json:"threadSource,omitempty"`
	ExcludeTurns          bool                       `json:"excludeTurns,omitempty"`
}

// Overrides are the params that thread/resume has too.
func (p *ThreadForkParams) Overrides() *ThreadResumeParams {
	return &ThreadResumeParams{
		Model: p.Model, ModelProvider: p.ModelProvider, ServiceTier: p.ServiceTier, Cwd: p.Cwd,
		ApprovalPolicy: p.ApprovalPolicy, ApprovalsReviewer: p.ApprovalsReviewer, Sandbox: p.Sandbox, Config: p.Config,
		Permissions: p.Permissions, RuntimeWorkspaceRoots: p.RuntimeWorkspaceRoots,
		BaseInstructions: p.BaseInstructions, DeveloperInstructions: p.DeveloperInstructions,
	}
}

// ThreadForkResponse is the answer to thread/fork: the new thread, which is loaded, and
// the settings its turns will use.
type ThreadForkResponse struct {
	Thread Thread `json:"thread"`
	ThreadSettingsView
}

// StoredSize is about the memory of a response with stored items, in bytes, or 0 without them.
func (r ThreadForkResponse) StoredSize() int { return storedSize(r.Thread.Turns) }

// AppendParts appends what Marshal writes, and flushes it in parts. An unreadable item is an UnreadError.
func (r ThreadForkResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	turns := takeTurns(&r.Thread)
	return appendChanged(b, r, turns, flush)
}
