package agentrole

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// maxRoles bounds the roles for a model.
const maxRoles = 64

// Places are where roles are looked for.
type Places struct {
	// Layers are those of the configuration, the weakest first.
	Layers []config.RoleSource
	// UserHome is the home directory of the user, or "".
	UserHome string
	// Root is the root of the project, and Folders are its trusted folders, from the root down.
	Root    string
	Folders []string
	// Servers are the names of the MCP servers.
	Servers []string
}

// role is a role, and whether a file has its settings.
type role struct {
	core.AgentRole
	hasFile bool
}

// finder collects roles and warnings.
type finder struct {
	places   Places
	roles    map[string]role
	warnings []string
}

// Find returns the roles, sorted by name, and a warning for each file and setting that is left out.
func Find(p Places) (roles []core.AgentRole, warnings []string) {
	f := &finder{places: p, roles: map[string]role{}}
	for _, r := range builtIn {
		f.roles[r.Name] = role{AgentRole: r}
	}
	f.collect()
	names := slices.Sorted(maps.Keys(f.roles))
	for _, name := range names {
		if len(roles) == maxRoles {
			f.warn(name, "more than %d roles of agents: those after %q are left out", maxRoles, roles[maxRoles-1].Name)
			break
		}
		roles = append(roles, f.roles[name].AgentRole)
	}
	return roles, f.warnings
}

// builtIn are the roles of the reference implementation.
var builtIn = []core.AgentRole{
	{Name: "default", Description: "An agent for any task."},
	{Name: "explorer", Description: "Answers a question about the code. Give it one clear question."},
	{Name: "worker", Description: "Does a part of the work, such as a feature or a fix. Name the files that it may change."},
}

// Named returns the role with a name.
func Named(roles []core.AgentRole, name string) (core.AgentRole, bool) {
	i := slices.IndexFunc(roles, func(r core.AgentRole) bool { return r.Name == name })
	if i < 0 {
		return core.AgentRole{}, false
	}
	return roles[i], true
}

// Text returns the roles for the model: a line NAME: DESCRIPTION for each.
func Text(roles []core.AgentRole) string {
	var lines []string
	for _, r := range roles {
		lines = append(lines, r.Name+": "+r.Description)
	}
	return strings.Join(lines, "\n")
}

// collect reads all places, the weakest first.
func (f *finder) collect() {
	f.layers(protocol.LayerSystem, "")
	if f.places.UserHome != "" {
		f.claude(f.places.UserHome, "")
	}
	f.layers(protocol.LayerUser, "")
	for _, dir := range f.places.Folders {
		if dir != f.places.UserHome {
			f.claude(dir, f.places.Root)
		}
		f.layers(protocol.LayerProject, filepath.Join(dir, ".codex"))
	}
	f.layers(protocol.LayerSessionFlags, "")
}

// layers reads the layers of a type, or those with a folder.
func (f *finder) layers(kind, folder string) {
	for _, l := range f.places.Layers {
		if l.Type == kind && (folder == "" || l.Folder == folder) {
			f.layer(l)
		}
	}
}

// warn adds a warning about a file.
func (f *finder) warn(file, format string, args ...any) {
	f.warnings = append(f.warnings, excerpt.Line(file)+": "+excerpt.Line(fmt.Sprintf(format, args...)))
}

// add adds a role, unless it is not usable. from is its file or the name of its layer.
func (f *finder) add(from string, r role) {
	if below, replaces := f.roles[r.Name]; replaces {
		r = r.over(below)
	}
	if r.Description == "" {
		f.warn(from, "the agent role %q is left out: it has no description", excerpt.Head(r.Name, maxName))
		return
	}
	f.roles[r.Name] = r
}

// over returns the role with what it does not set from the one that it replaces.
func (r role) over(below role) role {
	out := r
	if !r.hasFile {
		out = below
		out.Name = r.Name
	}
	if out.Description = r.Description; r.Description == "" {
		out.Description = below.Description
	}
	if out.Nicknames = r.Nicknames; r.Nicknames == nil {
		out.Nicknames = below.Nicknames
	}
	return out
}
