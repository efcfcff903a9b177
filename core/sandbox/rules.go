package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/protocol"
)

// Rules are what a command may touch. They travel as JSON from the server to the
// process that applies them.
type Rules struct {
	// Writable are absolute paths of folders that may be written in, with all that
	// is below them but for what is protected.
	Writable []string `json:"writable"`
	// Kept are the writable folders whose protected folders are kept from being made.
	Kept []string `json:"kept"`
	// Home is the server's own folder. It is never writable, and cannot be read
	// either unless the workspace or a writable root is in it.
	Home string `json:"home"`
	// Hidden is set where Home cannot be read.
	Hidden bool `json:"hidden"`
	// Network is set where the command shares the server's network.
	Network bool `json:"network"`
	// Directory is what the command runs in; "" is that of the server.
	Directory string `json:"directory"`
	// User and Group are the ids that the server runs as.
	User  int `json:"user"`
	Group int `json:"group"`
}

// Place is where a command runs.
type Place struct {
	// Workspace is the thread's working directory, Directory the command's own.
	Workspace, Directory string
	// Home is the server's folder, "" for none.
	Home string
	// Env is the command's environment, for TMPDIR.
	Env []string
}

// For gives the rules of a policy; false where it confines nothing.
func For(policy protocol.SandboxPolicy, at Place) (Rules, bool) {
	r := ReadOnly()
	r.Home, r.Directory = at.Home, at.Directory
	switch p := policy.SandboxPolicyVariant.(type) {
	case *protocol.DangerFullAccess, *protocol.ExternalSandbox:
		return r, false
	case *protocol.WorkspaceWrite:
		r.Network = p.NetworkAccess
		r.Writable = writable(p, at)
		r.Kept = kept(r.Writable, append([]string{at.Workspace}, p.WritableRoots...))
	case *protocol.ReadOnly:
		r.Network = p.NetworkAccess
	}
	home := resolved(at.Home)
	inHome := func(path string) bool { return within(home, resolved(path)) }
	r.Hidden = at.Home != "" && !inHome(at.Workspace) && !slices.ContainsFunc(r.Writable, inHome)
	return r, true
}

// ReadOnly are the rules of a command that may write nothing and has no network.
func ReadOnly() Rules {
	return Rules{Writable: []string{}, Directory: "/", User: os.Geteuid(), Group: os.Getegid()}
}

// writable are the roots, but for the server's home itself.
func writable(p *protocol.WorkspaceWrite, at Place) []string {
	roots := append([]string{at.Workspace}, p.WritableRoots...)
	if !p.ExcludeSlashTmp {
		roots = append(roots, "/tmp")
	}
	if !p.ExcludeTmpdirEnvVar {
		roots = append(roots, variable(at.Env, "TMPDIR"))
	}
	for i, root := range roots {
		roots[i] = filepath.Clean(root)
	}
	roots = slices.DeleteFunc(roots, func(root string) bool { return !filepath.IsAbs(root) || root == at.Home })
	slices.Sort(roots)
	return slices.Compact(roots)
}

// kept returns the roots that the policy names itself. Folders for temporary files are shared with
// other programs, so nothing is made there.
func kept(writable, named []string) []string {
	kept := []string{}
	for _, root := range named {
		if root = filepath.Clean(root); slices.Contains(writable, root) && !slices.Contains(kept, root) {
			kept = append(kept, root)
		}
	}
	return kept
}

// resolved is a path without symbolic links, or itself where it leads nowhere.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); path != "" && err == nil {
		return real
	}
	return path
}

// variable is the value of the last entry with a name.
func variable(env []string, name string) (value string) {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// within tells whether a clean path is a folder or below it.
func within(dir, path string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}
