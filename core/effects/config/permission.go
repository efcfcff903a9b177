package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/pure/permission"
	"appserver/protocol"
)

// PermissionProfiles returns the profiles that clients can name, the built-in ones first. Profiles with a rule that
// cannot be enforced are not allowed, and their descriptions say why.
func (c *Config) PermissionProfiles(cwd string) []protocol.PermissionProfileSummary {
	var list []protocol.PermissionProfileSummary
	for _, id := range protocol.BuiltinProfiles {
		list = append(list, protocol.PermissionProfileSummary{ID: id, Allowed: true})
	}
	for _, id := range sortedKeys(c.Profiles) {
		p := protocol.PermissionProfileSummary{ID: id, Allowed: true}
		if text, ok := c.Profiles[id]["description"].(string); ok {
			p.Description = &text
		}
		if _, err := c.permissionsOf(id, cwd, nil); err != nil {
			p.Allowed, p.Description = false, new(err.Error())
		}
		list = append(list, p)
	}
	return list
}

// PermissionsOf returns the permissions of a profile in cwd. Roots are the workspace roots; nil is cwd. An
// error is a *protocol.Error.
func (c *Config) PermissionsOf(id, cwd string, roots []string) (core.Permissions, error) {
	p, err := c.permissionsOf(id, cwd, roots)
	if err != nil {
		return p, protocol.InvalidParams("permissions", "`permissions`: %v", err)
	}
	return p, nil
}

func (c *Config) permissionsOf(id, cwd string, roots []string) (core.Permissions, error) {
	p := core.Permissions{Profile: &protocol.ActiveProfile{ID: id}, Roots: roots}
	policy, known := protocol.BuiltinProfile(id)
	if !known {
		if c.Profiles[id] == nil {
			return p, fmt.Errorf("unknown permission profile %q, expected one of %s", id, strings.Join(c.profileIDs(), ", "))
		}
		at := permission.Places{Cwd: cwd, Home: c.getenv("HOME"), TmpDir: c.getenv("TMPDIR"), Real: realPath}
		var err error
		if policy, p.Profile.Extends, err = c.Profiles.Compile(id, at); err != nil {
			return p, fmt.Errorf("the permission profile %q cannot be used: %w", id, err)
		}
	}
	p.Sandbox = policy.WithRoots(nil, roots, cwd)
	return p, nil
}

func (c *Config) profileIDs() []string {
	return append(slices.Clone(protocol.BuiltinProfiles), sortedKeys(c.Profiles)...)
}

// defaultPermissions returns the permissions of threads in cwd that name none. In one layer, default_permissions
// is stronger than sandbox_mode. An error is a *protocol.Error of kind config.
func (c *Config) defaultPermissions(cwd string, roots []string) (core.Permissions, error) {
	byProfile, byMode := c.rank("default_permissions"), c.rank("sandbox_mode")
	if byProfile >= 0 && byProfile >= byMode {
		p, err := c.permissionsOf(c.DefaultPermissions, cwd, roots)
		if err != nil {
			return p, protocol.Refuse(protocol.KindConfig, "%s: default_permissions: %v",
				c.root.find("default_permissions").position, err)
		}
		return p, nil
	}
	if byMode < 0 && c.root.find("permissions") != nil {
		return core.Permissions{}, protocol.Refuse(protocol.KindConfig,
			"%s: [permissions] has profiles and default_permissions selects none. Set default_permissions or sandbox_mode",
			c.root.find("permissions").position)
	}
	p := core.Permissions{Sandbox: c.SandboxPolicy(c.SandboxMode).WithRoots(nil, roots, cwd), Roots: roots}
	if byMode < 0 {
		p.Profile = implicitProfile(c.SandboxMode)
	}
	return p, nil
}

// implicitProfile returns the profile of a directory whose trust decides.
func implicitProfile(mode protocol.SandboxMode) *protocol.ActiveProfile {
	if mode == protocol.SandboxReadOnly {
		return &protocol.ActiveProfile{ID: protocol.ProfileReadOnly}
	}
	return &protocol.ActiveProfile{ID: protocol.ProfileWorkspace}
}

// Requested are the permissions that a request names. At most one of Profile and Mode is set.
type Requested struct {
	Profile *string
	Mode    *protocol.SandboxMode
	Roots   *[]string
}

