package protocol

import (
	"cmp"
	"fmt"
	"slices"
)

// SettingsApplied is the event in which the reference implementation stores the settings of a
// thread. It reads the sandbox policy of a paginated thread only from there.
type SettingsApplied struct {
	Type           string         `json:"type"`
	ThreadID       string         `json:"thread_id"`
	ThreadSettings StoredSettings `json:"thread_settings"`
}

// StoredSettings is the stored form of a thread's settings.
type StoredSettings struct {
	Model             string            `json:"model"`
	ModelProviderID   string            `json:"model_provider_id"`
	ApprovalPolicy    AskForApproval    `json:"approval_policy"`
	ApprovalsReviewer ApprovalsReviewer `json:"approvals_reviewer"`
	PermissionProfile PermissionProfile `json:"permission_profile"`
	ActiveProfile     *StoredProfile    `json:"active_permission_profile,omitempty"`
	Cwd               string            `json:"cwd"`
	WorkspaceRoots    []string          `json:"runtime_workspace_roots,omitempty"`
	CollaborationMode StoredMode        `json:"collaboration_mode"`
}

// StoredProfile is the stored form of an ActiveProfile.
type StoredProfile struct {
	ID      string `json:"id"`
	Extends string `json:"extends,omitempty"`
}

// ActiveProfile identifies the permission profile of a thread's sandbox policy.
type ActiveProfile struct {
	ID string `json:"id"`
	// Extends is the profile that it extends, or null.
	Extends *string `json:"extends"`
}

// The built-in permission profiles.
const (
	ProfileReadOnly         = ":read-only"
	ProfileWorkspace        = ":workspace"
	ProfileDangerFullAccess = ":danger-full-access"
)

// BuiltinProfiles are the ids of the built-in permission profiles.
var BuiltinProfiles = []string{ProfileReadOnly, ProfileWorkspace, ProfileDangerFullAccess}

// BuiltinProfile returns the policy of a built-in permission profile.
func BuiltinProfile(id string) (policy SandboxPolicy, known bool) {
	switch id {
	case ProfileReadOnly:
		return SandboxReadOnly.Policy(), true
	case ProfileWorkspace:
		return SandboxWorkspaceWrite.Policy(), true
	case ProfileDangerFullAccess:
		return SandboxDangerFullAccess.Policy(), true
	}
	return SandboxPolicy{}, false
}

// Stored returns the form of rollouts, or nil for nil.
func (p *ActiveProfile) Stored() *StoredProfile {
	if p == nil {
		return nil
	}
	s := &StoredProfile{ID: p.ID}
	if p.Extends != nil {
		s.Extends = *p.Extends
	}
	return s
}

// Active returns the form of the wire, or nil for nil.
func (s *StoredProfile) Active() *ActiveProfile {
	if s == nil || s.ID == "" {
		return nil
	}
	return &ActiveProfile{ID: s.ID, Extends: OrNil(s.Extends)}
}

// StoredMode is the stored form of a collaboration mode.
type StoredMode struct {
	Mode     string             `json:"mode"`
	Settings StoredModeSettings `json:"settings"`
}

// StoredModeSettings has the settings of a StoredMode.
type StoredModeSettings struct {
	Model                 string  `json:"model"`
	ReasoningEffort       *string `json:"reasoning_effort"`
	DeveloperInstructions *string `json:"developer_instructions"`
}

// PermissionProfile is the full form of a sandbox policy: the permissions to read and write files
// and to use the network.
type PermissionProfile struct {
	// Type is disabled, external or managed.
	Type       string      `json:"type"`
	FileSystem *FileAccess `json:"file_system,omitempty"`
	Network    string      `json:"network,omitempty"`
}

// FileAccess lists the permissions of commands for files.
type FileAccess struct {
	// Type is restricted.
	Type    string            `json:"type"`
	Entries []FileAccessEntry `json:"entries"`
}

// FileAccessEntry permits to read or write a path and everything below it. A later entry narrows an
// earlier one.
type FileAccessEntry struct {
	Path                FileAccessPath `json:"path"`
	Access              string         `json:"access"`
	MissingPathBehavior string         `json:"missing_path_behavior,omitempty"`
}

// FileAccessPath is a path, a pattern of paths, or a special place: root, tmpdir or slash_tmp.
type FileAccessPath struct {
	Type    string             `json:"type"`
	Path    string             `json:"path,omitempty"`
	Pattern string             `json:"pattern,omitempty"`
	Value   *FileAccessSpecial `json:"value,omitempty"`
}

// FileAccessSpecial identifies a special place.
type FileAccessSpecial struct {
	Kind string `json:"kind"`
}

// The types of a PermissionProfile, and the words for access.
const (
	profileDisabled = "disabled"
	profileExternal = "external"
	profileManaged  = "managed"
	accessRead      = "read"
	accessWrite     = "write"
)

func specialPlace(kind, access string) FileAccessEntry {
	return FileAccessEntry{Path: FileAccessPath{Type: "special", Value: &FileAccessSpecial{kind}}, Access: access}
}

func place(path, access string) FileAccessEntry {
	return FileAccessEntry{Path: FileAccessPath{Type: "path", Path: path}, Access: access}
}

// protectedFolders stay unwritable in a writable working directory.
var protectedFolders = []string{".git", ".agents", ".codex", ".aws"}

