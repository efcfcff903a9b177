package config

import (
	"fmt"
	"path/filepath"

	"appserver/core"
	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// guardsOf reads the rules for commands beside the file of a layer, and warns about rules and hooks that do not protect
// in this server. The user's layer has the folder home. Files of a project are in its folder root.
func guardsOf(l *layer, home, root string, hooks bool) (rules core.CommandRules, warnings []string) {
	folder := l.folder()
	if l.name.Type == protocol.LayerUser {
		folder = home
	}
	if hooks {
		warnings = hookWarnings(l, folder)
	}
	if folder == "" {
		return nil, warnings
	}
	var within []string
	if l.name.Type == protocol.LayerProject {
		within = []string{root}
	}
	rules, ruleWarnings := workspace.CommandRules(filepath.Join(folder, "rules"), within...)
	if l.disabled != "" && len(ruleWarnings) > 0 {
		return nil, append(warnings, fmt.Sprintf("%s: the rules for commands do not protect here. %s",
			filepath.Join(folder, "rules"), l.disabled))
	}
	return rules, append(warnings, ruleWarnings...)
}

// hooksOn returns false if the configuration turns hooks off.
func hooksOn(root *node) bool {
	for _, key := range []string{"hooks", "codex_hooks"} {
		if n := root.find("features", key); n != nil && n.value == false {
			return false
		}
	}
	return true
}

// hookWarnings returns warnings with the places of hooks in a layer and its folder.
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
