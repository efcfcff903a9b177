package agentrole

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/effects/skill"
	"appserver/protocol"
)

// claudeHead is the front matter of a subagent of Claude Code.
type claudeHead struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Model       string `yaml:"model"`
	Effort      string `yaml:"effort"`
	Tools       any    `yaml:"tools"`
	Mode        string `yaml:"permissionMode"`
	// Disallowed and Hooks restrict, and agents do not obey them.
	Disallowed any `yaml:"disallowedTools"`
	Hooks      any `yaml:"hooks"`
}

// toolNames returns the names of tools in a list, or in one text with commas. They are nil if they are not set.
func (h *claudeHead) toolNames() ([]string, error) {
	text, isText := h.Tools.(string)
	if !isText {
		v := values{table: map[string]any{"tools": h.Tools}}
		if h.Tools == nil {
			v.table = nil
		}
		return v.texts("tools"), v.err
	}
	names := []string{}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// claude adds the roles of the folder .claude/agents of a directory.
func (f *finder) claude(dir, within string) {
	for _, path := range f.filesIn(filepath.Join(dir, ".claude", "agents"), ".md", within) {
		r, err := f.claudeFile(path, within)
		if err != nil {
			f.warn(path, "the agent role is left out: %v", err)
			continue
		}
		f.add(path, r)
	}
}

// inherited are names of models in these files that mean that of the caller: other providers do not know them.
var inherited = []string{"inherit", "default", "sonnet", "opus", "haiku"}

func (f *finder) claudeFile(path, within string) (role, error) {
	r := role{AgentRole: core.AgentRole{Source: path, OfProject: within != ""}, hasFile: true}
	content, err := text(path, within)
	if err != nil {
		return r, err
	}
	head, body, err := skill.FrontMatter[claudeHead](content)
	switch {
	case err != nil:
		return r, err
	case head.Disallowed != nil:
		return r, errors.New("agents do not obey disallowedTools: name the permitted tools in tools")
	case head.Hooks != nil:
		return r, errors.New("agents do not run hooks of a role: remove them")
	}
	r.Instructions, r.Model, r.Effort = strings.TrimSpace(body), head.Model, head.Effort
	if slices.Contains(inherited, strings.TrimSpace(head.Model)) {
		r.Model = ""
	}
	if head.Mode == "plan" {
		r.Sandbox = protocol.SandboxReadOnly
	}
	tools, err := head.toolNames()
	if err != nil {
		return r, err
	}
	return r, f.complete(&r, head.Name, head.Description, nil, tools)
}
