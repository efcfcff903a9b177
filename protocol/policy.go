package protocol

import (
	"reflect"

	"github.com/tidwall/gjson"
)

// AskForApproval is the approval policy: "untrusted", "on-request", "never" or {"granular": {...}}.
type AskForApproval struct {
	// Mode is one of the Approval constants.
	Mode string
	// Granular is set if and only if Mode is ApprovalGranular.
	Granular *GranularApproval
}

// The modes of AskForApproval: ask about all commands except reading ones, about actions that the
// sandbox does not permit, about some kinds of them, and never.
const (
	ApprovalUntrusted = "untrusted"
	ApprovalOnRequest = "on-request"
	ApprovalGranular  = "granular"
	ApprovalNever     = "never"
)

var approvalModes = []string{ApprovalUntrusted, ApprovalOnRequest, ApprovalGranular, ApprovalNever}

// ProtectedFolders are the folders of a workspace, and of writable roots, that the sandbox policy
// workspace-write keeps as they are. A later start reads configuration, instructions and skills
// from them.
var ProtectedFolders = []string{".codex", ".agents"}

// GranularApproval switches single kinds of approval requests on or off.
type GranularApproval struct {
	SandboxApproval    bool `json:"sandbox_approval"`
	Rules              bool `json:"rules"`
	SkillApproval      bool `json:"skill_approval" default:"false"`
	RequestPermissions bool `json:"request_permissions" default:"false"`
	McpElicitations    bool `json:"mcp_elicitations"`
}

// MarshalJSON writes the mode, or {"granular": {...}}.
func (a AskForApproval) MarshalJSON() ([]byte, error) {
	if a.Granular != nil {
		return marshal(map[string]*GranularApproval{ApprovalGranular: a.Granular})
	}
	return marshal(a.Mode)
}

// UnmarshalJSON accepts a known mode, or {"granular": {...}} with the members that
// have no default.
func (a *AskForApproval) UnmarshalJSON(b []byte) error {
	word, detail, err := decodeWordOf(b, approvalModes, ApprovalGranular)
	if err != nil {
		return err
	}
	var granular *GranularApproval
	if word == ApprovalGranular {
		granular = new(GranularApproval)
		if err := decodeObject(detail, reflect.ValueOf(granular).Elem()); err != nil {
			return at(word, err)
		}
	}
	*a = AskForApproval{word, granular}
	return nil
}

// ApprovalsReviewer is the reviewer of approval requests: user, auto_review or guardian_subagent.
// This server always asks the user.
type ApprovalsReviewer string

// ReviewerUser sends approval requests to the client's user.
const ReviewerUser ApprovalsReviewer = "user"

var reviewers = []string{"user", "auto_review", "guardian_subagent"}

// UnmarshalJSON accepts the known reviewers.
func (r *ApprovalsReviewer) UnmarshalJSON(b []byte) error {
	s, err := decodeEnum(b, reviewers)
	*r = ApprovalsReviewer(s)
	return err
}

// SandboxMode is the short form of a sandbox policy, as in configuration files.
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

// Policy returns the sandbox policy with the defaults of the mode.
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

// SandboxPolicy limits the files and the network that commands can access, with a tag: {"type":
// "readOnly", ...} and so on.
type SandboxPolicy struct{ SandboxPolicyVariant }

// SandboxPolicyVariant is *DangerFullAccess, *ReadOnly, *ExternalSandbox or
// *WorkspaceWrite.
type SandboxPolicyVariant interface{ sandboxPolicy() }

// DangerFullAccess permits everything.
type DangerFullAccess struct{}

// Breadth orders policies by what they permit: a policy with a smaller number permits less.
func (p SandboxPolicy) Breadth() int {
	switch p.SandboxPolicyVariant.(type) {
	case *ReadOnly:
		return 0
	case *WorkspaceWrite:
		return 1
	case *ExternalSandbox:
		return 2
	}
	return 3
}

// ReadOnly permits commands to read everything and to write nothing.
type ReadOnly struct {
	NetworkAccess bool `json:"networkAccess" default:"false"`
}

// ExternalSandbox states that the caller confines the server.
type ExternalSandbox struct {
	// NetworkAccess states whether the server has network access.
	NetworkAccess string `json:"networkAccess" oneof:"restricted enabled" default:"restricted"`
}

// The values of ExternalSandbox.NetworkAccess.
const (
	NetworkRestricted = "restricted"
	NetworkEnabled    = "enabled"
)

// WorkspaceWrite permits commands to write in the working directory, in the writable roots and,
// unless excluded, in $TMPDIR and /tmp.
type WorkspaceWrite struct {
	// WritableRoots are absolute paths.
	WritableRoots       []string `json:"writableRoots" default:"[]"`
	NetworkAccess       bool     `json:"networkAccess" default:"false"`
	ExcludeTmpdirEnvVar bool     `json:"excludeTmpdirEnvVar" default:"false"`
	ExcludeSlashTmp     bool     `json:"excludeSlashTmp" default:"false"`
}

func (*DangerFullAccess) sandboxPolicy() {}
func (*ReadOnly) sandboxPolicy()         {}
func (*ExternalSandbox) sandboxPolicy()  {}
func (*WorkspaceWrite) sandboxPolicy()   {}

var sandboxPolicies = newVariants("type",
	variantRow[SandboxPolicyVariant]{"dangerFullAccess", &DangerFullAccess{}},
	variantRow[SandboxPolicyVariant]{"readOnly", &ReadOnly{}},
	variantRow[SandboxPolicyVariant]{"externalSandbox", &ExternalSandbox{}},
	variantRow[SandboxPolicyVariant]{"workspaceWrite", &WorkspaceWrite{}},
)

// MarshalJSON writes the variant with its type.
func (p SandboxPolicy) MarshalJSON() ([]byte, error) {
	return sandboxPolicies.encode(p.SandboxPolicyVariant)
}

// UnmarshalJSON accepts the known variants. Absent members have their defaults.
func (p *SandboxPolicy) UnmarshalJSON(b []byte) error {
	v, err := sandboxPolicies.strict(gjson.ParseBytes(b))
	p.SandboxPolicyVariant = v
	return err
}
