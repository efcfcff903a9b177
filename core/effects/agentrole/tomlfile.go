package agentrole

import (
	"errors"
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

// errNoName is the reason for a file without a name. Such a file can be the config_file of a table.
var errNoName = errors.New("it has no name")

// layer adds the roles of a layer of the configuration: its tables, and the files in its folder agents.
func (f *finder) layer(l config.RoleSource) {
	declared := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(l.Declared)) {
		r, file, err := f.table(l, name)
		if file != "" {
			declared[file] = true
		}
		if err != nil {
			f.warn(l.Name, "the agent role agents.%s is left out: %v", excerpt.Head(name, maxName), err)
			continue
		}
		f.add(l.Name, r)
	}
	if l.Folder == "" {
		return
	}
	names := map[string]string{}
	for _, path := range f.filesIn(filepath.Join(l.Folder, "agents"), ".toml", l.Within) {
		r, err := f.file(path, l.Within, "")
		switch {
		case errors.Is(err, errNoName) && declared[path]:
		case err != nil:
			f.warn(path, "the agent role is left out: %v", err)
		case names[r.Name] != "":
			f.warn(path, "the agent role %q is left out: %s has it already", r.Name, names[r.Name])
		default:
			names[r.Name] = path
			f.add(path, r)
		}
	}
}

// table returns the role of a table of [agents], and the file that it names, or "".
func (f *finder) table(l config.RoleSource, name string) (r role, file string, err error) {
	v := values{table: l.Declared[name]}
	r.Source, r.OfProject = l.Name, l.Within != ""
	file = v.text("config_file")
	description, nicknames := v.text("description"), v.texts("nickname_candidates")
	if err := v.end(); err != nil {
		return r, "", err
	}
	if file != "" {
		if file = f.resolve(l, file); file == "" {
			return r, "", errors.New("config_file is a path relative to the folder of the configuration file")
		}
		if r, err = f.file(file, l.Within, name); err != nil {
			return r, file, fmt.Errorf("%s: %w", file, err)
		}
	} else if r.Name, err = checkName(name); err != nil {
		return r, file, err
	}
	if r.Description == "" {
		if r.Description, err = checkDescription(description); err != nil {
			return r, file, err
		}
	}
	if r.Nicknames == nil {
		r.Nicknames, err = checkNicknames(nicknames)
	}
	return r, file, err
}

// resolve returns the absolute path of a file that a layer names, or "".
func (f *finder) resolve(l config.RoleSource, file string) string {
	rest, ofHome := strings.CutPrefix(file, "~/")
	switch {
	case ofHome && f.places.UserHome != "":
		return filepath.Join(f.places.UserHome, rest)
	case filepath.IsAbs(file):
		return filepath.Clean(file)
	case l.Folder != "":
		return filepath.Join(l.Folder, file)
	}
	return ""
}

// restricting are keys of role files that restrict and that agents do not obey.
var restricting = []string{"approval_policy", "default_permissions", "permissions", "sandbox_workspace_write",
	"shell_environment_policy", "forced_login_method", "rules"}

// file reads a role from a file of the form of the reference implementation. hint is its name if the file has none.
func (f *finder) file(path, within, hint string) (role, error) {
	r := role{AgentRole: core.AgentRole{Source: path, OfProject: within != ""}, hasFile: true}
	content, err := text(path, within)
	if err != nil {
		return r, err
	}
	table, err := config.ParseTOML([]byte(content))
	if err != nil {
		return r, fmt.Errorf("it is not TOML: %w", err)
	}
	v := values{table: table}
	name, description, nicknames := v.text("name"), v.text("description"), v.texts("nickname_candidates")
	r.Instructions = strings.TrimSpace(v.text("developer_instructions"))
	r.Model, r.Effort = v.text("model"), v.text("model_reasoning_effort")
	r.Sandbox = protocol.SandboxMode(v.text("sandbox_mode"))
	tools := v.texts("tools")
	if v.err != nil {
		return r, v.err
	}
	if err := v.checkRest(f, path); err != nil {
		return r, err
	}
	if strings.TrimSpace(name) == "" {
		name = hint
	}
	if strings.TrimSpace(name) == "" {
		return r, errNoName
	}
	return r, f.complete(&r, name, description, nicknames, tools)
}

// complete checks the texts of a role, and sets its tools.
func (f *finder) complete(r *role, name, description string, nicknames, tools []string) (err error) {
	if r.Name, err = checkName(name); err != nil {
		return err
	}
	if r.Description, err = checkDescription(description); err != nil {
		return err
	}
	if r.Nicknames, err = checkNicknames(nicknames); err != nil {
		return err
	}
	if r.Model, err = checkWord("model", r.Model); err != nil {
		return err
	}
	if r.Effort, err = checkWord("reasoning effort", r.Effort); err != nil {
		return err
	}
	modes := []protocol.SandboxMode{"", protocol.SandboxReadOnly, protocol.SandboxWorkspaceWrite,
		protocol.SandboxDangerFullAccess}
	if !slices.Contains(modes, r.Sandbox) {
		return fmt.Errorf("sandbox_mode is %q, expected one of %s, %s and %s", r.Sandbox, modes[1], modes[2], modes[3])
	}
	if r.Instructions == "" {
		return errors.New("it has no instructions")
	}
	return f.setTools(r, tools)
}
