package permission

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"appserver/protocol"
)

const (
	workspaceRoots = ":workspace_roots"
	accessRead     = "read"
	accessWrite    = "write"
)

// rules are the rules of a profile and of those that it extends. The later ones win.
type rules struct {
	// files are accesses by path or special place. A path below the workspace begins with workspaceRoots+"/".
	files   map[string]string
	roots   map[string]bool
	network map[string]any
	Places
}

// builtinRules returns the rules of the profiles that others can extend.
func builtinRules(id string) map[string]string {
	switch id {
	case protocol.ProfileReadOnly:
		return map[string]string{":root": accessRead}
	case protocol.ProfileWorkspace:
		return map[string]string{":root": accessRead, workspaceRoots: accessWrite, ":slash_tmp": accessWrite,
			":tmpdir": accessWrite}
	}
	return nil
}

// Places are the directories that rules refer to.
type Places struct {
	// Cwd is the workspace. Home is the home directory of the user, and TmpDir is $TMPDIR; both can be empty.
	Cwd, Home, TmpDir string
	// Real returns a path without symbolic links, or the path itself if it does not exist.
	Real func(path string) string
}

// Compile returns the policy of one of the profiles, and the profile that it extends, or nil.
func (p Profiles) Compile(id string, at Places) (policy protocol.SandboxPolicy, extends *string, err error) {
	r := &rules{files: map[string]string{}, roots: map[string]bool{}, network: map[string]any{}, Places: at}
	if err := p.collect(r, id, nil); err != nil {
		return policy, nil, err
	}
	if parent, ok := p[id]["extends"].(string); ok {
		extends = &parent
	}
	policy, err = r.policy()
	return policy, extends, err
}

// collect adds the rules of a profile to those of the profile that it extends. Seen are the profiles that extend it.
func (p Profiles) collect(r *rules, id string, seen []string) error {
	if files := builtinRules(id); files != nil {
		maps.Copy(r.files, files)
		return nil
	}
	profile := p[id]
	switch {
	case profile == nil:
		return fmt.Errorf("it extends the profile %q, which is unknown or cannot be extended", id)
	case slices.Contains(seen, id):
		return fmt.Errorf("it extends itself, by %s", strings.Join(append(seen, id), ", "))
	}
	if value := profile["extends"]; value != nil {
		parent, ok := value.(string)
		if !ok {
			return fmt.Errorf("extends: expected the name of a profile, got %v", value)
		}
		if err := p.collect(r, parent, append(seen, id)); err != nil {
			return err
		}
	}
	for _, key := range sortedKeys(profile) {
		if err := r.add(key, profile[key]); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// add adds a member of a profile.
func (r *rules) add(key string, value any) error {
	switch key {
	case "description", "extends":
		return nil
	case "filesystem":
		return r.addFiles(value)
	case "workspace_roots":
		return r.addRoots(value)
	case "network":
		table, ok := value.(map[string]any)
		if !ok {
			return fmt.Errorf("network: expected a table, got %v", value)
		}
		maps.Copy(r.network, table)
		return nil
	}
	return fmt.Errorf("the rule %s is not supported", key)
}

func (r *rules) addRoots(value any) error {
	table, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("workspace_roots: expected a table, got %v", value)
	}
	for _, path := range sortedKeys(table) {
		on, ok := table[path].(bool)
		root, err := r.absolute(path)
		if err != nil || !ok {
			return fmt.Errorf("workspace_roots: %q: expected an absolute path with true or false", path)
		}
		r.roots[root] = on
	}
	return nil
}

func (r *rules) addFiles(value any) error {
	table, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("filesystem: expected a table, got %v", value)
	}
	for _, path := range sortedKeys(table) {
		name := path
		switch path {
		case "glob_scan_max_depth": // it is about patterns, which are refused
			continue
		case ":project_roots":
			name = workspaceRoots
		}
		scope, ok := table[path].(map[string]any)
		if !ok {
			scope = map[string]any{".": table[path]}
		}
		if err := r.addScope(name, scope); err != nil {
			return err
		}
	}
	return nil
}

// addScope adds accesses to a path and to paths below it.
func (r *rules) addScope(path string, scope map[string]any) error {
	for _, below := range sortedKeys(scope) {
		whole := path
		if below != "." {
			whole = path + "/" + below
		}
		access, _ := scope[below].(string)
		if access != accessRead && access != accessWrite {
			return unenforced(whole, fmt.Sprint(scope[below]), "reading cannot be denied")
		}
		if !strings.HasPrefix(whole, ":") {
			absolute, err := r.absolute(whole)
			if err != nil {
				return unenforced(whole, access, err.Error())
			}
			whole = absolute
		}
		r.files[whole] = access
	}
	return nil
}

func unenforced(path, access, reason string) error {
	return fmt.Errorf("the rule filesystem.%q = %q cannot be enforced: %s", path, access, reason)
}

