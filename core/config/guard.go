package config

import (
	"fmt"
	"path/filepath"

	"appserver/core/workspace"
	"appserver/protocol"
)

// readGuards reads the rules for commands that are beside the files of the layers, and warns about rules and hooks
// that do not protect in this server.
func (c *Config) readGuards() {
	for _, l := range c.layers {
		warnings := c.guardsOf(l)
		if l.name.Type == protocol.LayerProject {
			c.ProjectWarnings = append(c.ProjectWarnings, warnings...)
		} else {
			c.Warnings = append(c.Warnings, warnings...)
		}
	}
}

func (c *Config) guardsOf(l *layer) (warnings []string) {
	folder := l.folder()
	if l.name.Type == protocol.LayerUser {
		folder = c.home
	}
	if c.hooksOn() {
		warnings = hookWarnings(l, folder)
	}
	if folder == "" {
		return warnings
	}
	rules, ruleWarnings := workspace.CommandRules(filepath.Join(folder, "rules"))
	if l.disabled != "" && len(ruleWarnings) > 0 {
		return append(warnings, fmt.Sprintf("%s: the rules for commands do not protect here. %s",
			filepath.Join(folder, "rules"), l.disabled))
	}
	c.CommandRules = append(c.CommandRules, rules...)
	return append(warnings, ruleWarnings...)
}

// hooksOn returns false if the configuration turns hooks off.
func (c *Config) hooksOn() bool {
	for _, key := range []string{"hooks", "codex_hooks"} {
		if n := c.root.find("features", key); n != nil && n.value == false {
			return false
		}
	}
	return true
}

// hookWarnings names the places of hooks in a layer and its folder.
func hookWarnings(l *layer, folder string) (warnings []string) {
	const text = "%s: this server does not run hooks, so they do not protect here. Remove them, or use another program " +
		"for work that depends on them."
	if n := l.root.find("hooks"); n != nil && len(n.table) > 0 {
		warnings = append(warnings, fmt.Sprintf(text, n.position.String()+": hooks"))
	}
	if folder == "" {
		return warnings
	}
	for _, file := range workspace.HookFiles(folder) {
		warnings = append(warnings, fmt.Sprintf(text, file))
	}
	return warnings
}
