package protocol

import "encoding/json"

// ThreadForkParams creates a thread with the history of another one, loaded or not. Later lines,
// also edits of the context, are not in the fork. Other params have the same meaning as in
// ThreadResumeParams.
type ThreadForkParams struct {
	ThreadID string `json:"threadId"`
	// LastTurnID is the last turn of the fork. The default is the last turn of the thread.
	LastTurnID *string `json:"lastTurnId,omitempty"`
	// BeforeTurnID is the first turn that the fork does not have.
	BeforeTurnID *string `json:"beforeTurnId,omitempty"`
	// BeforeRequestID is a model request of a turn, from thread/usage/list. The fork has the context of that request.
	BeforeRequestID       *string                    `json:"beforeRequestId,omitempty"`
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
	// Ephemeral creates a fork without a rollout.
	Ephemeral    bool    `json:"ephemeral,omitempty"`
	ThreadSource *string `json:"threadSource,omitempty"`
	ExcludeTurns bool    `json:"excludeTurns,omitempty"`
}

// Overrides returns the params that thread/resume has as well.
func (p *ThreadForkParams) Overrides() *ThreadResumeParams {
	return &ThreadResumeParams{
		Model: p.Model, ModelProvider: p.ModelProvider, ServiceTier: p.ServiceTier, Cwd: p.Cwd,
		ApprovalPolicy: p.ApprovalPolicy, ApprovalsReviewer: p.ApprovalsReviewer, Sandbox: p.Sandbox, Config: p.Config,
		Permissions: p.Permissions, RuntimeWorkspaceRoots: p.RuntimeWorkspaceRoots,
		BaseInstructions: p.BaseInstructions, DeveloperInstructions: p.DeveloperInstructions,
	}
}

// ThreadForkResponse has the new thread, which is loaded, and the settings of its next turn.
type ThreadForkResponse struct {
	Thread Thread `json:"thread"`
	ThreadSettingsView
}

// StoredSize returns the approximate memory of a response with stored items, in bytes, or 0 without
// them.
func (r ThreadForkResponse) StoredSize() int { return storedSize(r.Thread.Turns) }

// AppendParts appends the output of Marshal, and flushes it in parts. It returns an UnreadError for
// an unreadable item.
func (r ThreadForkResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	turns := takeTurns(&r.Thread)
	return appendChanged(b, r, turns, flush)
}
