package protocol

import "encoding/json"

// AskForApproval says when the agent asks before it acts. Mode is one of the
// Approval constants; with ApprovalGranular the details are in Granular.
type AskForApproval struct {
	Mode     string
	Granular *GranularApproval
}

// The modes of AskForApproval.
const (
	ApprovalUntrusted = "untrusted"
	ApprovalOnRequest = "on-request"
	ApprovalGranular  = "granular"
	ApprovalNever     = "never"
)

var approvalModes = []string{ApprovalUntrusted, ApprovalOnRequest, ApprovalGranular, ApprovalNever}

// GranularApproval switches single kinds of approval requests on or off.
type GranularApproval struct {
	SandboxApproval    bool `json:"sandbox_approval"`
	Rules              bool `json:"rules"`
	SkillApproval      bool `json:"skill_approval"`
	RequestPermissions bool `json:"request_permissions"`
	McpElicitations    bool `json:"mcp_elicitations"`
}

// MarshalJSON writes a string, or {"granular": {...}}.
func (a AskForApproval) MarshalJSON() ([]byte, error) {
	if a.Granular != nil {
		return marshal(map[string]*GranularApproval{ApprovalGranular: a.Granular})
	}
	return marshal(a.Mode)
}

// UnmarshalJSON accepts a known mode or {"granular": {...}}.
func (a *AskForApproval) UnmarshalJSON(b []byte) error {
	var obj struct{ Granular *GranularApproval }
	if len(b) > 0 && b[0] == '{' && json.Unmarshal(b, &obj) == nil && obj.Granular != nil {
		*a = AskForApproval{Mode: ApprovalGranular, Granular: obj.Granular}
		return nil
	}
	mode, err := decodeEnum(b, approvalModes)
	if err != nil {
		return err
	}
	*a = AskForApproval{Mode: mode}
	return nil
}

// ApprovalsReviewer names who answers approval requests.
type ApprovalsReviewer string

// ReviewerUser routes approval requests to the client's user.
const ReviewerUser ApprovalsReviewer = "user"

var reviewers = []string{"user", "auto_review", "guardian_subagent"}

// UnmarshalJSON accepts the known reviewers.
func (r *ApprovalsReviewer) UnmarshalJSON(b []byte) error {
	s, err := decodeEnum(b, reviewers)
	*r = ApprovalsReviewer(s)
	return err
}

// SandboxMode is the short form of a sandbox policy, as in config files.
type SandboxMode string

// The sandbox modes.
const (
	SandboxReadOnly         SandboxMode = "read-only"
	SandboxWorkspaceWrite   SandboxMode = "workspace-write"
	SandboxDangerFullAccess SandboxMode = "danger-full-access"
)

var sandboxModes = []string{string(SandboxReadOnly), string(SandboxWorkspaceWrite), string(SandboxDangerFullAccess)}

// UnmarshalJSON accepts the known modes.
func (m *SandboxMode) UnmarshalJSON(b []byte) error {
	s, err := decodeEnum(b, sandboxModes)
	*m = SandboxMode(s)
	return err
}

// Policy is the sandbox policy with the defaults of the mode.
func (m SandboxMode) Policy() SandboxPolicy {
	switch m {
	case SandboxDangerFullAccess:
		return SandboxPolicy{&DangerFullAccess{}}
	case SandboxWorkspaceWrite:
		return SandboxPolicy{&WorkspaceWrite{WritableRoots: []string{}}}
	default:
		return SandboxPolicy{&ReadOnly{}}
	}
}

// SandboxPolicy says what commands may touch.
type SandboxPolicy struct{ SandboxPolicyVariant }

// SandboxPolicyVariant is DangerFullAccess, ReadOnly, ExternalSandbox or
// WorkspaceWrite.
type SandboxPolicyVariant interface{ sandboxPolicy() }

// DangerFullAccess confines nothing.
type DangerFullAccess struct{}

// ReadOnly lets commands read everything and write nothing.
type ReadOnly struct {
	NetworkAccess bool `json:"networkAccess"`
}

// ExternalSandbox says that the caller confines the server itself.
type ExternalSandbox struct {
	NetworkAccess string `json:"networkAccess"`
}

// WorkspaceWrite lets commands write in the working directory, the named roots
// and, unless excluded, the temporary directories.
type WorkspaceWrite struct {
	WritableRoots       []string `json:"writableRoots"`
	NetworkAccess       bool     `json:"networkAccess"`
	ExcludeTmpdirEnvVar bool     `json:"excludeTmpdirEnvVar"`
	ExcludeSlashTmp     bool     `json:"excludeSlashTmp"`
}

func (*DangerFullAccess) sandboxPolicy() {}
func (*ReadOnly) sandboxPolicy()         {}
func (*ExternalSandbox) sandboxPolicy()  {}
func (*WorkspaceWrite) sandboxPolicy()   {}

var sandboxPolicies = newVariants[SandboxPolicyVariant]("type",
	variantRow[SandboxPolicyVariant]{"dangerFullAccess", func() SandboxPolicyVariant { return &DangerFullAccess{} }},
	variantRow[SandboxPolicyVariant]{"readOnly", func() SandboxPolicyVariant { return &ReadOnly{} }},
	variantRow[SandboxPolicyVariant]{"externalSandbox", func() SandboxPolicyVariant { return &ExternalSandbox{NetworkAccess: "restricted"} }},
	variantRow[SandboxPolicyVariant]{"workspaceWrite", func() SandboxPolicyVariant { return &WorkspaceWrite{WritableRoots: []string{}} }},
)

// MarshalJSON writes the variant with its type.
func (p SandboxPolicy) MarshalJSON() ([]byte, error) {
	return sandboxPolicies.encode(p.SandboxPolicyVariant)
}

// UnmarshalJSON accepts the known variants; members that are left out have
// their defaults.
func (p *SandboxPolicy) UnmarshalJSON(b []byte) error {
	v, tag, ok, err := sandboxPolicies.decode(b)
	if err != nil {
		return err
	}
	if !ok {
		return &UnknownVariantError{tag, sandboxPolicies.tags}
	}
	p.SandboxPolicyVariant = v
	return nil
}