// absolute returns the path of a rule. A last part ** means the same as without it.
func (r *rules) absolute(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && r.Home != "" {
		path = filepath.Join(r.Home, rest)
	}
	path = strings.TrimSuffix(path, "/**")
	switch {
	case strings.ContainsAny(path, "*?[{"):
		return "", fmt.Errorf("patterns are not supported")
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("the path is not absolute, and does not begin with ~/")
	}
	return filepath.Clean(path), nil
}

// policy returns the policy that the rules amount to.
func (r *rules) policy() (protocol.SandboxPolicy, error) {
	network, err := r.networkAccess()
	if err != nil {
		return protocol.SandboxPolicy{}, err
	}
	if r.files[":root"] == "" {
		return protocol.SandboxPolicy{},
			fmt.Errorf(`commands could read more than its rules allow; only profiles with filesystem.":root" = "read" are supported`)
	}
	w := &protocol.WorkspaceWrite{WritableRoots: []string{}, NetworkAccess: network,
		ExcludeTmpdirEnvVar: r.files[":tmpdir"] != accessWrite, ExcludeSlashTmp: r.files[":slash_tmp"] != accessWrite}
	for _, path := range sortedKeys(r.files) {
		if err := r.apply(w, path); err != nil {
			return protocol.SandboxPolicy{}, err
		}
	}
	for _, root := range sortedKeys(r.roots) {
		if r.roots[root] {
			w.WritableRoots = append(w.WritableRoots, root)
		}
	}
	return r.finish(w)
}

// finish returns the policy of what can be written.
func (r *rules) finish(w *protocol.WorkspaceWrite) (protocol.SandboxPolicy, error) {
	switch {
	case r.files[workspaceRoots] == accessWrite:
		return protocol.SandboxPolicy{SandboxPolicyVariant: w}, nil
	case len(w.WritableRoots) > len(r.roots), !w.ExcludeTmpdirEnvVar, !w.ExcludeSlashTmp:
		return protocol.SandboxPolicy{}, fmt.Errorf(
			`it lets commands write, but not in the workspace; only profiles with filesystem.workspaceRoots = "write" can do that`)
	}
	return protocol.SandboxPolicy{SandboxPolicyVariant: &protocol.ReadOnly{NetworkAccess: w.NetworkAccess}}, nil
}

// apply adds a rule to a policy.
func (r *rules) apply(w *protocol.WorkspaceWrite, path string) error {
	access := r.files[path]
	below, inWorkspace := strings.CutPrefix(path, workspaceRoots+"/")
	switch {
	case path == ":root" && access == accessWrite:
		w.WritableRoots = append(w.WritableRoots, "/")
	case path == ":root", path == ":tmpdir", path == ":slash_tmp", path == workspaceRoots, path == ":minimal":
	case inWorkspace && access == accessRead && slices.Contains([]string{".git", ".agents", ".codex"}, below):
	case strings.HasPrefix(path, ":"):
		return unenforced(path, access, "it is not supported")
	case access == accessWrite:
		w.WritableRoots = append(w.WritableRoots, path)
	case r.writable(path):
		return unenforced(path, access, "it is in a directory that can be written")
	}
	return nil
}

// writable reports whether another rule lets commands write in a directory that has the path.
func (r *rules) writable(path string) bool {
	roots := map[string]bool{"/": r.files[":root"] == accessWrite, r.Cwd: r.files[workspaceRoots] == accessWrite,
		"/tmp": r.files[":slash_tmp"] == accessWrite}
	if r.TmpDir != "" && r.files[":tmpdir"] == accessWrite {
		roots[r.TmpDir] = true
	}
	for root, on := range r.roots {
		roots[root] = on
	}
	for other, access := range r.files {
		roots[other] = roots[other] || filepath.IsAbs(other) && access == accessWrite
	}
	for root, on := range roots {
		if on && (isBelow(path, root) || isBelow(r.Real(path), r.Real(root))) {
			return true
		}
	}
	return false
}

// isBelow reports whether path is root or below it.
func isBelow(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// networkAccess returns whether commands have a network. Unix sockets are always denied.
func (r *rules) networkAccess() (bool, error) {
	enabled := false
	if n := r.network["enabled"]; n != nil {
		var ok bool
		if enabled, ok = n.(bool); !ok {
			return false, fmt.Errorf("network.enabled: expected true or false, got %v", n)
		}
	}
	for _, key := range sortedKeys(r.network) {
		full := key == "mode" && r.network[key] == "full"
		if enabled && !full && key != "enabled" && key != "unix_sockets" && key != "dangerously_allow_all_unix_sockets" {
			return false, fmt.Errorf("the rule network.%s cannot be enforced: the network is on or off as a whole", key)
		}
	}
	return enabled, nil
}
