package state

import (
	"slices"

	"appserver/protocol"
)

// Permissions are a sandbox policy, and the permission profile that it is from, or nil.
type Permissions struct {
	Sandbox protocol.SandboxPolicy
	Profile *protocol.ActiveProfile
	// Roots replace the workspace roots, unless they are nil.
	Roots []string
}

// WithPermissions returns the settings with other permissions.
func (s Settings) WithPermissions(p Permissions) Settings {
	s.Sandbox, s.Profile, s.Unenforced = p.Sandbox, p.Profile, ""
	if p.Roots != nil {
		s.Roots = p.Roots
	}
	return s
}

// Narrowed returns the settings with a sandbox that permits no more than a mode and no more than the settings do. It
// returns false if the mode permits more than the settings, which stay as they are then.
func (s Settings) Narrowed(mode protocol.SandboxMode) (_ Settings, ok bool) {
	wanted := mode.Policy()
	now, then := s.Sandbox.Breadth(), wanted.Breadth()
	if then >= now {
		return s, then == now
	}
	profile := protocol.ProfileWorkspace
	if mode == protocol.SandboxReadOnly {
		profile = protocol.ProfileReadOnly
	}
	return s.WithPermissions(Permissions{Sandbox: wanted, Profile: &protocol.ActiveProfile{ID: profile}}), true
}

// In returns the settings with another working directory, or the same if cwd is nil. The directory takes the place
// of the former one among the workspace roots.
func (s Settings) In(cwd *string) Settings {
	if cwd == nil || *cwd == s.Cwd {
		return s
	}
	if i := slices.Index(s.Roots, s.Cwd); i >= 0 {
		s.Roots = slices.Clone(s.Roots)
		s.Roots[i] = *cwd
	}
	s.Cwd = *cwd
	return s
}

// WorkspaceRoots returns the workspace roots.
func (s Settings) WorkspaceRoots() []string {
	if s.Roots == nil {
		return []string{s.Cwd}
	}
	return s.Roots
}

// CheckPermissions returns an error if the permissions are narrower than any policy that can be enforced.
func (s Settings) CheckPermissions() error {
	if s.Unenforced != "" {
		return protocol.Refuse(protocol.KindPermissions,
			"the permission profile of this thread has a rule that this server cannot enforce: %s. "+
				"Name other permissions, or a sandbox, in thread/resume or turn/start", s.Unenforced)
	}
	_, writes := s.Sandbox.SandboxPolicyVariant.(*protocol.WorkspaceWrite)
	if writes && s.Roots != nil && !slices.Contains(s.Roots, s.Cwd) {
		return protocol.Refuse(protocol.KindPermissions,
			"runtimeWorkspaceRoots lacks the working directory %s, which workspace-write always makes writable. "+
				"Add it, or use read-only permissions", s.Cwd)
	}
	return nil
}
