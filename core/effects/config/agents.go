package config

import (
	"appserver/core"
	"appserver/protocol"
)

// Agents bound the agents that models start. The tables of [agents] are roles, which package agentrole reads.
type Agents struct {
	// Enabled is false if models start no agents.
	Enabled bool `key:"enabled"`
	// MaxThreads and MaxPerSession are the largest number of open agents of a thread and of its agents. They are two
	// names of one setting.
	MaxThreads    *int `key:"max_threads" min:"1" max:"1000"`
	MaxPerSession *int `key:"max_concurrent_threads_per_session" min:"1" max:"1000"`
	// MaxDepth is the largest number of ancestors of an agent. With 0, models start no agents.
	MaxDepth int `key:"max_depth" min:"0" max:"16"`
	// MaxRuntimeSecs bounds a turn of an agent, in seconds; nil is no bound.
	MaxRuntimeSecs *int64 `key:"job_max_runtime_seconds" min:"1" max:"31536000"`
	// InterruptMessage is false if the context gets no message about an interrupted turn.
	InterruptMessage bool `key:"interrupt_message"`
	// DefaultModel and DefaultEffort are those of agents for which neither the model nor a role chooses others. Nil are
	// those of the thread that starts the agent.
	DefaultModel  *string `key:"default_subagent_model"`
	DefaultEffort *string `key:"default_subagent_reasoning_effort"`
}

// defaultMaxAgents is the largest number of open agents if none is configured.
const defaultMaxAgents = 6

func defaultAgents() Agents { return Agents{Enabled: true, MaxDepth: 1, InterruptMessage: true} }

// checkAgents rejects two values of one setting.
func (c *Config) checkAgents(d *decoder) {
	a, path := c.Agents, []string{"agents", "max_threads"}
	if a.MaxThreads != nil && a.MaxPerSession != nil && *a.MaxThreads != *a.MaxPerSession {
		d.problem(c.root.find(path...), path,
			"agents.max_concurrent_threads_per_session is the same setting and has another value: keep one of the two")
	}
}

// agentRules returns the rules for agents that models start.
func (c *Config) agentRules() core.AgentRules {
	a := c.Agents
	return core.AgentRules{
		Offered: (c.Features.MultiAgent || bool(c.Features.MultiAgentPaths)) && a.Enabled && a.MaxDepth > 0,
		ByPath:  bool(c.Features.MultiAgentPaths),
		MaxOpen: or(a.MaxPerSession, or(a.MaxThreads, defaultMaxAgents)), MaxDepth: a.MaxDepth,
		Model: or(a.DefaultModel, ""), Effort: or(a.DefaultEffort, ""),
		MaxSeconds: or(a.MaxRuntimeSecs, 0),
	}
}

// isRole reports whether the node at path is a role of agents.
func isRole(n *node, path []string) bool {
	return len(path) == 2 && path[0] == "agents" && n.table != nil
}

// RoleSource is a layer of the configuration that can have roles of agents.
type RoleSource struct {
	// Name appears in warnings: a file, or the command line.
	Name string
	// Type is one of protocol's Layer constants.
	Type string
	// Folder has the files of the layer, or is "".
	Folder string
	// Within is the root of the project that the files come with, or "" if they are the user's.
	Within string
	// Declared are the tables of [agents] by the names of roles. Values may have any type.
	Declared map[string]map[string]any
}

// RoleSources returns the layers that apply, the weakest first.
func (c *Config) RoleSources() (sources []RoleSource) {
	for _, l := range c.layers {
		if l.disabled != "" {
			continue
		}
		s := RoleSource{Name: l.name.File, Type: l.name.Type, Folder: l.folder(), Declared: map[string]map[string]any{}}
		if s.Name == "" {
			s.Name = "the command line or the client"
		}
		if l.name.Type == protocol.LayerProject {
			s.Within = c.projectRoot(c.project.cwd)
		}
		if agents := l.root.find("agents"); agents != nil {
			for name, n := range agents.table {
				if table, isTable := n.plain().(map[string]any); isTable {
					s.Declared[name] = table
				}
			}
		}
		sources = append(sources, s)
	}
	return sources
}

// TrustedFolders returns the folders of the project that are trusted, from its root down to the folder of c.
func (c *Config) TrustedFolders() (root string, folders []string) {
	if c.project.cwd == "" {
		return "", nil
	}
	root = c.projectRoot(c.project.cwd)
	for _, dir := range foldersBetween(root, c.project.cwd) {
		if level, _ := c.trustOf(dir, root); level == Trusted {
			folders = append(folders, dir)
		}
	}
	return root, folders
}
