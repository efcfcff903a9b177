package toolspec

import (
	"path/filepath"
	"slices"
	"strings"

	"appserver/protocol"
)

// Roots returns the working directory and the writable roots of the sandbox policy.
func (r Rules) Roots() []string {
	roots := []string{r.Cwd}
	if policy, ok := r.Sandbox.SandboxPolicyVariant.(*protocol.WorkspaceWrite); ok {
		roots = append(roots, policy.WritableRoots...)
	}
	return roots
}

// Root returns the first of the roots that a path is below, or "".
func (r Rules) Root(name string) string {
	for _, root := range r.Roots() {
		if isBelow(root, name) {
			return root
		}
	}
	return ""
}

// mayWrite reports whether the sandbox policy permits to write the files.
func (r Rules) mayWrite(files []string) bool {
	if _, ok := r.Sandbox.SandboxPolicyVariant.(*protocol.WorkspaceWrite); !ok {
		return Unconfined(r.Sandbox)
	}
	return !slices.ContainsFunc(files, func(file string) bool {
		return r.Root(file) == "" || Protected(r.Roots(), file)
	})
}

// Protected reports whether a path is in a protected folder of the roots. The nearest root above the
// path counts, since a root can be within a protected folder of another root.
func Protected(roots []string, name string) bool {
	nearest := ""
	for _, root := range roots {
		if isBelow(root, name) && len(root) > len(nearest) {
			nearest = root
		}
	}
	if nearest == "" {
		return false
	}
	rel, _ := filepath.Rel(nearest, name)
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return slices.ContainsFunc(protocol.ProtectedFolders, func(folder string) bool {
		return strings.EqualFold(folder, first)
	})
}

func isBelow(root, name string) bool {
	rel, err := filepath.Rel(root, name)
	return err == nil && filepath.IsLocal(rel)
}