// Permissions returns the permissions that a request of a thread in cwd names, or the default ones. An error is a
// *protocol.Error.
func (c *Config) Permissions(r Requested, cwd string) (core.Permissions, error) {
	roots, err := r.check()
	switch {
	case err != nil:
		return core.Permissions{}, err
	case r.Profile != nil:
		return c.PermissionsOf(*r.Profile, cwd, roots)
	case r.Mode != nil:
		policy := c.SandboxPolicy(*r.Mode).WithRoots(nil, roots, cwd)
		return core.Permissions{Sandbox: policy, Roots: roots}, nil
	}
	return c.defaultPermissions(cwd, roots)
}

// Changed returns the permissions of a thread after a request, or nil if the request names none. An error is a
// *protocol.Error.
func (c *Config) Changed(r Requested, current core.Settings) (*core.Permissions, error) {
	if r == (Requested{}) {
		return nil, nil
	}
	roots, err := r.check()
	switch {
	case err != nil:
		return nil, err
	case r.Profile == nil && r.Mode == nil:
		return &core.Permissions{Sandbox: current.Sandbox.WithRoots(current.Roots, roots, current.Cwd),
			Profile: current.Profile, Roots: roots}, nil
	case r.Roots == nil && current.Roots != nil:
		r.Roots = &current.Roots
	}
	p, err := c.Permissions(r, current.Cwd)
	return &p, err
}

// check returns the workspace roots without `.` and `..`, or nil.
func (r Requested) check() ([]string, error) {
	if r.Profile != nil && r.Mode != nil {
		return nil, protocol.InvalidParams("permissions", "`permissions` cannot be combined with `sandbox`")
	}
	if r.Roots == nil {
		return nil, nil
	}
	clean := []string{}
	for _, root := range *r.Roots {
		if !filepath.IsAbs(root) {
			return nil, protocol.InvalidParams("runtimeWorkspaceRoots",
				"`runtimeWorkspaceRoots`: %q is not an absolute path", root)
		}
		clean = append(clean, filepath.Clean(root))
	}
	return clean, nil
}

// Selected returns the settings of a thread with the permissions and approvals that overrides in c name, also if they
// name the defaults. An error is a *protocol.Error.
func (c *Config) Selected(overrides map[string]json.RawMessage, s core.Settings) (core.Settings, error) {
	over, err := threadLayer(overrides)
	if err != nil {
		return s, rejectOverride(err)
	}
	_, writes := s.Sandbox.SandboxPolicyVariant.(*protocol.WorkspaceWrite)
	switch {
	case over.sets("default_permissions", "permissions", "sandbox_mode"):
		p, err := c.Permissions(Requested{}, s.Cwd)
		if err != nil {
			return s, err
		}
		s = s.WithPermissions(p)
	case writes && over.sets("sandbox_workspace_write"):
		policy := c.SandboxPolicy(protocol.SandboxWorkspaceWrite).WithRoots(nil, s.Roots, s.Cwd)
		s = s.WithPermissions(core.Permissions{Sandbox: policy, Profile: s.Profile, Roots: s.Roots})
	}
	if over.sets("approval_policy") {
		s.ApprovalPolicy = c.ApprovalPolicy
	}
	if over.sets("approvals_reviewer") {
		s.Reviewer = c.ApprovalsReviewer
	}
	return s, nil
}

// sets reports whether the layer has one of the keys.
func (l *layer) sets(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return l.root.find(key) != nil })
}

// SandboxPolicy returns the policy of a mode, with the settings of workspace-write.
func (c *Config) SandboxPolicy(mode protocol.SandboxMode) protocol.SandboxPolicy {
	policy := mode.Policy()
	if w, ok := policy.SandboxPolicyVariant.(*protocol.WorkspaceWrite); ok {
		set := c.SandboxWorkspaceWrite
		w.WritableRoots = append(w.WritableRoots, set.WritableRoots...)
		w.NetworkAccess = set.NetworkAccess
		w.ExcludeTmpdirEnvVar = set.ExcludeTmpdirEnvVar
		w.ExcludeSlashTmp = set.ExcludeSlashTmp
	}
	return policy
}