// Profile returns the permission profile of the policy for a working directory.
func (p SandboxPolicy) Profile(cwd string) PermissionProfile {
	switch v := p.SandboxPolicyVariant.(type) {
	case *DangerFullAccess:
		return PermissionProfile{Type: profileDisabled}
	case *ExternalSandbox:
		return PermissionProfile{Type: profileExternal, Network: v.NetworkAccess}
	case *WorkspaceWrite:
		return managed(v.NetworkAccess, v.entries(cwd)...)
	case *ReadOnly:
		return managed(v.NetworkAccess)
	}
	return managed(false)
}

func managed(network bool, entries ...FileAccessEntry) PermissionProfile {
	p := PermissionProfile{Type: profileManaged, Network: NetworkRestricted,
		FileSystem: &FileAccess{"restricted", append([]FileAccessEntry{specialPlace("root", accessRead)}, entries...)}}
	if network {
		p.Network = NetworkEnabled
	}
	return p
}

// WithRoots returns the policy with other workspace roots: workspace-write loses the former ones and gets the new
// ones. Cwd is always writable, so it is no entry.
func (p SandboxPolicy) WithRoots(former, roots []string, cwd string) SandboxPolicy {
	w, ok := p.SandboxPolicyVariant.(*WorkspaceWrite)
	if !ok {
		return p
	}
	own := *w
	own.WritableRoots = slices.DeleteFunc(slices.Clone(w.WritableRoots),
		func(root string) bool { return slices.Contains(former, root) })
	for _, root := range roots {
		if root != cwd && !slices.Contains(own.WritableRoots, root) {
			own.WritableRoots = append(own.WritableRoots, root)
		}
	}
	return SandboxPolicy{&own}
}

func (w *WorkspaceWrite) entries(cwd string) []FileAccessEntry {
	entries := []FileAccessEntry{place(cwd, accessWrite)}
	if !w.ExcludeSlashTmp {
		entries = append(entries, specialPlace("slash_tmp", accessWrite))
	}
	if !w.ExcludeTmpdirEnvVar {
		entries = append(entries, specialPlace("tmpdir", accessWrite))
	}
	for _, root := range w.WritableRoots {
		entries = append(entries, place(root, accessWrite))
	}
	for _, folder := range protectedFolders {
		e := place(cwd+"/"+folder, accessRead)
		e.MissingPathBehavior = "skip"
		entries = append(entries, e)
	}
	return entries
}

// Policy returns the policy that is nearest to a profile, and never wider. If a profile narrows a
// writable directory in a way that no policy can express, nothing is writable.
func (p PermissionProfile) Policy(cwd string) SandboxPolicy {
	network := p.Network == NetworkEnabled
	readOnly := SandboxPolicy{&ReadOnly{NetworkAccess: network}}
	switch {
	case p.Type == profileDisabled:
		return SandboxPolicy{&DangerFullAccess{}}
	case p.Type == profileExternal && network:
		return SandboxPolicy{&ExternalSandbox{NetworkAccess: NetworkEnabled}}
	case p.Type == profileExternal:
		return SandboxPolicy{&ExternalSandbox{NetworkAccess: NetworkRestricted}}
	case p.FileSystem == nil:
		return readOnly
	}
	w := &WorkspaceWrite{WritableRoots: []string{}, NetworkAccess: network, ExcludeTmpdirEnvVar: true,
		ExcludeSlashTmp: true}
	inside := false
	for i, e := range p.FileSystem.Entries {
		if p.FileSystem.overridden(i) || e.Access == accessRead && !e.narrows(cwd) {
			continue
		}
		switch {
		case e.Access != accessWrite:
			return readOnly
		case e.Path.Value == nil && e.Path.Path == cwd:
			inside = true
		case e.Path.Value == nil && e.Path.Path == "":
			// a pattern, which no root expresses
		case e.Path.Value == nil:
			w.WritableRoots = append(w.WritableRoots, e.Path.Path)
		case e.Path.Value.Kind == "slash_tmp":
			w.ExcludeSlashTmp = false
		case e.Path.Value.Kind == "tmpdir":
			w.ExcludeTmpdirEnvVar = false
		}
	}
	if !inside {
		return readOnly
	}
	return SandboxPolicy{w}
}

// overridden reports whether a later entry has the same path.
func (f *FileAccess) overridden(i int) bool {
	return slices.ContainsFunc(f.Entries[i+1:], func(e FileAccessEntry) bool {
		return e.Path.Value == nil && f.Entries[i].Path.Value == nil && e.Path.Path == f.Entries[i].Path.Path
	})
}

// Unenforced returns the first rule of a profile that no sandbox policy expresses, because it denies reading, or "".
func (p PermissionProfile) Unenforced() string {
	if p.Type != profileManaged || p.FileSystem == nil || p.FileSystem.Type != "restricted" {
		return ""
	}
	readable := false
	for _, e := range p.FileSystem.Entries {
		if e.Access != accessRead && e.Access != accessWrite {
			return fmt.Sprintf("%s = %q", e.Path, e.Access)
		}
		readable = readable || e.Path.Value != nil && e.Path.Value.Kind == "root"
	}
	if !readable {
		return "only some paths can be read"
	}
	return ""
}

// String returns the path, the special place as ":NAME", or the pattern.
func (p FileAccessPath) String() string {
	if p.Value != nil {
		return ":" + p.Value.Kind
	}
	return cmp.Or(p.Path, p.Pattern)
}

// narrows reports whether a read entry removes a permission of a policy: it is a path, and not one of
// the directories that are always protected.
func (e FileAccessEntry) narrows(cwd string) bool {
	return e.Path.Value == nil &&
		!slices.ContainsFunc(protectedFolders, func(folder string) bool { return e.Path.Path == cwd+"/"+folder })
}
