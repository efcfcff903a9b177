package agentrole

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"appserver/core"
	"appserver/core/effects/skill"
	"appserver/protocol"
)

// claudeHead is the front matter of a subagent of Claude Code.
type claudeHead struct {
	Name        string    `yaml:"name"`
	Description string    `yaml:"description"`
	Model       string    `yaml:"model"`
	Effort      string    `yaml:"effort"`
	Tools       toolNames `yaml:"tools"`
	Mode        string    `yaml:"permissionMode"`
	// Disallowed and Hooks restrict, and agents do not obey them.
	Disallowed yaml.Node `yaml:"disallowedTools"`
	Hooks      yaml.Node `yaml:"hooks"`
}

// toolNames are names in a list, or in one text with commas. They are nil if they are not set.
type toolNames []string

// UnmarshalYAML decodes both forms.
func (t *toolNames) UnmarshalYAML(n *yaml.Node) error {
	names := []string{}
	if n.Kind == yaml.ScalarNode {
		for name := range strings.SplitSeq(n.Value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	} else if err := n.Decode(&names); err != nil {
		return err
	}
	*t = names
	return nil
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
	case !head.Disallowed.IsZero():
		return r, errors.New("agents do not obey disallowedTools: name the permitted tools in tools")
	case !head.Hooks.IsZero():
		return r, errors.New("agents do not run hooks of a role: remove them")
	}
	r.Instructions, r.Model, r.Effort = strings.TrimSpace(body), head.Model, head.Effort
	if slices.Contains(inherited, strings.TrimSpace(head.Model)) {
		r.Model = ""
	}
	if head.Mode == "plan" {
		r.Sandbox = protocol.SandboxReadOnly
	}
	return r, f.complete(&r, head.Name, head.Description, nil, head.Tools)
}
