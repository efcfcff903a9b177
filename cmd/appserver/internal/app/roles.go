package app

import (
	"maps"
	"slices"

	"appserver/core"
	"appserver/core/effects/agentrole"
	"appserver/core/effects/config"
)

// rolesOf returns the roles of agents of threads with a configuration, and warnings about those that are left out.
func (s *setup) rolesOf(c *config.Config) (roles []core.AgentRole, warnings []string) {
	root, folders := c.TrustedFolders()
	return agentrole.Find(agentrole.Places{Layers: c.RoleSources(), UserHome: s.skills.userHome, Root: root,
		Folders: folders, Servers: slices.Sorted(maps.Keys(c.McpServers))})
}

// role returns the role of agents with a name.
func (t turns) role(name string) (core.AgentRole, bool) {
	roles, _ := t.setup.rolesOf(t.config)
	return agentrole.Named(roles, name)
}

// agentRules returns the rules with the roles that the model can choose, and warnings about those that are left out.
func (s *setup) agentRules(c *config.Config, rules core.AgentRules) (_ core.AgentRules, warnings []string) {
	if !rules.Offered {
		return rules, nil
	}
	roles, warnings := s.rolesOf(c)
	rules.Roles = agentrole.Text(roles)
	return rules, warnings
}
