package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/protocol"
)

// Rules limit the access of a command. The server passes them as JSON to the process that applies
// them.
type Rules struct {
	// Writable are absolute paths of folders with write access, including their content, except
	// protected names.
	Writable []string `json:"writable"`
	// Kept are the writable folders in which protected folders cannot be created.
	Kept []string `json:"kept"`
	// Home is the server's own folder. It is never writable. It is readable only if the workspace or a
	// writable root is in it.
	Home string `json:"home"`
	// Hidden is set if Home is not readable, except SharedFolder in it.
	Hidden bool `json:"hidden"`
	// Network is set if the command shares the server's network.
	Network bool `json:"network"`
	// Directory is the command's working directory; empty is the server's.
	Directory string `json:"directory"`
	// User and Group are the ids that the server runs as.
	User  int `json:"user"`
	Group int `json:"group"`
	// Bare is set for a command that writes nothing, if the kernel makes no namespaces: Landlock and seccomp alone
	// confine it.
	Bare bool `json:"bare"`
}

// SharedFolder is the name of the folder in the server's home that commands can read. It has results of tools.
const SharedFolder = "tool-files"

// ToRead returns the rules of a command that only reads, and that these rules would allow more.
func (r Rules) ToRead() Rules {
	r.Writable, r.Kept, r.Network = []string{}, []string{}, false
	return r
}

// Place describes where a command runs.
type Place struct {
	// Workspace is the thread's working directory, Directory the command's.
	Workspace, Directory string
	// Home is the server's folder, or empty.
	Home string
	// Env is the command's environment, for TMPDIR.
	Env []string
}

// For returns the rules of a policy, or false if it confines nothing.
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

// ReadOnly returns the rules of a command without write access and network.
func ReadOnly() Rules {
	return Rules{Writable: []string{}, Directory: "/", User: os.Geteuid(), Group: os.Getegid()}
}

// writable returns the writable roots without the server's home itself.
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

// resolved returns a path without symbolic links, or the path itself if that fails.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); path != "" && err == nil {
		return real
	}
	return path
}

// variable returns the value of the last entry with a name.
func variable(env []string, name string) (value string) {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// within reports whether a clean path is a folder or below it.
func within(dir, path string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}
